import { spawn } from "node:child_process";
import fs from "node:fs";
import { describe, expect, test } from "vitest";
import { localKernel } from "../../src/base/local-kernel.js";
import { type Identity, isAlive, readStat } from "../../src/base/proc.js";
import { findCgroups } from "../../src/keeper/cgroup.js";
import { readParts } from "../../src/keeper/layout.js";
import { findTools } from "../../src/keeper/tools.js";
import { endTree } from "../../src/process/kill.js";
import { markKilled } from "../../src/process/killing.js";
import type { ProcessSnapshot } from "../../src/process/tree.js";
import { atEnd, testRuntime, textOf, until } from "../support/home.js";
import { pidsIn, TREES } from "../support/kill-trees.js";

const alive = (pid: number): boolean => !["Z", "X", undefined].includes(readStat(pid)?.state);

/** The ways to find a tree, from total to best effort. */
const METHODS = {
	cgroup: { cgroup: "auto" as const },
	subreaper: { cgroup: "off" as const },
	walk: { cgroup: "off" as const, tools: { ...findTools(), subreaper: undefined } },
};

/** Only a control group or a subreaper finds this one. */
const ESCAPEE = "(env -i setsid /bin/bash -c 'echo $$; exec /bin/sleep 609 >/dev/null 2>&1 </dev/null' &); sleep 610";

describe.each(Object.entries(METHODS))("kill by %s", (method, options) => {
	const possible = method !== "cgroup" || findCgroups() !== undefined;
	const trees = [...TREES];
	if (method !== "walk") trees.push(["one that also cleared its environment", 1, ESCAPEE]);

	test.skipIf(!possible).each(trees)("ends %s, and looks", async (_name, count, command) => {
		const runtime = await testRuntime(options);
		const process = await runtime.spawn({ command });
		await until("all have said their pid", () => pidsIn(textOf(process)).length === count);
		const pids = pidsIn(textOf(process));
		expect(pids.filter((pid) => !alive(pid))).toEqual([]);
		const result = await process.kill({ graceMs: 300 });
		expect(result).toMatchObject({ status: "killed", method, survivors: [] });
		expect(pids.filter(alive)).toEqual([]);
		expect(result.signalled).toEqual(expect.arrayContaining([...pids, process.pid]));
		expect(result.final.status).toBe("killed");
	});
});

test("a kill reports 128+n and the signal; the second one finds it ended", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "exec sleep 600" });
	const first = await process.kill();
	expect(first.final).toMatchObject({ status: "killed", exitCode: 143, signal: "SIGTERM" });
	const second = await process.kill();
	expect(second).toMatchObject({ status: "already_exited", signalled: [], final: { status: "killed", exitCode: 143 } });
});

test("without a grace period one look that finds nothing is proof, as long as nothing forks", async () => {
	const child = spawn("sleep", ["600"]);
	const pid = child.pid as number;
	await until("it runs", () => isAlive(readStat(pid) as Identity));
	let empty = 0;
	const find = (now: ProcessSnapshot) => {
		const pids = [...now.stats.values()].filter((one) => one.pid === pid && one.state !== "Z").map((one) => one.pid);
		if (pids.length === 0) empty++;
		return { pids, ours: new Set<number>() };
	};
	expect(await endTree({ kernel: localKernel, find, graceMs: 0 })).toEqual({ signalled: [pid], survivors: [] });
	expect(empty).toBe(1); // each is a look at all processes of a machine, which may be a remote one
});

test("one that ends by itself is never called killed", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "exit 3" });
	await process.wait({ timeout: 100_000 });
	const result = await process.kill();
	expect(result).toMatchObject({ status: "already_exited", signalled: [], final: { status: "exited", exitCode: 3 } });
});

test("what an ended process left behind is ended by kill, and named", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "sleep 611 & echo $!; exit 0" });
	await process.wait({ timeout: 100_000 });
	const [pid] = pidsIn(textOf(process));
	expect(await process.leftovers()).toEqual([pid]);
	const result = await process.kill();
	expect(result).toMatchObject({ status: "already_exited", signalled: [pid], survivors: [], final: { status: "exited" } });
	expect(alive(pid as number)).toBe(false);
});

test("kills that race with the natural end agree on one record", async () => {
	const runtime = await testRuntime();
	for (let i = 0; i < 30; i++) {
		const process = await runtime.spawn({ command: "read line; exit 9" });
		const [, killed] = await Promise.all([process.write("\n"), process.kill()]);
		const seen = process.status();
		expect(seen).toEqual(killed.final);
		expect(["killed", "exited"]).toContain(seen.status);
		if (seen.status === "exited") expect(seen).toMatchObject({ exitCode: 9 });
	}
});

test("killing many at once leaves none, and each has its own record", async () => {
	const runtime = await testRuntime();
	const processes = await Promise.all(Array.from({ length: 20 }, () => runtime.spawn({ command: "sleep 612 & wait" })));
	const results = await Promise.all(processes.map((process) => process.kill()));
	expect(results.map((result) => [result.status, result.survivors.length])).toEqual(processes.map(() => ["killed", 0]));
	expect(runtime.list({ ended: false })).toEqual([]);
});

test("a kept process started by a kept process is not killed with it", async () => {
	const runtime = await testRuntime(METHODS.walk);
	const home = runtime.home.root;
	const script = `const { openRuntime } = await import(${JSON.stringify(`${process.cwd()}/dist/lib/index.js`)});
		const runtime = await openRuntime({ home: ${JSON.stringify(home)}, warm: 0, cgroup: "off" });
		const inner = await runtime.spawn({ command: "sleep 613" }); console.log("inner", inner.id); setInterval(() => {}, 1000);`;
	const outer = await runtime.spawn({ command: [process.execPath, "--input-type=module", "-e", script] });
	const { match } = await outer.wait({ until: { pattern: "proc_[0-9a-f]{12}" }, timeout: 100_000 });
	await outer.kill();
	expect(runtime.get(match as string).status().status).toBe("running");
});

test("a stranger that got the pid is neither adopted nor signalled", async () => {
	const runtime = await testRuntime({ cgroup: "off" });
	const stranger = spawn("sleep", ["614"], { stdio: "ignore" });
	atEnd(() => stranger.kill());
	const process = await runtime.spawn({ command: "true" });
	await process.wait({ timeout: 100_000 });
	await until("its keeper is gone", () => !isAlive(readParts(process.dir).keeper as Identity));
	const meta = fs.readFileSync(`${process.dir}/meta`, "utf8");
	fs.writeFileSync(`${process.dir}/meta`, meta.replace(/^child \d+ /m, `child ${stranger.pid} `));
	fs.writeFileSync(`${process.dir}/exit`, `${"".padEnd(63)}\n`);
	expect(process.status().status).toBe("lost");
	expect((await process.kill()).signalled).toEqual([]);
	expect(alive(stranger.pid as number)).toBe(true);
});

test("a signal for a process whose number is another's by now is not sent", async () => {
	const child = spawn("sleep", ["617"], { stdio: "ignore" });
	atEnd(() => child.kill("SIGKILL"));
	const pid = child.pid as number;
	const of = readStat(pid) as Identity;
	expect(await localKernel.signal([{ pid, signal: "SIGKILL", of: { pid, start: `${Number(of.start) - 1}` } }])).toEqual(["gone"]);
	expect(isAlive(of)).toBe(true);
	expect(await localKernel.signal([{ pid, signal: "SIGKILL", of }])).toEqual(["sent"]);
});

test("the mark of a kill says what the end counts as, where the command was ended by a signal", async () => {
	const runtime = await testRuntime();
	const ends = [130, 3].map(async (code) => {
		const process = await runtime.spawn({ command: `exit ${code}` });
		await process.wait({ timeout: 100_000 });
		markKilled(process.dir, 124); // as a runtime does at a deadline that is killed before it can record the end itself
		return process.status();
	});
	expect(await Promise.all(ends)).toMatchObject([
		{ status: "killed", exitCode: 124 },
		{ status: "exited", exitCode: 3 },
	]);
});

test("signals reach the process group, and only what is running", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "trap 'echo usr1; exit 0' USR1; echo ready; while :; do sleep 0.05; done" });
	await process.wait({ until: { pattern: "ready" }, timeout: 100_000 });
	await process.signal("SIGUSR1");
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ exitCode: 0 });
	expect(textOf(process)).toMatch(/^ready\n.*usr1\n$/s);
	await expect(process.signal("SIGUSR1")).rejects.toThrow(/has ended/);
});

test("INT and QUIT are not ignored by what is started", async () => {
	const runtime = await testRuntime();
	for (const [signal, code] of [
		["SIGINT", 130],
		["SIGQUIT", 131],
		["SIGHUP", 129],
		["SIGPIPE", 141],
	] as const) {
		const process = await runtime.spawn({ command: "exec sleep 600" });
		await until("sleep runs", () => readStat(process.pid as number)?.comm === "sleep");
		await process.signal(signal);
		expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: code });
	}
});
