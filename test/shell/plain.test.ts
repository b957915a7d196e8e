/** Commands after which a shell need not write its state down again, and those that only look like it. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { childrenOf } from "../../src/base/proc.js";
import { findCgroups } from "../../src/keeper/cgroup.js";
import { readState } from "../../src/keeper/layout.js";
import { knowsPlain, looksPlain } from "../../src/shell/plain.js";
import { readState as readShellState, type ShellState } from "../../src/shell/state.js";
import { hasGroups } from "../limits/support.js";
import { tempDir, until } from "../support/home.js";
import { type Ran, TestShell, testShell } from "./harness.js";

test.each([
	"true",
	"ls -la src",
	"git status",
	"npm run build",
	"/usr/bin/env",
	"./x.sh a.b,c",
	"echo hello",
	"test -f x",
	"sleep 5",
	"python3 -m http.server",
])("plain: %s", (command) => {
	expect(looksPlain(command)).toBe(true);
});

test.each([
	"cd src",
	"X=1",
	"export X",
	"ls; cd /",
	"ls > f",
	"echo $X",
	"echo `x`",
	"a && b",
	"a | b",
	"a & b",
	"ls *",
	"ls ~",
	"a {b,c}",
	"'x'",
	"x\ny",
	". f",
	"source f",
	"%1",
	"exec ls",
	"time ls",
	"! ls",
	"[ a",
	"printf -v X a",
	"read x",
	"unset X",
	"",
	" ls",
	"let a",
	"a=1 b",
])("not plain: %j", (command) => {
	expect(looksPlain(command)).toBe(false);
});

describe("what a plain-looking command does to the shell is not lost when the shell dies", () => {
	const CASES: [string, string[], string, string][] = [
		["a function", ["go() { cd /usr; X=1; }", "go"], "echo $PWD $X", "/usr 1\n"],
		["an alias", ["alias go='cd /usr; X=1'", "go"], "echo $PWD $X", "/usr 1\n"],
		["a function in the place of a builtin", ["true() { X=1; }", "true"], "echo $X", "1\n"],
		["a DEBUG trap", ["trap 'N=$((N + 1))' DEBUG", "true", "trap - DEBUG"], "echo $((N > 2))", "1\n"],
		["what came just before it", ["X=1; cd /usr", "true", "/bin/true", "ls -d ."], "echo $PWD $X", "/usr 1\n"],
	];
	test.each(CASES)("%s", async (_name, commands, look, out) => {
		const shell = await testShell();
		for (const command of commands) await shell.run(command);
		await shell.shells.context({ task: shell.task }); // its state is written
		const [bash] = shell.runtime.list({ task: shell.task, shells: true, ended: false });
		process.kill(bash?.pid as number, "SIGKILL");
		expect((await shell.run(look)).out).toBe(out);
	});
});

test("the state is known right after a plain command, and to another runtime too", async () => {
	const shell = await testShell();
	await shell.run("export X=1; cd /usr");
	await shell.run("true");
	expect(await shell.shells.context({ task: shell.task })).toMatchObject({ cwd: "/usr", env: { X: "1" } });
	const other = await testShell(shell.runtime);
	expect(await other.shells.context({ task: shell.task })).toMatchObject({ cwd: "/usr", env: { X: "1" } });
});

describe("a plain command is sent in the line itself, with the same results as in a file", () => {
	const PROGRAMS: Record<string, string> = {
		killed: "kill -KILL $$",
		terminated: "kill -TERM $$",
		interrupted: "echo before; kill -INT $$",
		prints: "echo out; echo err >&2",
	};

	test.each([
		"nosuchcommand",
		"./killed",
		"./terminated",
		"./interrupted",
		"./prints",
		"./no-interpreter",
		"./not-executable",
		".",
		"./",
		"test 1 -eq x",
		"test -f nothing",
		"echo a  b",
		"echo 5",
		"pwd",
		"false",
		"cat",
		"printenv PS1",
		"printenv HOLDFAST_ID PROMPT_COMMAND",
		"printenv TMOUT",
	])("%s", async (command) => {
		const dir = tempDir();
		for (const [name, text] of Object.entries(PROGRAMS)) fs.writeFileSync(path.join(dir, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
		fs.writeFileSync(path.join(dir, "no-interpreter"), "#!/nowhere\n", { mode: 0o755 });
		fs.writeFileSync(path.join(dir, "not-executable"), "", { mode: 0o644 });
		const shell = await testShell();
		await shell.run(`cd ${dir}; export PS1='> '`);
		const said = async (text: string) => {
			const { end, code, out, id, cwd, notes } = await shell.run(text);
			return { end, code, out: out.replaceAll(id, "ID"), cwd, notes };
		};
		const fromFile = await said(`${command};`);
		await shell.shells.context({ task: shell.task }); // its state is known
		expect(await said(command)).toEqual(fromFile);
		expect(begunOf(shell)).toMatch(looksPlain(command) ? / plain *\n/ : /\.\d+ *\n/);
		expect((await shell.run("echo $?")).out).toBe(`${fromFile.code}\n`);
		expect((await shell.run("history 3 | sed 's/^ *[0-9]*  //'")).out).toBe(`${command}\necho $?\nhistory 3 | sed 's/^ *[0-9]*  //'\n`);
	});

	test.each([
		["IFS=0123456789", "./ends", true],
		["set -C", "./ends", true],
		["shopt -s autocd", "/usr", false],
		["set -m", "./stops", false],
		["trap 'echo E' ERR", "./ends", false],
		["trap 'echo D' DEBUG", "true", false],
	])("after %s: %s", async (before, command, inLine) => {
		const dir = tempDir();
		for (const [name, text] of Object.entries({ ends: "echo out; exit 3", stops: "kill -STOP $$" }))
			fs.writeFileSync(path.join(dir, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
		const said = async (text: string) => {
			const shell = await testShell();
			await shell.run(`cd ${dir}; ${before}`);
			await shell.shells.context({ task: shell.task });
			const { end, code, out, cwd } = await shell.run(text);
			const begun = begunOf(shell);
			await shell.run("[[ ! -o monitor ]] || kill -KILL %1");
			return { said: { end, code, out, cwd }, inLine: begun.includes(" plain") };
		};
		const fromFile = await said(`${command};`);
		expect(await said(command)).toEqual({ ...fromFile, inLine });
		expect(fromFile.said.cwd).toBe(dir);
	});

	test("where the shell is afterwards is looked up", async () => {
		const dir = tempDir();
		const shell = await testShell();
		await shell.run(`mkdir -p ${dir}/a ${dir}/c; ln -s c ${dir}/link; cd ${dir}/a`);
		await shell.shells.context({ task: shell.task });
		expect(await plainly(shell, "mv ../a ../b")).toMatchObject({ code: 0, cwd: `${dir}/b`, notes: [] });
		expect(await plainly(shell, "ls ../b")).toMatchObject({ code: 0, cwd: `${dir}/b`, notes: [] });
		await shell.run("cd ../link");
		await shell.shells.context({ task: shell.task });
		expect(await plainly(shell, "ln -sfn b ../link")).toMatchObject({ code: 0, cwd: `${dir}/c` });
		const other = new TestShell((await testShell(shell.runtime)).shells, shell.runtime, shell.task);
		await other.run("cd /usr");
		await shell.shells.context({ task: shell.task });
		expect(await plainly(shell, "pwd")).toMatchObject({ out: "/usr\n", cwd: "/usr" });
	});

	// bash itself tries for fifteen seconds
	test.skipIf(!hasGroups || process.env.SOAK !== "1")("when no process can be started for it, that is said (needs control groups)", async () => {
		const shell = await testShell();
		await shell.run("x=kept");
		await shell.shells.context({ task: shell.task });
		const [bash] = shell.runtime.list({ task: shell.task, shells: true, ended: false }).filter(({ spec }) => spec.kind === "shell");
		const { base = "" } = findCgroups()?.treeOf("pids") ?? {};
		const lines = fs.readFileSync(`/proc/${bash?.pid}/cgroup`, "utf8").split("\n");
		const groups = lines.map((line) => path.join(base, line.split(`/${path.basename(base)}/`)[1] ?? "."));
		const group = groups.find((dir) => dir !== base && fs.existsSync(path.join(dir, "pids.max"))) as string;
		fs.writeFileSync(path.join(group, "pids.max"), "1");
		const ran = await shell.run("/bin/echo out");
		fs.writeFileSync(path.join(group, "pids.max"), "max");
		expect(ran).toMatchObject({ end: "exited", code: 254, out: expect.stringContaining("fork: Resource temporarily unavailable\n") });
		expect((await plainly(shell, "/bin/echo out")).out).toBe("out\n");
		expect((await shell.run("echo $x")).out).toBe("kept\n");
	});

	test("a plain command runs once, also when bash runs its line a second time, as it may after a signal", async () => {
		const dir = tempDir();
		fs.writeFileSync(path.join(dir, "count"), `#!/bin/sh\necho x >>${dir}/counted\n`, { mode: 0o755 });
		const shell = await testShell();
		await shell.run(`cd ${dir}`);
		await shell.shells.context({ task: shell.task });
		await plainly(shell, "./count");
		const [bash] = shell.runtime.list({ task: shell.task, shells: true, ended: false }).filter(({ spec }) => spec.kind === "shell");
		fs.writeFileSync(path.join(bash?.dir as string, "in"), `__hf_n=${begunOf(shell).split(" ", 1)};__hf_begins './count'&&{ ./count;}\n`);
		expect((await shell.run("echo after")).out).toBe("after\n");
		expect(fs.readFileSync(path.join(dir, "counted"), "utf8")).toBe("x\n");
	});

	test("an interrupt ends a plain command, and the shell stays as it was", async () => {
		const shell = await testShell();
		await shell.run("X=1; cd /usr");
		await shell.shells.context({ task: shell.task });
		const pid = await plainly(shell, "printenv HOME").then(() => shell.runtime.list({ task: shell.task, shells: true })[0]?.pid);
		const stop = new AbortController();
		const running = shell.run("sleep 300", { signal: stop.signal });
		await until("it runs", () => begunOf(shell).includes(" plain") && childrenOf(pid as number).length > 0);
		stop.abort();
		expect(await running).toMatchObject({ end: "interrupted", code: 130 });
		expect((await shell.run("echo $X $PWD $$")).out).toBe(`1 /usr ${pid}\n`);
	});

	test("a plain command that takes too long goes on in the background, and its log closes when it has ended", async () => {
		const dir = tempDir();
		fs.writeFileSync(path.join(dir, "slow"), `#!/bin/sh\nuntil [ -e ${dir}/go ]; do sleep 0.01; done\necho done\n`, { mode: 0o755 });
		const shell = await testShell();
		await shell.run(`cd ${dir}`);
		await shell.shells.context({ task: shell.task });
		const { process: slow, end } = await shell.shells.run({ task: shell.task, command: "./slow", timeoutMs: 50, onTimeout: "background" });
		expect(end).toBe("running");
		fs.writeFileSync(path.join(dir, "go"), "");
		expect((await slow.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
		await until("its log is closed", () => readState(slow.dir).kind === "closed");
		expect(slow.read(0).bytes.toString()).toBe("done\n");
	});

	test("a plain command may give the shell's directory another name", async () => {
		const dir = tempDir();
		const shell = await testShell();
		await shell.run(`mkdir ${dir}/old; cd ${dir}/old`);
		await shell.shells.context({ task: shell.task });
		expect(await plainly(shell, "mv ../old ../new")).toMatchObject({ code: 0, cwd: `${dir}/new` });
		expect(await shell.run("pwd -P")).toMatchObject({ out: `${dir}/new\n`, notes: [] });
	});

	test("its id is in the environment, also after a command has removed it", async () => {
		const shell = await testShell();
		await shell.run("unset HOLDFAST_ID");
		await shell.shells.context({ task: shell.task });
		const { out, id } = await plainly(shell, "printenv HOLDFAST_ID");
		expect(out).toBe(`${id}\n`);
		await shell.run("export -n HOLDFAST_ID");
		await shell.shells.context({ task: shell.task });
		const again = await plainly(shell, "printenv HOLDFAST_ID");
		expect(again.out).toBe(`${again.id}\n`);
	});

	test("the recorded text of a plain command is its own, not the one that was in the file before", async () => {
		const shell = await testShell();
		await shell.run(": something else");
		await shell.shells.context({ task: shell.task });
		const { process: plain, release } = await shell.shells.run({ task: shell.task, command: "pwd", timeoutMs: 30_000, onTimeout: "kill" });
		const text = plain.command();
		release();
		expect(text).toBe("pwd");
	});

	test("a shell of an older version gets the text in a file", async () => {
		const shell = await testShell();
		await shell.run("true;");
		await shell.shells.context({ task: shell.task });
		const [bash] = shell.runtime.list({ task: shell.task, shells: true });
		const state = readShellState(path.join(bash?.dir as string, "shell"));
		expect(state && knowsPlain(state)).toBe(true);
		expect(knowsPlain({ ...(state as ShellState), names: new Set(["__hf_pre", "__hf_post"]) })).toBe(false);
	});
});

/** The command that its shell took last. */
function begunOf({ runtime, task }: TestShell): string {
	const bash = runtime.list({ task, shells: true, ended: false }).find(({ spec }) => spec.kind === "shell");
	return fs.readFileSync(path.join(bash?.dir as string, "shell", "begun"), "utf8");
}

async function plainly(shell: TestShell, command: string): Promise<Ran> {
	const ran = await shell.run(command);
	expect(begunOf(shell)).toContain(" plain");
	return ran;
}
