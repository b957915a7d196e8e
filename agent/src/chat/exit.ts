import type { TurnEvent } from "../turn/index.js";

/** Exit codes of chats and runs. */
export const EXIT = { answered: 0, failed: 1, usage: 2, approval: 3, steps: 4, interrupted: 130 } as const;

/** Returns the exit code for the end of the last turn. */
export function exitOf(end: Extract<TurnEvent, { type: "end" }> | undefined): number {
	switch (end?.why) {
		case undefined:
		case "answered":
			return EXIT.answered;
		case "approval":
			return EXIT.approval;
		case "steps":
			return EXIT.steps;
		case "interrupted":
			return EXIT.interrupted;
		default:
			return EXIT.failed;
	}
}
