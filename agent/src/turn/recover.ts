/**
 * Settles the calls that a killed program has left open. A call is made again only if it never began; else it has its true result; else the model is told
 * that nobody knows, and to look first.
 */
import type { ModelCall } from "../model/index.js";
import type { Became } from "../tools/index.js";
import type { CallRunner, PlannedCall, RanCalls } from "./calls.js";
import type { Steering } from "./steer.js";

/** `again: false`: calls that never began are not made, since this step was cut short before. */
export async function recover(runner: CallRunner, steering: Steering, calls: readonly ModelCall[], { again }: { readonly again: boolean }): Promise<RanCalls> {
	for (const [index, call] of calls.entries()) {
		if (steering.wish === "leave") return runner.ran();
		const planned = runner.plan(call);
		const became = await becameOf(runner, planned, index === 0);
		if (became.state === "ended") {
			await runner.store(planned, became.outcome, "recovered");
		} else if (became.state === "unknown") {
			await runner.store(planned, { text: unknownText(became.reason), failed: true }, "unknown");
		} else if (again) {
			const pending = await runner.one(planned);
			if (pending !== undefined) return runner.ran(pending);
		} else {
			await runner.store(
				planned,
				{ text: "Not run: the program was cut short at this step more than once, so the user is asked first.", failed: false },
				"skipped",
			);
		}
	}
	return runner.ran();
}

/** Only the first call without a result can have begun: the result of each is on the disk before the next begins. Those that only read may run together. */
async function becameOf(runner: CallRunner, { call, tool, args, problem }: PlannedCall, first: boolean): Promise<Became> {
	if (problem || !tool) return { state: "never" };
	if (tool.became) {
		try {
			return await tool.became(args, runner.context(call));
		} catch (error) {
			return { state: "unknown", reason: error instanceof Error ? error.message : String(error) };
		}
	}
	if (!first || !tool.changes || tool.onlyReads?.(args) === true) return { state: "never" };
	return { state: "unknown", reason: "the program was cut short while it ran" };
}

const unknownText = (reason: string): string => `Not known: whether this was done, and how it ended (${reason}). Look before you repeat it.`;
