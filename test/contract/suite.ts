import { afterAll, beforeAll, describe, expect, test as vitest } from "vitest";
import { atEnd, forFile } from "../support/home.js";
import { backgroundCases } from "./background.js";
import { badInputCases } from "./bad-input.js";
import { type Begin, type Connected, connect, type OpenDoors, type Test } from "./door.js";
import { foregroundCases } from "./foreground.js";
import { noticeCases } from "./notices.js";
import { usePids } from "./pids.js";
import { type ContractPlace, here } from "./places.js";
import { processCases } from "./processes.js";
import { shellCases } from "./shell.js";
import { terminalCases } from "./terminals.js";

type Cases = (begin: Begin, test: Test) => void;

const GROUPS: Readonly<Record<string, Cases>> = {
	"foreground commands": foregroundCases,
	"the shell keeps its state": shellCases,
	"background processes": backgroundCases,
	"process actions": processCases,
	"programs on a terminal": terminalCases,
	notices: noticeCases,
	"bad input": badInputCases,
};

/** Between the name of a case and why a place has no such case: scripts/matrix.mjs takes them apart. */
const NOT_HERE = " | not here: ";

/** In `npm run soak` and `npm run matrix` every group runs, whatever a file chooses for `npm test`. */
const WHOLE = process.env.SOAK === "1" || process.env.MATRIX === "1";

interface Choice {
	readonly place?: ContractPlace;
	/** The groups that `npm test` runs, where another file of it shows the others through the same code. */
	readonly groups?: readonly string[];
	/** The cases of them, for a place that `npm test` only shows to be connected the right way. */
	readonly cases?: readonly string[];
}

/** A few of each matter that depends on how a place is reached: its shell, what is written and read, kills, a terminal, a file in it. */
export const FEW: Choice = {
	groups: ["the shell keeps its state", "background processes", "process actions", "programs on a terminal"],
	cases: [
		"variables, functions, aliases and options last from call to call",
		"its input is open until it is closed",
		"kill: the whole tree, whatever it ignores, with proof; the second time it had ended",
		"a question, an answer, a password, the end",
	],
};

/**
 * What depends on how a place or a door starts a command, reads it, signals it and ends it. The other cases are about what the tools make of
 * that: they are the same functions everywhere. `npm test` runs them here, and `npm run soak` and `npm run matrix` everywhere.
 */
export const ITS_OWN: Choice = {
	groups: ["foreground commands", "the shell keeps its state", "background processes", "process actions", "programs on a terminal"],
	cases: [
		"a command that prints and exits 0: output, code, directory, and nothing else",
		"a child that keeps the output open does not keep the call",
		"3,000 lines: none is lost",
		"bytes that are no UTF-8 become U+FFFD, and only those",
		"without a terminal it reads end-of-file",
		"at the deadline it goes on in the background, started once, nothing lost",
		"on_timeout kill: 124, the output so far, and no process left, whatever they ignore",
		"a signal that ended it has its name where it is certain",
		"commands that cannot be found or executed: 127 and 126",
		...["variables, functions, aliases and options last from call to call", "cd lasts and is reported; workdir is for one command"],
		"two commands at the same time: both run, and the second says that it had a shell of its own",
		...["its input is open until it is closed", "it leads a session of its own and has no terminal"],
		...["list: the task's own processes, newest first, with all fields", "processes of another task cannot be seen or touched"],
		"log: the last 200 lines, or from a line on, or from a byte",
		"wait: a port, an answer over HTTP, silence",
		"kill: the whole tree, whatever it ignores, with proof; the second time it had ended",
		"signal: by name in any spelling; others are answered with the list",
		"pty in the foreground: a terminal of 30 by 120, a process of its own with the shell's directory and environment",
		"a question, an answer, a password, the end",
		"keys go to the program that was last seen waiting",
		"background on a terminal: poll, wait, keys, screen, resize, close",
	],
};

/** Over the link: what it copies at the same offsets and notices at the right moment, besides. */
export const LINKED: Choice = {
	groups: [...(ITS_OWN.groups ?? []), "notices"],
	cases: [
		...(ITS_OWN.cases ?? []),
		"three times the cap: the first 40 %, the last 60 %, a marker with the right numbers",
		"100 MB of output: the ends are there, and from which byte the rest is",
		"a directory that is gone: the nearest one above it, said once, and later calls work",
		"a command killed at its deadline leaves the directory as it was",
		"output is seen while it runs, each poll shows what is new",
		"a character that is only half there waits for its other half",
		"a poll that tells of the end has all that was printed before it",
		"wait: the exit, with code and the end of the output",
		"wait: a pattern is looked for in what was not shown yet, or from byte_offset on, and an old match says so",
		"idle_threshold: silence suggests it where the kernel cannot tell",
		"a completion comes once, with the next result, also when a poll has seen the end",
		"a line that was watched for",
		"other tasks do not get them",
	],
};

/** What an agent sees must be the same through every door, and at every place. */
export function contractSuite(name: string, open: OpenDoors, { place = here, groups, cases }: Choice = {}): void {
	describe(name, () => {
		let connected: Connected;
		beforeAll(async () => {
			connected = await connect(open, place);
		});
		const left = new Set(WHOLE ? [] : cases);
		for (const group of WHOLE || !groups ? Object.keys(GROUPS) : groups) {
			const test: Test = (title, run, missing) => {
				if (!left.delete(title) && cases && !WHOLE) return;
				const why = place.cannot?.[title] ?? place.cannot?.[group] ?? missing;
				if (why === undefined) vitest(title, run);
				else vitest.skip(`${title}${NOT_HERE}${why}`, run);
			};
			describe(group, () => GROUPS[group]?.(() => connected.begin(), test));
		}
		afterAll(() => expect([...left]).toEqual([])); // a case that was chosen and is not there
	});
}

/** The whole suite at one place, through the library. */
export function placeSuite(place: ContractPlace, choice: Omit<Choice, "place"> = {}): void {
	describe.skipIf(place.missing)(`at ${place.name}${place.missing ? `${NOT_HERE}${place.missing}` : ""}`, () => {
		startPlace(place);
		contractSuite("through the library", place.open, { ...choice, place });
	});
}

/** Starts what all cases of a file share at this place, and stops it after the last of them. */
export function startPlace(place: ContractPlace): void {
	beforeAll(() =>
		forFile(async () => {
			usePids(place.pids);
			atEnd(() => usePids());
			atEnd(() => place.stop?.());
			await place.start?.();
		}),
	);
}
