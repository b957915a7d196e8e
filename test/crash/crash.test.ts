/** Promise 2: `kill -9` of any Holdfast program, at any moment, loses nothing. Here the programs are readers. */
import path from "node:path";
import { test } from "vitest";
import { fixture, startAndDie } from "../fixtures/programs.js";
import { tempDir, testRuntime } from "../support/home.js";
import { copyWithKills } from "../support/readers.js";
import { rounds } from "../support/seed.js";

const PATIENCE = rounds(180_000, 3_600_000); // every reader is a program of its own

test("a reader killed again and again while a million lines are printed misses nothing and repeats nothing", { timeout: PATIENCE }, async () => {
	await crash({ kills: rounds(8, 40), readers: 1, setup: "", terminal: false });
});

test("again and again, on a terminal", { timeout: PATIENCE }, async () => {
	await crash({ kills: rounds(5, 20), readers: 1, setup: "stty raw -echo; ", terminal: true });
});

test("two readers at once, both being killed, each get everything", { timeout: PATIENCE }, async () => {
	await crash({ kills: rounds(5, 20), readers: 2, setup: "", terminal: false });
});

async function crash({ setup, terminal, ...how }: { kills: number; readers: number; setup: string; terminal: boolean }): Promise<void> {
	const home = tempDir("home");
	const hurry = path.join(home, "hurry");
	const id = await startAndDie(home, { command: `${setup}exec perl '${fixture("numbers.pl")}' '${hurry}'`, terminal });
	await copyWithKills({ home, id, hurry, open: () => testRuntime({ home }), ...how });
}
