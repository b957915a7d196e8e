/** Each command's output is its own, whichever process prints it and whenever. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { tempDir, until } from "../support/home.js";
import { testShell } from "./harness.js";

const logOf = (shell: Awaited<ReturnType<typeof testShell>>, id: string): string => shell.runtime.get(id).read(0).bytes.toString();

test("what a background job prints later stays with the command that started it", async () => {
	const shell = await testShell();
	const go = path.join(tempDir(), "go");
	const early = await shell.run(`(until [ -e ${go} ]; do read -r _ < <(sleep 0.02); done; echo late) & echo early`);
	expect(early).toMatchObject({ out: "early\n", tracked: true });
	fs.writeFileSync(go, "");
	expect(await shell.run("echo next; wait; echo waited")).toMatchObject({ out: expect.stringMatching(/^next\n(\[1\].*\n)?waited\n$/) });
	await until("the late line is there", () => logOf(shell, early.id) === "early\nlate\n");
	expect(shell.runtime.get(early.id).status()).toMatchObject({ status: "exited", exitCode: 0 });
});

test("ten background jobs and twenty commands do not mix", async () => {
	const shell = await testShell();
	const jobs = await shell.run("for i in 0 1 2 3 4 5 6 7 8 9; do (sleep 0.2; echo $i; sleep 0.2; echo $i) & done");
	for (let i = 0; i < 20; i++) expect((await shell.run(`echo c${i}; sleep 0.03`)).out).toBe(`c${i}\n`);
	await until("all ten have printed twice", () => logOf(shell, jobs.id).split("\n").sort().join("") === "00112233445566778899");
});

test("so does what a detached descendant prints", async () => {
	const shell = await testShell();
	const started = await shell.run('(setsid sh -c "sleep 0.3; echo far" &); nohup sh -c "sleep 0.2; echo near" & echo now');
	expect(started.out).toContain("now\n");
	for (let i = 0; i < 10; i++) expect((await shell.run(`/bin/echo ${i}`)).out).toBe(`${i}\n`);
	await until("both are with the first command", () => /far/.test(logOf(shell, started.id)) && /near/.test(logOf(shell, started.id)));
});

test("a command whose child holds its output ends when the command ends", async () => {
	const shell = await testShell();
	const ran = await shell.run("sleep 300 & echo x; (exit 4)");
	expect(ran).toMatchObject({ code: 4, out: "x\n", tracked: true });
	expect(await shell.runtime.get(ran.id).leftovers()).toHaveLength(1);
});

test("a descendant that is not visible from the shell keeps the log, and is in the list", async () => {
	const shell = await testShell();
	const ran = await shell.run("(setsid sleep 300 >/dev/null 2>&1 </dev/null &); (setsid sleep 301 &); echo x");
	await until("the log that is still held is listed", () => shell.runtime.list({ task: shell.task }).some(({ id }) => id === ran.id));
	expect(logOf(shell, ran.id)).toBe("x\n");
});

test("a command that leaves no trace leaves nothing behind", async () => {
	const shell = await testShell();
	for (const command of ["true", "X=1", "cd /", "echo printed", "/bin/true"]) await shell.run(command);
	expect(shell.runtime.list({ task: shell.task })).toEqual([]);
});

test("what a hidden descendant prints soon after the end is kept, and found in the list", async () => {
	const shell = await testShell();
	const go = path.join(tempDir(), "go");
	const ran = await shell.run(`( (until [ -e ${go} ]; do sleep 0.02; done; echo late) & ); echo now`);
	fs.writeFileSync(go, "");
	await until(
		"it is listed with all of its output",
		() => shell.runtime.list({ task: shell.task }).some(({ id }) => id === ran.id) && logOf(shell, ran.id) === "now\nlate\n",
	);
});

test("a finished command is not in the list also when another program has noticed its end first, and its log is there", async () => {
	const shell = await testShell();
	const result = await shell.shells.run({ task: shell.task, command: "echo x", timeoutMs: 10_000, onTimeout: "kill" });
	expect(shell.runtime.list({ task: shell.task })).toHaveLength(1); // which notes its end
	result.release();
	await until("it is gone", () => shell.runtime.list({ task: shell.task }).length === 0);
	expect(logOf(shell, result.process.id)).toBe("x\n");
});
