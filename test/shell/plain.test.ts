/** Commands after which a shell need not write its state down again, and those that only look like it. */
import { describe, expect, test } from "vitest";
import { looksPlain } from "../../src/shell/plain.js";
import { testShell } from "./harness.js";

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
