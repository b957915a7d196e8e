/** Hundreds of scripts, ended at random moments in random ways: no part of one runs on. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { findTools } from "../../src/keeper/tools.js";
import { testShell } from "../shell/harness.js";
import { testRuntime, textOf } from "../support/home.js";
import { HoldfastError } from "../support/internal.js";
import { kernelOf, seenFrom } from "../support/remote.js";
import { SCRIPTS } from "../support/scripts.js";
import { seeded } from "../support/seed.js";

/** On a busy machine an interruption may come before the command: then it has no output, and none that is late. */
function nothingRan(error: unknown): { out: string } {
	if (error instanceof HoldfastError && error.code === "ABORTED") return { out: "" };
	throw error;
}

const ROUNDS = Number(process.env.ROUNDS ?? 600);

test("no part of a script runs on, whenever and however it is ended", async () => {
	const random = seeded("rest of script");
	const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
	const groups = await testRuntime();
	const without = await testRuntime({ cgroup: "off" });
	const walk = await testRuntime({ cgroup: "off", tools: { ...findTools(), subreaper: undefined } });
	const shell = await testShell(without);
	const far = await kernelOf("a box with perl");
	const ways = {
		kill: async (command: string) => {
			const process = await pick([groups, without, walk]).spawn({ command, ...(random() < 0.5 ? { terminal: true } : {}) });
			await sleep(random() * 100);
			expect(await process.kill({ graceMs: pick([0, 100, 1_000]) })).toMatchObject({ survivors: [] });
			return textOf(process);
		},
		"from another machine": async (command: string) => {
			const process = await without.spawn({ command });
			await sleep(random() * 100);
			expect(await seenFrom(process, far).kill({ graceMs: 500 })).toMatchObject({ survivors: [] });
			return textOf(process);
		},
		deadline: async (command: string) => (await shell.run(command, { timeoutMs: 100 + random() * 200 })).out,
		interruption: async (command: string) => {
			const run = shell.run(command, { signal: AbortSignal.timeout(Math.floor(50 + random() * 200)) });
			return (await run.catch(nothingRan)).out;
		},
	};
	await shell.run("true");
	for (let round = 0; round < ROUNDS; round++) {
		const [name, script] = pick(Object.entries(SCRIPTS));
		const way = pick(Object.keys(ways) as (keyof typeof ways)[]);
		if (way === "interruption" && name.startsWith("an interactive shell")) continue; // goes on, as at a terminal
		expect(`${round} ${way}, ${name}: ${await ways[way](script)}`).not.toContain("LATE");
	}
}, 3_600_000);
