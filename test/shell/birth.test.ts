/** The first shell of a task reads the profile files, which may take their time; a call does not have to wait for it. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { procDir } from "../../src/keeper/layout.js";
import { isOver } from "../../src/process/status.js";
import { bear } from "../../src/shell/birth.js";
import { currentOf } from "../../src/shell/seat.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import { openRuntime, type Runtime } from "../support/internal.js";
import { testShell } from "./harness.js";

/** Profile files that wait until `go` is called. */
async function slowProfile(): Promise<{ runtime: Runtime; dir: string; begun: () => Promise<void>; go: () => void }> {
	const { runtime } = await testShell();
	const home = process.env.HOME as string;
	execFileSync("mkfifo", [path.join(home, "go")]);
	fs.writeFileSync(path.join(home, ".profile"), "echo >>~/births; read -r x <~/go; export FROM_PROFILE=$x\n");
	return {
		runtime,
		dir: tempDir(),
		begun: () => until("the profile is being read", () => fs.existsSync(path.join(home, "births"))),
		go: () => fs.writeFileSync(path.join(home, "go"), "yes\n"),
	};
}
const births = () => fs.readFileSync(path.join(process.env.HOME as string, "births"), "utf8").length;

/** All that the logs in a home have. */
const logsIn = (home: string): string =>
	(fs.readdirSync(path.join(home, "procs"), { recursive: true }) as string[])
		.filter((name) => /\/out\.\d+$/.test(name))
		.map((name) => fs.readFileSync(path.join(home, "procs", name), "utf8"))
		.join("");

const WAYS = [{}, { background: true }, { pty: true }];

test("an interrupt returns at once, nothing has run, and the next call has the shell that was being born", async () => {
	const { runtime, dir, begun, go } = await slowProfile();
	for (const way of WAYS) {
		const stop = new AbortController();
		const pending = runtime.terminal({ command: `touch ${dir}/ran`, ...way }, { signal: stop.signal });
		await begun();
		stop.abort();
		expect(await pending).toMatchObject({ status: "interrupted", exit_code: null, error: expect.stringContaining("nothing ran") });
	}
	const next = runtime.terminal({ command: "echo $FROM_PROFILE" });
	go();
	const result = await next;
	expect(result).toMatchObject({ status: "exited", output: "yes\n" });
	expect(result).not.toHaveProperty("note");
	expect(births()).toBe(1);
	expect(fs.existsSync(`${dir}/ran`)).toBe(false);
});

test("a call whose time is up says that nothing ran and that the shell is still starting", async () => {
	const { runtime, dir, begun, go } = await slowProfile();
	for (const way of WAYS)
		expect(await runtime.terminal({ command: `touch ${dir}/ran`, ...way }, { within: 100 })).toMatchObject({
			status: "error",
			exit_code: null,
			error: expect.stringMatching(/nothing ran.*still starting.*again/),
		});
	await begun();
	go();
	expect(await runtime.terminal({ command: "echo $FROM_PROFILE", background: true })).toMatchObject({ error: null });
	expect(await runtime.terminal({ command: "echo $FROM_PROFILE" })).toMatchObject({ status: "exited", output: "yes\n" });
	expect(births()).toBe(1);
	expect(fs.existsSync(`${dir}/ran`)).toBe(false);
});

test("the time of a command begins when the shell is sent it: a birth that takes longer than that is waited for", async () => {
	const { runtime, dir, begun, go } = await slowProfile();
	const moved = runtime.shells.run({ task: "default", command: `touch ${dir}/ran`, timeoutMs: 1, onTimeout: "background" });
	await begun();
	go();
	(await moved).release();
	await until("it ran", () => fs.existsSync(`${dir}/ran`));
});

test("closing the runtime waits for no birth, and leaves nothing of it", async () => {
	const { runtime: later, begun } = await slowProfile();
	const runtime = await openRuntime({ home: later.home.root, warm: 0 });
	const pending = runtime.terminal({ command: "true" });
	await begun();
	await runtime.close();
	expect(await pending).toMatchObject({ status: "interrupted", error: expect.stringContaining("nothing ran") });
	expect(later.list({ task: null, shells: true }).every((shell) => isOver(shell.status()))).toBe(true);
});

test("closing the runtime waits for no command: it goes on, is found by its id, and its shell is there afterwards", async () => {
	const home = tempDir("home");
	const later = await testRuntime({ home });
	const runtime = await openRuntime({ home, warm: 0 });
	atEnd(() => runtime.close());
	const dir = tempDir();
	execFileSync("mkfifo", [`${dir}/go`]);
	await runtime.terminal({ command: "mine=1" });
	const pending = runtime.terminal({ command: `echo one; touch ${dir}/begun; mine=2; read -r x <${dir}/go; echo two; cd /usr; (exit 5)` });
	await until("it runs", () => fs.existsSync(`${dir}/begun`));
	await until("what it printed is in a log", () => logsIn(home).includes("one\n"));
	await runtime.close();
	const { session_id, ...result } = await pending;
	expect(result).toMatchObject({ status: "running", exit_code: null, output: "one\n", note: expect.stringContaining("was closed") });
	expect(await later.process({ action: "poll", session_id })).toMatchObject({ status: "running", output: "one\n" });
	expect((await later.terminal({ command: "echo $mine" })).note).toContain("shell of its own");
	fs.writeFileSync(`${dir}/go`, "\n");
	expect(await later.process({ action: "wait", session_id })).toMatchObject({ status: "exited", exit_code: 5, output: "one\ntwo\n" });
	const after = await later.terminal({ command: "echo $mine" });
	expect(after).toMatchObject({ output: "2\n", cwd: "/usr" });
	expect(after).not.toHaveProperty("note");
});

test("POSIXLY_CORRECT does not prevent a shell, and commands start as usual", async () => {
	process.env.POSIXLY_CORRECT = "1";
	atEnd(() => {
		delete process.env.POSIXLY_CORRECT;
	});
	const { run } = await testShell();
	expect(await run("shopt -qo posix; echo $?; cd /usr")).toMatchObject({ code: 0, out: "1\n", notes: [] });
	expect(await run("pwd")).toMatchObject({ out: "/usr\n" });
});

test("a shell that starts while the one before it changes its directory does not say that the old one is gone", async () => {
	const { run, runtime, task } = await testShell();
	await run("cd /usr");
	const from = path.join(procDir(runtime.home, currentOf(runtime, { task, place: "local" }) as string), "shell");
	const { signal } = new AbortController();
	const { bash, notes } = await bear(runtime, { task, cwd: "/tmp", from, nowIn: async () => "/usr", signal });
	expect({ cwd: bash.cwd, notes }).toEqual({ cwd: "/usr", notes: [] });
	await bash.end();
});
