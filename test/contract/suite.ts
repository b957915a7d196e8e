import { afterAll, beforeAll, describe, test as vitest } from "vitest";
import { backgroundCases } from "./background.js";
import { badInputCases } from "./bad-input.js";
import { type Begin, connect, type OpenDoor, type Test } from "./door.js";
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
}

/** What an agent sees must be the same through every door, and at every place. */
export function contractSuite(name: string, open: OpenDoor, { place = here, groups }: Choice = {}): void {
	describe(name, () => {
		for (const group of WHOLE || !groups ? Object.keys(GROUPS) : groups) {
			const test: Test = (title, run, missing) => {
				const why = place.cannot?.[title] ?? place.cannot?.[group] ?? missing;
				if (why === undefined) vitest(title, run);
				else vitest.skip(`${title}${NOT_HERE}${why}`, run);
			};
			describe(group, () => GROUPS[group]?.(() => connect(open, place), test));
		}
	});
}

/** The whole suite at one place, through the library. */
export function placeSuite(place: ContractPlace, { groups }: Pick<Choice, "groups"> = {}): void {
	describe.skipIf(place.missing)(`at ${place.name}${place.missing ? `${NOT_HERE}${place.missing}` : ""}`, () => {
		beforeAll(async () => {
			usePids(place.pids);
			await place.start?.();
		});
		afterAll(async () => {
			await place.stop?.();
			usePids();
		});
		contractSuite("through the library", place.open, { place, ...(groups ? { groups } : {}) });
	});
}
