/** One slot serves one command after another: each has its own id, and its own range of the log. */
import fs from "node:fs";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Identity, isAlive } from "../../src/base/proc.js";
import { readParts } from "../../src/keeper/layout.js";
import { readRanges } from "../../src/keeper/ranges.js";
import { run } from "../fixtures/programs.js";
import { tempDir, testRuntime, until } from "../support/home.js";
import type { Runtime } from "../support/internal.js";
import { rounds, seeded } from "../support/seed.js";
import { type TestShell, testShell } from "./harness.js";

const logOf = (runtime: Runtime, id: string): string => {
	const { log } = runtime.get(id);
	const { first, end } = log.bounds();
	return log.read(first, end - first + 1).bytes.toString();
};

/** The slot of a command is given back once its answer is out. */
const given = async <T>(ran: Promise<T>): Promise<T> => {
	const result = await ran;
	for (const _ of [1, 2, 3]) await turn();
	return result;
};

const dirOf = (shell: TestShell, id: string): string => shell.runtime.get(id).dir;

test("commands that print, fork and end well share a slot, and each is found by its own id with its output alone", async () => {
	const shell = await testShell();
	const one = await given(shell.run("echo one"));
	const two = await given(shell.run("ls -d /usr; (exit 3)"));
	const three = await given(shell.run("cd /tmp"));
	const four = await given(shell.run("printf four"));
	expect(new Set([one, two, three, four].map(({ id }) => id)).size).toBe(4);
	expect(new Set([one, two, three, four].map(({ id }) => dirOf(shell, id))).size).toBe(1);
	expect([one, two, three, four].map(({ id }) => logOf(shell.runtime, id))).toEqual(["one\n", "/usr\n", "", "four"]);
	expect(shell.runtime.get(two.id).status()).toMatchObject({ status: "exited", exitCode: 3 });
	expect(shell.runtime.get(two.id).log.bounds()).toEqual({ first: 0, end: 5 });
	expect(shell.runtime.get(two.id.slice(5, 11)).id).toBe(two.id); // the beginning of an id is enough
	expect(shell.runtime.list({ task: shell.task })).toEqual([]);
	expect(readRanges(dirOf(shell, one.id))).toMatchObject([
		{ id: one.id, task: shell.task, command: "echo one", from: 0, to: 4, code: 0 },
		{ id: two.id, command: "ls -d /usr; (exit 3)", from: 4, to: 9, code: 3 },
		{ id: three.id, command: "cd /tmp", from: 9, to: 9, code: 0 },
		{ id: four.id, command: "printf four", cwd: "/tmp", from: 9, to: 13, code: 0 },
	]);
});

test.each([
	["a background job", (go: string) => `(until [ -e ${go} ]; do sleep 0.02; done; echo late) & echo now`],
	["a double fork", (go: string) => `( (until [ -e ${go} ]; do sleep 0.02; done; echo late) & ); echo now`],
	[
		"a session of its own without a trace in its environment",
		(go: string) => `(env -i setsid sh -c 'until [ -e ${go} ]; do sleep 0.02; done; echo late' &); echo now`,
	],
	["one that has it as another descriptor", (go: string) => `( (until [ -e ${go} ]; do sleep 0.02; done; echo late >&7) 7>&1 >/dev/null 2>&1 & ); echo now`],
])("what holds the pipe keeps the slot: %s", async (_, command) => {
	const shell = await testShell();
	const go = path.join(tempDir(), "go");
	const before = await given(shell.run("echo before"));
	const ran = await shell.run(command(go));
	const next = await shell.run("echo next");
	expect(dirOf(shell, ran.id)).toBe(dirOf(shell, before.id));
	expect(dirOf(shell, next.id)).not.toBe(dirOf(shell, ran.id));
	fs.writeFileSync(go, "");
	await until("the rest is in its log", () => logOf(shell.runtime, ran.id) === "now\nlate\n");
	expect([before, next].map(({ id }) => logOf(shell.runtime, id))).toEqual(["before\n", "next\n"]);
	expect((await shell.run("echo last")).out).toBe("last\n");
});

test("a descriptor that the shell keeps leads to the log of the command that opened it", async () => {
	const shell = await testShell();
	const one = await shell.run("exec 5>&1");
	const two = await shell.run("echo two; echo one >&5");
	await shell.run("exec 5>&-");
	await until("it is there", () => logOf(shell.runtime, one.id) === "one\n");
	expect(logOf(shell.runtime, two.id)).toBe("two\n");
});

test("a daemon that holds nothing does not keep the slot, and a later command's kill leaves it alone", async () => {
	const shell = await testShell();
	const file = path.join(tempDir(), "pid");
	const one = await given(
		shell.run(`setsid -f sh -c 'echo $$ >${file}; exec sleep 300' </dev/null >/dev/null 2>&1; until [ -s ${file} ]; do sleep 0.02; done; cat ${file}`),
	);
	const pid = Number(one.out);
	const stop = new AbortController();
	const two = shell.run("echo two; sleep 300", { signal: stop.signal });
	await until("it runs", () => shell.runtime.list({ task: shell.task }).some(({ log }) => log.bounds().end === 4));
	expect(shell.runtime.list({ task: shell.task })[0]?.dir).toBe(dirOf(shell, one.id));
	stop.abort();
	expect(await two).toMatchObject({ end: "interrupted" });
	expect(fs.existsSync(`/proc/${pid}`)).toBe(true);
	process.kill(pid, "SIGKILL");
});

test("a command that reaches its deadline keeps the slot, and its offsets begin at 0", async () => {
	const shell = await testShell();
	const go = path.join(tempDir(), "go");
	const before = await given(shell.run("echo before"));
	const ran = await shell.run(`echo begun; until [ -e ${go} ]; do sleep 0.02; done; echo done; exit 4`, { timeoutMs: 100, onTimeout: "background" });
	expect(ran).toMatchObject({ end: "running", out: "begun\n" });
	const process = shell.runtime.get(ran.id);
	const pattern = process.wait({ until: { pattern: "done" } });
	fs.writeFileSync(go, "");
	expect(await pattern).toMatchObject({ matched: "pattern", offset: 10 });
	expect((await process.wait()).status).toMatchObject({ status: "exited", exitCode: 4 });
	expect(process.log.read(6).bytes.toString()).toBe("done\n");
	expect(logOf(shell.runtime, before.id)).toBe("before\n");
});

test("the next runtime finds what the last has run, until it is pruned", async () => {
	const home = tempDir("home");
	const runtime = await testRuntime({ home });
	const shell = await testShell(runtime);
	const one = await given(shell.run("echo one"));
	const two = await shell.run("echo two; (exit 2)");
	await shell.shells.close();
	const next = await testRuntime({ home });
	expect([one, two].map(({ id }) => logOf(next, id))).toEqual(["one\n", "two\n"]);
	expect(next.get(two.id).status()).toMatchObject({ status: "exited", exitCode: 2 });
	expect(next.list({ task: shell.task })).toEqual([]);
	const { dir } = next.get(one.id);
	expect(next.prune({ now: Date.now() + 8 * 24 * 3_600_000 }).removed).toContain(path.basename(dir));
	expect(() => next.get(two.id)).toThrow(/was removed at 20/);
});

test("a limit of output counts what the command itself prints", async () => {
	const shell = await testShell(await testRuntime({ resourceLimits: { process: { output: "200K" } } }));
	for (const _ of Array(4)) expect((await shell.run("head -c 100000 /dev/zero")).bytes).toHaveLength(100_000);
	expect(await shell.run("head -c 2000000 /dev/zero")).toMatchObject({ end: "killed" });
	expect((await shell.run("head -c 100000 /dev/zero")).bytes).toHaveLength(100_000);
});

test("a copier that is killed is replaced: the command goes on, and no output but what it had in its hands is lost", async () => {
	const shell = await testShell();
	await given(shell.run("echo before"));
	const go = path.join(tempDir(), "go");
	const ran = shell.run(`echo begun; until [ -e ${go} ]; do sleep 0.02; done; echo more; (exit 6)`);
	await until("it prints", () => shell.runtime.list({ task: shell.task })[0]?.log.bounds().end === 6);
	const { dir } = shell.runtime.list({ task: shell.task })[0] as { dir: string };
	const copier = readParts(dir).child as Identity;
	process.kill(copier.pid, "SIGKILL");
	await until("the copier is dead", () => !isAlive(copier)); // until then it may still take output into its hands
	fs.writeFileSync(go, "");
	expect(await ran).toMatchObject({ code: 6, out: "begun\nmore\n" });
	expect(await shell.run("echo next")).toMatchObject({ code: 0, out: "next\n" });
});

test("killed at any moment: the next runtime knows of each command its own output and code, and of none another's", async () => {
	const random = seeded("ranges");
	for (let round = 0; round < rounds(3, 40); round++) {
		const home = tempDir("home");
		const count = path.join(home, "count");
		const program = run("shell.mjs", home, "t", "N=0", `N=$((N + 1)); echo $N >>${count}; echo token $N; /bin/echo again $N; (exit $((N % 7)))`, "again");
		const most = 6 + Math.floor(random() * 60);
		await until("some have run", () => fs.existsSync(count) && fs.readFileSync(count, "utf8").split("\n").length > most);
		await program.kill();
		const runtime = await testRuntime({ home });
		await until("what was sent has been run", () => runtime.list({ task: "t" }).every((process) => process.status().status !== "running"));
		const ran = fs.readFileSync(count, "utf8").trim().split("\n").length;
		const ids = new Set(runtime.list({ task: "t" }).map(({ id }) => id));
		for (const shelf of fs.readdirSync(path.join(home, "procs")))
			for (const name of fs.readdirSync(path.join(home, "procs", shelf))) for (const { id } of readRanges(path.join(home, "procs", shelf, name))) ids.add(id);
		const found = [...ids].map((id) => ({ text: logOf(runtime, id), status: runtime.get(id).status() }));
		const numbers = found.filter(({ text }) => text !== "").map(({ text }) => Number(/^token (\d+)\n/.exec(text)?.[1]));
		for (const { text, status } of found) {
			const number = Number(/^token (\d+)\n/.exec(text)?.[1] ?? 0);
			if (number === 0) continue; // the first, which prints nothing; or one that was never sent
			expect(text).toBe(`token ${number}\nagain ${number}\n`);
			expect(status).toMatchObject({ status: "exited", exitCode: number % 7 });
		}
		expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: ran }, (_, at) => at + 1));
	}
});
