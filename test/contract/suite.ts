import { describe } from "vitest";
import { backgroundCases } from "./background.js";
import { badInputCases } from "./bad-input.js";
import { connect, type OpenDoor } from "./door.js";
import { foregroundCases } from "./foreground.js";
import { noticeCases } from "./notices.js";
import { processCases } from "./processes.js";
import { shellCases } from "./shell.js";
import { terminalCases } from "./terminals.js";

/** What an agent sees must be the same through every door. */
export function contractSuite(name: string, open: OpenDoor): void {
	const begin = () => connect(open);
	describe(name, () => {
		describe("foreground commands", () => foregroundCases(begin));
		describe("the shell keeps its state", () => shellCases(begin));
		describe("background processes", () => backgroundCases(begin));
		describe("process actions", () => processCases(begin));
		describe("programs on a terminal", () => terminalCases(begin));
		describe("notices", () => noticeCases(begin));
		describe("bad input", () => badInputCases(begin));
	});
}
