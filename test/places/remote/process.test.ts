/** Kills, interruptions and looks at a terminal through the kernel of another machine: the same as here. */
import { describe, expect, test } from "vitest";
import { readStat } from "../../../src/base/proc.js";
import { readParts } from "../../../src/keeper/layout.js";
import type { Spec } from "../../../src/keeper/spec.js";
import { findTools } from "../../../src/keeper/tools.js";
import { usageOf } from "../../../src/process/usage.js";
import { untilWaiting, waitingFor } from "../../../src/screen/index.js";
import { NOT_WAITING, WAITING } from "../../screen/cases.mjs";
import { onTerminal, which } from "../../screen/programs.js";
import { testRuntime, textOf, until } from "../../support/home.js";
import { BOXES, kernelOf, seenFrom } from "../../support/remote.js";
import { everyFew } from "../../support/seed.js";

const FAR = ["a box with perl", "a box of busybox"].filter((box) => BOXES[box]?.possible);
const WALK = { cgroup: "off" as const, tools: { ...findTools(), subreaper: undefined } };

/** Each prints the pids it started: how many, and how. */
const TREES: [string, number, string][] = [
	["children that ignore TERM", 2, "trap '' TERM; for i in 1 2; do (trap '' TERM; echo $BASHPID; while :; do sleep 1; done) & done; wait"],
	["children in sessions of their own", 2, "setsid bash -c 'echo $$; sleep 603 & echo $!; wait' & wait"],
	["a double fork into a new session", 1, "(setsid bash -c 'echo $$; exec sleep 604' &) ; sleep 605"],
	["a stopped child", 1, "sleep 606 & kill -STOP $!; echo $!; wait"],
	["one that closed its descriptors", 1, "(setsid bash -c 'echo $$; exec sleep 607 >/dev/null 2>&1 </dev/null' &); sleep 608"],
	["one that only holds its output", 1, "(env -i setsid /bin/bash -c 'echo $$; exec /bin/sleep 609' &); sleep 610"],
];
const pidsIn = (text: string): number[] => [...text.matchAll(/^(\d+)$/gm)].map((match) => Number(match[1]));
const alive = (pid: number): boolean => !["Z", "X", undefined].includes(readStat(pid)?.state);

/** Busybox takes many processes for what perl does in one, by the same code around them. */
describe.each(FAR)("%s", (box) => {
	const some = <Case>(cases: readonly Case[]) => everyFew(cases, box === "a box of busybox" ? 3 : 1);
	test.each(some(TREES))("a kill ends %s, and looks", async (_name, count, command) => {
		const runtime = await testRuntime(WALK);
		const process = await runtime.spawn({ command });
		await until("all have said their pid", () => pidsIn(textOf(process)).length === count);
		const pids = pidsIn(textOf(process));
		const result = await seenFrom(process, await kernelOf(box)).kill({ graceMs: 300 });
		expect(result).toMatchObject({ status: "killed", method: "walk", survivors: [], final: { status: "killed" } });
		expect(result.signalled).toEqual(expect.arrayContaining([...pids, process.pid]));
		expect(pids.filter(alive)).toEqual([]);
	});

	test("a kill finds what was left behind, and leaves others alone", async () => {
		const runtime = await testRuntime(WALK);
		const other = await runtime.spawn({ command: "exec sleep 611" });
		const process = await runtime.spawn({ command: "(setsid sleep 612 &); echo up" });
		await process.wait();
		const far = seenFrom(process, await kernelOf(box));
		expect(await far.leftovers()).toEqual(await process.leftovers());
		expect(await far.leftovers()).toHaveLength(1);
		expect(await far.kill()).toMatchObject({ status: "already_exited", survivors: [], signalled: [expect.any(Number)] });
		expect(await far.leftovers()).toEqual([]);
		expect(other.status().status).toBe("running");
	});

	test("a signal reaches the group, and on a terminal what is in the foreground", async () => {
		const runtime = await testRuntime();
		const process = await runtime.spawn({ command: "trap 'echo usr1; exit 0' USR1; echo ready; while :; do sleep 0.05; done" });
		await process.wait({ until: { pattern: "ready" }, timeout: 100_000 });
		const far = seenFrom(process, await kernelOf(box));
		await far.signal("SIGUSR1");
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ exitCode: 0 });
		expect(textOf(process)).toMatch(/^ready\n.*usr1\n$/s);
		await expect(far.signal("SIGUSR1")).rejects.toMatchObject({ code: "ENDED" });
		const shell = await onTerminal(runtime, "bash --norc -i");
		await untilWaiting(shell, { timeout: 100_000 });
		await shell.write("sleep 614; echo code $?\r");
		await until("sleep is in the foreground", () => readStat(readStat(readParts(shell.dir).command?.pid ?? 0)?.foreground ?? 0)?.comm === "sleep");
		await seenFrom(shell, await kernelOf(box)).signal("SIGTERM");
		expect((await shell.wait({ until: { pattern: "code 143" }, timeout: 100_000 })).matched).toBe("pattern");
	});

	test("a command of a persistent shell is interrupted, and the shell stays", async () => {
		const kernel = await kernelOf(box);
		const runtime = await testRuntime({ cgroup: "off" });
		const { process: own } = runtime.registry;
		Object.assign(runtime.registry, { process: (spec: Spec) => seenFrom(own(spec), kernel) });
		const first = await runtime.terminal({ command: "x=kept; echo $$" });
		const cut = await runtime.terminal({ command: "sleep 615 | cat; echo not reached", timeout: 1, on_timeout: "kill" });
		expect(cut).toMatchObject({ status: "timeout", exit_code: 124 });
		expect(cut.output).not.toContain("not reached");
		const second = await runtime.terminal({ command: "echo $$ $x; jobs" });
		expect(second.output).toBe(`${first.output.trim()} kept\n`);
	});

	test("what a process uses is counted", async () => {
		const runtime = await testRuntime({ cgroup: "off" });
		const process = await runtime.spawn({ command: "sleep 616 & echo up; wait" });
		await process.wait({ until: { pattern: "up" } });
		const usage = await usageOf(await kernelOf(box), process.dir, process.spec);
		expect(usage).toMatchObject({ processes: 2 });
		expect(usage?.memoryBytes).toBeGreaterThan(100_000);
		await process.kill();
		expect(await usageOf(await kernelOf(box), process.dir, process.spec)).toBeUndefined();
	});

	for (const [program, command, kind] of some(
		WAITING.filter(([, text]) => /^(read -r (x|-s|-t)|cat|bash --norc|python3 -q|node$|node -e|seq 100|SHELL)/.test(text)),
	)) {
		test.skipIf(!which(program))(`sees that it waits: ${command}`, async () => {
			const process = seenFrom(await onTerminal(await testRuntime(), command), await kernelOf(box));
			const result = await untilWaiting(process, { timeout: 100_000 });
			expect(result).toMatchObject({ matched: "input", waiting_for: kind, waiting_evidence: expect.stringContaining("on the terminal") });
		});
	}

	for (const [program, command] of some(NOT_WAITING.filter(([, text]) => /exec sleep|do :|SPINNER|listen|accept|setraw|script/.test(text)))) {
		test.skipIf(!which(program))(`sees that it does not wait: ${command}`, async () => {
			const process = seenFrom(await onTerminal(await testRuntime(), command), await kernelOf(box));
			await process.wait({ until: { pattern: "up" }, timeout: 100_000 });
			for (let looks = 0; looks < 5; looks++) expect(await waitingFor(process)).toEqual({ waiting: false });
		});
	}
});

test("a look at a terminal takes few requests", async () => {
	const kernel = await kernelOf("a box with perl");
	const process = await onTerminal(await testRuntime(), "read -r x");
	await untilWaiting(process, { timeout: 100_000 });
	expect(await waitingFor(seenFrom(process, kernel))).toMatchObject({ waiting: true, waiting_for: "line" });
	expect(kernel.asked.count).toBeLessThanOrEqual(20);
});
