/** Whatever ends a script ends all of it at one moment: no part runs on because another part is gone. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Delivery, Kernel } from "../../src/base/kernel.js";
import { localKernel } from "../../src/base/local-kernel.js";
import { findTools } from "../../src/keeper/tools.js";
import { testShell } from "../shell/harness.js";
import { testRuntime, textOf, until } from "../support/home.js";
import type { Process, Runtime, SpawnOptions } from "../support/internal.js";
import { BOXES, kernelOf, seenFrom } from "../support/remote.js";
import { noSandbox } from "../support/sandbox.js";
import { forks, JOBS, SCRIPTS } from "../support/scripts.js";

/** All of them where it is cheap; elsewhere those that differ in what they ignore. test/process/soak-rest-of-script.test.ts has the rest. */
const ALL = Object.keys(SCRIPTS);
const FEW = ["a subshell in the background", "a pipeline", "a child that ignores TERM", "an interactive shell", "a shell that forks"];
const AT_A_TERMINAL = [...FEW, ...ALL.filter((name) => name.startsWith("an interactive shell "))]; // with job control
const ready = (process: Process) => process.wait({ until: { pattern: "ready" }, timeout: 100_000 });

/** Ends each, and expects that nothing was printed but `ready`. What make(1) says when it is ended is its own affair. */
async function nothingRunsOn(names: readonly string[], end: (script: string) => Promise<string>): Promise<void> {
	const printed = async (name: string) => (await end(SCRIPTS[name] as string)).replaceAll("\r", "").replace(/^make: .*\n/gm, "");
	const found = await Promise.all(names.map(async (name) => [name, await printed(name)]));
	expect(found).toEqual(names.map((name) => [name, "ready\n"]));
}

async function killed(runtime: Runtime, options: SpawnOptions, seen = (process: Process) => process, graceMs = 500): Promise<string> {
	const process = await runtime.spawn(options);
	await ready(process);
	expect(await seen(process).kill({ graceMs })).toMatchObject({ status: "killed", survivors: [] });
	return textOf(process);
}

/** As for a program that loses its turn after each signal. */
const heldUp: Kernel = {
	...localKernel,
	signal: async (sent) => {
		const delivered: Delivery[] = [];
		for (const one of sent) {
			delivered.push(...(await localKernel.signal([one])));
			await sleep(5);
		}
		return delivered;
	},
};

describe("kill", () => {
	test.each([
		["by control groups", { cgroup: "auto" as const }],
		["by a subreaper", { cgroup: "off" as const }],
		["by a walk", { cgroup: "off" as const, tools: { ...findTools(), subreaper: undefined } }],
	])("%s, with pipes and with a terminal", async (_name, options) => {
		const runtime = await testRuntime(options);
		await Promise.all([
			nothingRunsOn(ALL, (command) => killed(runtime, { command })),
			nothingRunsOn(AT_A_TERMINAL, (command) => killed(runtime, { command, terminal: true })),
		]);
	});

	test.each([0, 500])("by a program that is held up between any two signals, with %i ms for cleanup", async (graceMs) => {
		const runtime = await testRuntime({ cgroup: "off" });
		const seen = (process: Process) => seenFrom(process, heldUp);
		await nothingRunsOn(AT_A_TERMINAL, (command) => killed(runtime, { command, terminal: true }, seen, graceMs));
		expect(await killed(runtime, { command: JOBS, terminal: true }, seen, graceMs)).not.toContain("LATE");
	});

	test("a parent that forks for longer than anything waits for it", async () => {
		const process = await (await testRuntime()).spawn({ command: forks(1.5) });
		await ready(process);
		expect(await process.kill()).toMatchObject({ status: "killed", survivors: [] });
		expect(textOf(process)).toBe("ready\n");
	});

	test.each([
		["a command", "echo rea''dy; sleep 600; echo LA''TE\r"],
		["a shell that waits for its next command", "PS1=re''ady bash --norc --noprofile -i; echo LA''TE\r"],
	])("of an interactive shell where %s was typed", async (_name, line) => {
		const runtime = await testRuntime();
		const process = await runtime.spawn({ command: "bash --norc --noprofile -i; echo LATE", terminal: true });
		await process.write(line);
		await ready(process);
		expect(await process.kill()).toMatchObject({ status: "killed", survivors: [] });
		expect(textOf(process)).not.toContain("LATE");
	});

	test.skipIf(noSandbox)("in a sandbox, with pipes and with a terminal", async () => {
		const runtime = await testRuntime({ place: "local+sandbox" });
		await Promise.all([
			nothingRunsOn(FEW, (command) => killed(runtime, { command })),
			nothingRunsOn(AT_A_TERMINAL, (command) => killed(runtime, { command, terminal: true })),
		]);
	});

	test.each(["a box with perl", "a box of busybox"].filter((box) => BOXES[box]?.possible))("through the kernel of %s", async (box) => {
		const runtime = await testRuntime({ cgroup: "off" });
		const kernel = await kernelOf(box);
		await nothingRunsOn(FEW, (command) => killed(runtime, { command }, (process) => seenFrom(process, kernel)));
	});
});

describe("in the shell of a task", () => {
	const ways = {
		"an interruption": (abort: AbortController) => ({ signal: abort.signal }),
		"a deadline": () => ({ timeoutMs: 1_500 }),
	};
	test.each(Object.entries(ways))("%s", async (_name, way) => {
		const shell = await testShell();
		const names = ALL.filter((name) => way.length === 0 || !name.startsWith("an interactive shell")); // at a terminal too it goes on after a child that INT has ended
		await nothingRunsOn(names, async (command) => {
			const abort = new AbortController();
			const own = shell.another();
			await own.run("true");
			const run = own.run(command, way(abort));
			if (way.length > 0) {
				const found = () => shell.runtime.list({ task: own.task, ended: false })[0];
				await until("it runs", () => found() !== undefined);
				await ready(found() as Process);
				abort.abort();
			}
			const { out, end } = await run;
			expect(end).toBe(way.length > 0 ? "interrupted" : "timeout");
			return out;
		});
	});

	test("a kill of what has moved to the background, and the end of the task", async () => {
		const shell = await testShell();
		const moved = async (command: string) => {
			const own = shell.another();
			await own.run("true");
			const { id } = await own.run(command, { timeoutMs: 500, onTimeout: "background" });
			const process = shell.runtime.get(id);
			await ready(process);
			return process;
		};
		await Promise.all([
			nothingRunsOn(FEW, async (command) => {
				const process = await moved(command);
				await process.kill({ graceMs: 500 });
				return textOf(process);
			}),
			nothingRunsOn(FEW, async (command) => {
				const process = await moved(command);
				await shell.runtime.endTask(process.spec.task);
				return textOf(process);
			}),
		]);
	});
});

describe("the keeper by itself", () => {
	test.each([
		["with control groups", { cgroup: "auto" as const }],
		["without", { cgroup: "off" as const }],
	])("when the time is over, %s, with pipes and with a terminal", async (_name, options) => {
		const runtime = await testRuntime(options);
		const timed = async (more: Partial<SpawnOptions>, command: string) => {
			const process = await runtime.spawn({ command, limits: { time: 2 }, ...more });
			const { status } = await process.wait({ timeout: 100_000 });
			expect(status).toMatchObject({ status: "killed", limit: { name: "time" } });
			while ((await process.leftovers()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20)); // the keeper is still at it
			return textOf(process);
		};
		await Promise.all([nothingRunsOn(FEW, (command) => timed({}, command)), nothingRunsOn(AT_A_TERMINAL, (command) => timed({ terminal: true }, command))]);
	});

	test("a parent that forks for longer than anything waits for it", async () => {
		const process = await (await testRuntime()).spawn({ command: forks(1.5), limits: { time: 1 } });
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "killed", limit: { name: "time" } });
		expect(textOf(process)).toBe("ready\n");
	});

	test("what calls itself a keeper, and is none, is ended with the rest", async () => {
		const runtime = await testRuntime({ cgroup: "off" });
		const process = await runtime.spawn({ command: "setsid sh -c 'sleep 600; :' /x/keeper/keeper.sh keep /tmp & sleep 600", limits: { time: 1 } });
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "killed", limit: { name: "time" } });
		while ((await process.leftovers()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20)); // it is still at it
		expect(process.status()).toMatchObject({ status: "killed" });
	});

	test("when all has been printed that may be", async () => {
		const runtime = await testRuntime();
		const process = await runtime.spawn({ command: "(sleep 600; echo LATE) & yes; echo LATE", limits: { output: "64K" } });
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "killed", limit: { name: "output" } });
		expect(await process.leftovers()).toEqual([]);
		expect(textOf(process)).not.toContain("LATE");
	});
});
