/** The kernel of another machine answers as that of this one does, whatever is there to answer with. */
import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Kernel } from "../../../src/base/kernel.js";
import { localKernel } from "../../../src/base/local-kernel.js";
import { isAlive, readStat, type Stat } from "../../../src/base/proc.js";
import type { Runs } from "../../../src/places/remote/script.js";
import { remoteSignal, signalsBy } from "../../../src/places/remote/signal.js";
import { remoteStats, remoteTable, type Tables, tableScript } from "../../../src/places/remote/table.js";
import { ProcessSnapshot } from "../../../src/process/tree.js";
import { atEnd, tempDir, testRuntime, until } from "../../support/home.js";
import { BOXES, kernelOf } from "../../support/remote.js";

describe.each(Object.entries(BOXES))("%s", (box, { possible }) => {
	test.skipIf(!possible)("says what is in files, behind links and in directories, as the local file system has it", async () => {
		const far = await kernelOf(box);
		const dir = path.join(tempDir("odd"), 'it\'s a "$HOME" `x` \\ dir');
		fs.mkdirSync(dir);
		const bytes = "no newline at the end, a \0 zero, and é";
		fs.writeFileSync(path.join(dir, "file"), bytes);
		fs.writeFileSync(path.join(dir, "empty"), "");
		fs.symlinkSync("to where\nit's", path.join(dir, "link"));
		const { pid } = await sleeper();
		const paths = ["file", "empty", "missing", "link"].map((name) => path.join(dir, name));
		const all = [
			...paths,
			`/proc/${pid}/cmdline`,
			`/proc/${pid}/environ`,
			`/proc/${pid}/fd/0`,
			`/proc/${pid}/exe`,
			"/proc/1/environ",
			"/dev/null",
			"/proc",
			dir,
		];
		expect(await far.read(paths)).toEqual([bytes, "", undefined, undefined]);
		expect(await far.read(all)).toEqual(await localKernel.read(all));
		expect(await far.links(all)).toEqual(await localKernel.links(all));
		const inodes = (await localKernel.inodes(all)).map((inode) => inode && { dev: inode.dev, rdev: inode.rdev });
		expect(await far.inodes(all)).toEqual(inodes);
		const directories = [`/proc/${pid}/fd`, `/proc/${pid}/task`, path.join(dir, "missing"), dir];
		const sorted = (names: string[][]) => names.map((list) => list.toSorted());
		expect(sorted(await far.names(directories))).toEqual(sorted(await localKernel.names(directories)));
		expect(await far.arch()).toBe(process.arch);
	});

	test.skipIf(!possible)("reads memory, and only where there is some", async () => {
		const far = await kernelOf(box);
		const { pid } = await sleeper();
		const stack = /^([0-9a-f]+)-([0-9a-f]+) rw.*\[stack\]$/m.exec(fs.readFileSync(`/proc/${pid}/maps`, "utf8"));
		const end = BigInt(`0x${stack?.[2]}`);
		const pieces = [
			{ pid, address: end - 64n, bytes: 64 },
			{ pid, address: 16n, bytes: 8 },
			{ pid: 2 ** 22 + 1, address: end, bytes: 8 },
			{ pid, address: end - 8n, bytes: 16 },
		];
		const [top, ...none] = await far.memory(pieces);
		expect(top?.toString()).toContain("sleep"); // the name of the program is up there
		expect([top, ...none]).toEqual(await localKernel.memory(pieces));
		expect(none).toEqual([undefined, undefined, undefined]);
	});

	test.skipIf(!possible)("sees the processes there are, with what marks them", async () => {
		const far = await kernelOf(box);
		const runtime = await testRuntime({ cgroup: "off" });
		const kept = await runtime.spawn({ command: "echo up; (env -u HOLDFAST_ID setsid sleep 600 &); setsid sleep 600 >/dev/null 2>&1 </dev/null & wait" });
		await kept.wait({ until: { pattern: "up" } });
		await until("both sleep", () => new ProcessSnapshot().marked(kept.id).filter((pid) => readStat(pid)?.comm === "sleep").length === 2);
		const [here, there] = [new ProcessSnapshot(), new ProcessSnapshot(await far.processes())];
		expect(there.marked(kept.id).toSorted()).toEqual(here.marked(kept.id).toSorted());
		for (const pid of here.marked(kept.id)) {
			const { state: _, ...stat } = here.stats.get(pid) as Stat;
			expect(there.stats.get(pid)).toMatchObject(stat);
			expect(there.table.markerOf(pid)).toBe(here.table.markerOf(pid));
			expect(there.table.namespaceOf(pid)).toBeNull();
		}
		const keeper = kept.pid === null ? undefined : here.stats.get(kept.pid)?.ppid;
		const forged = await runtime.spawn({ command: ["sh", "-c", "exec sleep 600", "/x/keeper/keeper.sh", "keep", path.dirname(kept.dir)], name: "forged" });
		const copied = spawn("sh", ["-c", "sleep 600; :", "/x/keeper/keeper.sh", "keep", kept.dir], { stdio: "ignore", detached: true });
		atEnd(() => process.kill(-(copied.pid as number), "SIGKILL"));
		await until("its arguments are there", () => fs.readFileSync(`/proc/${copied.pid}/cmdline`, "utf8").includes("keeper.sh"));
		for (const { table } of [new ProcessSnapshot(), new ProcessSnapshot(await far.processes())])
			expect([keeper, kept.pid, forged.pid, copied.pid].map((pid) => table.isKeeper(pid as number))).toEqual([true, false, false, false]);
		const ticks = Number(here.stats.get(kept.pid as number)?.start);
		expect(Math.abs(there.table.ticksAt(kept.spec.startedAt) - ticks)).toBeLessThan(500);
		const family = (kernel: Kernel) => kernel.family(keeper as number).then((found) => found.map(({ pid }) => pid).toSorted());
		expect(await family(far)).toEqual(await family(localKernel));
		expect(await far.family(keeper as number, 2)).toHaveLength(2);
		expect(await far.family(2 ** 22 + 1)).toEqual([]);
	});

	test.skipIf(!possible)("is not taken in by what a process calls itself", async () => {
		const far = await kernelOf(box);
		const odd = await sleeper();
		const bait = await sleeper();
		const file = path.join(tempDir("name"), `a\n${bait.pid} (b) S 7`); // 15 bytes of it are its name
		fs.copyFileSync("/bin/sleep", file);
		const child = spawn(file, ["600"], { stdio: "ignore" });
		atEnd(() => child.kill("SIGKILL"));
		await until("it has its name", () => readStat(child.pid as number)?.comm.startsWith("a\n") === true);
		const { stats } = await far.processes();
		for (const pid of [child.pid as number, bait.pid, odd.pid]) {
			const { state: _, ...stat } = readStat(pid) as Stat;
			expect(stats.get(pid)).toMatchObject(stat);
		}
	});

	test.skipIf(!possible)("signals processes and groups, and says which were gone", async () => {
		const far = await kernelOf(box);
		const [one, other] = [await sleeper(), await sleeper()];
		const group = await sleeper({ detached: true });
		expect(await far.signal([])).toEqual([]);
		const deliveries = await far.signal([
			{ pid: one.pid, signal: "SIGSTOP", of: one },
			{ pid: other.pid, signal: "SIGKILL", of: { ...other, start: "1" } },
			{ pid: -group.pid, signal: "SIGTERM", of: group },
			{ pid: 2 ** 22 + 1, signal: "SIGTERM" },
			{ pid: -(2 ** 22 + 1), signal: "SIGTERM" },
			{ pid: other.pid, signal: "SIGPOLL" },
		]);
		expect(deliveries).toEqual(["sent", "gone", "sent", "gone", "gone", "sent"]);
		await until("the group, and who got POLL, are gone", () => !isAlive(group) && !isAlive(other));
		await until("one has stopped", () => readStat(one.pid)?.state === "T");
		expect(await far.signal([{ pid: one.pid, signal: "SIGKILL", of: one }])).toEqual(["sent"]);
		await until("it is gone too", () => !isAlive(one));
		for (const pid of [0, -1, 1.5]) await expect(far.signal([{ pid, signal: "SIGTERM" }])).rejects.toMatchObject({ code: "INVALID" });
	});
});

test("what is asked in one turn goes in one request", async () => {
	const far = await kernelOf("a box with perl");
	const [a, b, c] = await Promise.all([far.read(["/proc/1/stat", "/missing"]), far.links(["/proc/self/exe"]), far.read(["/proc/version"])]);
	expect(far.asked.count).toBe(1);
	expect(a).toEqual([expect.stringMatching(/^1 \(/), undefined]);
	expect(b[0]).toMatch(/^\//);
	expect(c).toEqual([fs.readFileSync("/proc/version", "utf8")]);
});

describe("the scripts of a machine without perl", () => {
	test.skipIf(process.getuid?.() !== 0)("say who may not be signalled", async () => {
		const other = await sleeper({ detached: true });
		const lines = [`TERM ${other.pid} ${other.pid} ${other.start}`, `TERM -${other.pid}`];
		expect(await signalsBy(runner("/bin/sh", { uid: 65534 }), lines)).toEqual(["refused", "refused"]);
		expect(isAlive(other)).toBe(true);
	});

	test("fail where no process can be seen, and do not answer with none", async () => {
		const run = runner("/bin/sh", { bin: "/nowhere" });
		const tables: Tables = async (what) => (await run(tableScript(what))).output;
		await expect(remoteTable(tables)).rejects.toMatchObject({ code: "UNSUPPORTED" });
		await expect(remoteStats(tables)).rejects.toMatchObject({ code: "UNSUPPORTED" });
	});

	test("do not pass for whole when their answer was cut off", async () => {
		const run = runner("/bin/sh");
		const cut: Runs = async (script) => {
			const { output, status } = await run(script);
			return { status, output: output.subarray(0, output.length - 3) };
		};
		await expect(remoteSignal((lines) => signalsBy(cut, lines), [{ pid: 2 ** 22 + 1, signal: "SIGTERM" }])).rejects.toMatchObject({ code: "INTERNAL" });
	});
});

const runner =
	(sh: string, { bin = process.env.PATH ?? "", uid }: { bin?: string; uid?: number } = {}): Runs =>
	(script) =>
		new Promise((resolve, reject) => {
			const options = { encoding: "buffer" as const, maxBuffer: 1 << 28, env: { PATH: bin }, ...(uid === undefined ? {} : { uid }) };
			execFile(sh, ["-c", script], options, (error, output) => {
				if (error && typeof error.code !== "number") reject(error);
				else resolve({ status: Number(error?.code ?? 0), output });
			});
		});

async function sleeper(options: { detached?: boolean } = {}): Promise<Stat> {
	const child = spawn("/bin/sleep", ["600"], { stdio: "ignore", ...options });
	atEnd(() => child.kill("SIGKILL"));
	const pid = child.pid as number;
	while (readStat(pid)?.comm !== "sleep") await sleep(1);
	return readStat(pid) as Stat;
}
