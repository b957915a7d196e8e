/** Deadlines and interruptions: the command goes, all of it; the shell and what else it has started stay. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../src/base/errors.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import { TestShell, testShell } from "./harness.js";

/** Pids of processes with exactly these arguments. */
const running = (...argv: string[]): number[] =>
	readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((pid) => {
			try {
				return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `${argv.join("\0")}\0`;
			} catch {
				return false;
			}
		})
		.map(Number);

async function prepared(): Promise<{ shell: TestShell; pid: number }> {
	const shell = await testShell();
	await shell.run("KEEP=42; export KX=1; cd /usr; sleep 7777 & BG=$!");
	return { shell, pid: await shell.pid() };
}

async function isIntact({ shell, pid }: { shell: TestShell; pid: number }): Promise<void> {
	expect(await shell.run("echo $KEEP $KX $PWD; kill -0 $BG && echo bg; echo $$")).toMatchObject({ code: 0, out: `42 1 /usr\nbg\n${pid}\n` });
}

describe("killed at the deadline, and the shell goes on", () => {
	const CASES: [string, string][] = [
		["sleep", "sleep 6100; echo no"],
		["a loop of builtins", "while :; do :; done; echo no"],
		["a loop in nested functions", "a() { while :; do b; done; }; b() { for i in 1 2 3; do c; done; }; c() { :; }; a; echo no"],
		["a pipeline", "sleep 6200 | cat | cat; echo no"],
		["a tree", "(sleep 6300; sleep 6300) | cat; echo no"],
		["a substitution", "x=$(sleep 6400); echo no"],
		["a loop in a substitution", "x=$(while :; do :; done); echo no"],
		["a stopped child", 'sh -c "kill -STOP \\$\\$; sleep 6500"; sleep 6500; echo no'],
		["wait", "sleep 6700 & wait; echo no"],
		["read from a pipe", "read -r x < <(sleep 6800); echo no"],
		["eval in eval", "eval \"eval 'while :; do :; done'\"; echo no"],
		["a trap on INT that goes on", 'trap "echo int" INT; while :; do :; done; echo no'],
		["INT ignored", 'trap "" INT; while :; do sleep 0.01; done; echo no'],
		["its own background job", "sleep 6900 & sleep 6900; echo no"],
		["a child in a session of its own", "setsid sleep 7000 & sleep 7000; echo no"],
		["one that forked twice", "( ( while :; do :; done ) & ); sleep 7100; echo no"],
		[
			"one that forked twice, with an empty environment and nothing of ours open",
			"(setsid env -i sleep 7150 </dev/null >/dev/null 2>&1 &); sleep 7150; echo no",
		],
		["no job control", "set +m; sleep 7200; echo no"],
	];
	test.each(CASES)("%s", async (_name, command) => {
		const before = await prepared();
		const ran = await before.shell.run(`echo first; ${command}`, { timeoutMs: 300 });
		expect(ran).toMatchObject({ end: "timeout", code: 124, out: expect.stringMatching(/^first\n/) });
		expect(ran.out).not.toContain("no\n");
		await isIntact(before);
		const seconds = /sleep (\d{4})/.exec(command)?.[1];
		if (seconds) expect(running("sleep", seconds)).toEqual([]);
	});

	test("a child that ignores INT and TERM", async () => {
		const before = await prepared();
		expect(await before.shell.run(`sh -c 'trap "" INT TERM; sleep 6600; sleep 6600'; echo no`, { timeoutMs: 300 })).toMatchObject({
			end: "timeout",
			code: 124,
			out: "",
		});
		expect(running("sleep", "6600")).toEqual([]);
		await isIntact(before);
	});

	test("a command that prints all the time", async () => {
		const before = await prepared();
		const ran = await before.shell.run("while :; do echo y; done", { timeoutMs: 300 });
		expect(ran).toMatchObject({ end: "timeout", code: 124, out: expect.stringMatching(/^(y\n)+y?$/) });
		await isIntact(before);
	});
});

test("an interruption gives 130 and what was printed, and what the command has set stays", async () => {
	const before = await prepared();
	const stop = new AbortController();
	const running = before.shell.run("Y=7; echo before; sleep 6150; echo no", { signal: stop.signal });
	await until("it has printed", () =>
		before.shell.runtime.list({ task: before.shell.task }).some((process) => process.log.bounds().end > 0 && !process.spec.command.includes("7777")),
	);
	stop.abort();
	expect(await running).toMatchObject({ end: "interrupted", code: 130, out: "before\n" });
	expect((await before.shell.run("echo $Y")).out).toBe("7\n");
	await isIntact(before);
});

test("an interruption before the start: nothing runs", async () => {
	const { run } = await testShell();
	await expect(run("echo ran", { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
	expect((await run("echo fine")).out).toBe("fine\n");
});

test("an interruption concerns its own task alone", async () => {
	const one = await testShell();
	const two = one.another();
	await two.run("true");
	const stop = new AbortController();
	const go = path.join(tempDir(), "go");
	const killed = one.run("sleep 6160", { signal: stop.signal });
	const other = two.run(`until [ -e ${go} ]; do sleep 0.02; done; echo done`);
	await until("both run", () => one.runtime.list({ task: null }).length === 2);
	stop.abort();
	expect(await killed).toMatchObject({ end: "interrupted" });
	writeFileSync(go, "");
	expect(await other).toMatchObject({ end: "exited", code: 0, out: "done\n" });
});

test("forty short deadlines in a row: never a wrong code, and the state stays", async () => {
	const { shell } = await prepared();
	for (let i = 0; i < 40; i++) {
		const ran = await shell.run("while :; do :; done", { timeoutMs: 30 + (i % 5) }).catch((error: HoldfastError) => error);
		// bash may crash when INT comes while it is still reading the command: then there is a new shell, which the next may be too early for.
		if (ran instanceof HoldfastError) {
			expect(ran.code).toBe("START_FAILED");
			await shell.run("true");
		} else expect(ran).toMatchObject({ end: "timeout", code: 124 });
	}
	expect((await shell.run("echo $KEEP $KX $PWD")).out).toBe("42 1 /usr\n");
});

test("an interrupted command leaves the shell where another runtime has moved it", async () => {
	const shell = await testShell();
	await shell.run("cd /usr");
	const other = new TestShell((await testShell(shell.runtime)).shells, shell.runtime, shell.task);
	await other.run("cd /etc");
	expect(await shell.run("sleep 300", { timeoutMs: 500 })).toMatchObject({ end: "timeout", cwd: "/etc" });
	expect(await shell.run("pwd")).toMatchObject({ out: "/etc\n", cwd: "/etc" });
});

test("ends that race the deadline", async () => {
	const before = await prepared();
	for (let i = 0; i < 60; i++) {
		const ran = await before.shell.run(`sleep 0.00${i % 10}; echo done`, { timeoutMs: 5 });
		if (ran.end === "timeout") expect(ran.code).toBe(124);
		else expect(ran).toMatchObject({ end: "exited", code: 0, out: "done\n" });
		expect((await before.shell.run(`echo ${i}`)).out).toBe(`${i}\n`);
	}
	expect(await before.shell.pid()).toBe(before.pid);
});

test("a command moved to the background at its deadline goes on, loses nothing, and leaves a shell with the earlier state", async () => {
	const { shell, pid } = await prepared();
	const go = path.join(tempDir(), "go");
	const waits = `until [ -e ${go} ]; do read -r _ < <(sleep 0.02); done`;
	const moved = await shell.run(`echo one; KEEP=changed; ${waits}; echo two; (exit 5)`, { timeoutMs: 1_000, onTimeout: "background" });
	expect(moved).toMatchObject({ end: "running", code: null, out: "one\n", tracked: true, cwd: "/usr" });
	expect(await shell.run("echo $KEEP $KX $PWD")).toMatchObject({ code: 0, out: "42 1 /usr\n", notes: [] });
	expect(await shell.pid()).not.toBe(pid);
	const process = shell.runtime.get(moved.id);
	expect(process.status().status).toBe("running");
	writeFileSync(go, "");
	const { status } = await process.wait({ timeout: 100_000 });
	expect(status).toMatchObject({ status: "exited", exitCode: 5 });
	expect(process.read(0).bytes.toString()).toBe("one\ntwo\n");
	await until("the shell it ran in has left", () => !readdirSync("/proc").includes(String(pid)));
});

test("what was moved to the background can be signalled and killed with proof, and older jobs stay", async () => {
	const { shell } = await prepared();
	const moved = await shell.run("trap 'echo got it' USR1; sleep 6170 & wait; sleep 6170; echo no", { timeoutMs: 300, onTimeout: "background" });
	const process = shell.runtime.get(moved.id);
	const result = await process.kill();
	expect(result).toMatchObject({ status: "killed", survivors: [], final: { status: "killed" } });
	expect(running("sleep", "6170")).toEqual([]);
	expect(running("sleep", "7777")).not.toEqual([]);
	await expect(process.write("x")).rejects.toMatchObject({ code: "ENDED" });
});

test("a second command while the first runs gets a shell of its own with the same state, and a note", async () => {
	const { shell, pid } = await prepared();
	const go = path.join(tempDir(), "go");
	const first = shell.run(`until [ -e ${go} ]; do sleep 0.02; done; FIRST=1; echo $KEEP`);
	await until("it runs", () => shell.runtime.list({ task: shell.task }).some(({ spec }) => spec.command.startsWith("until ")));
	const second = await shell.run("echo $KEEP $KX $PWD; SECOND=1; cd /");
	expect(second).toMatchObject({ code: 0, out: "42 1 /usr\n", notes: [expect.stringContaining("a shell of its own")] });
	writeFileSync(go, "");
	expect(await first).toMatchObject({ code: 0, out: "42\n" });
	expect((await shell.run('echo $FIRST "[$SECOND]" $PWD $$')).out).toBe(`1 [] /usr ${pid}\n`);
});

test("ten first commands at once all run", async () => {
	const shell = await testShell();
	const all = await Promise.all(Array.from({ length: 10 }, (_, i) => shell.run(`echo ${i}`)));
	expect(all.map(({ out }) => out)).toEqual(Array.from({ length: 10 }, (_, i) => `${i}\n`));
});

test("of the first calls of a new program the one that came first has the task's shell", async () => {
	const home = tempDir("home");
	const before = await testRuntime({ home });
	await before.terminal({ command: "cd /usr" });
	for (let round = 0; round < 4; round++) {
		const runtime = await testRuntime({ home });
		const [first, second] = await Promise.all([runtime.terminal({ command: `A=${round}; sleep 0.1` }), runtime.terminal({ command: "B=2" })]);
		expect(first.note).toBeUndefined();
		expect(second.note).toContain("shell of its own");
		expect(await runtime.terminal({ command: "echo $A$B" })).toMatchObject({ output: `${round}\n` });
		await runtime.close();
	}
});

test("twelve shells that are born at once warn of nothing", async () => {
	const runtime = await testRuntime();
	const warnings: Error[] = [];
	const warned = (warning: Error) => warnings.push(warning);
	process.on("warning", warned);
	atEnd(() => process.off("warning", warned));
	await Promise.all(Array.from({ length: 12 }, (_, n) => runtime.terminal({ command: "true" }, { task: `t${n}` })));
	expect(warnings).toEqual([]);
});
