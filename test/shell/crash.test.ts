/** `kill -9` of the program that runs commands in a shell: the command goes on, and so does the shell. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { isAlive } from "../../src/base/proc.js";
import { readParts } from "../../src/keeper/layout.js";
import { run } from "../fixtures/programs.js";
import { tempDir, testRuntime, until } from "../support/home.js";
import type { Runtime } from "../support/internal.js";
import { rounds } from "../support/seed.js";
import { testShell } from "./harness.js";

const only = (runtime: Runtime) => {
	const [process, ...more] = runtime.list({ task: "t" });
	if (!process || more.length > 0) throw new Error("expected one process");
	return process;
};

async function onHome(home: string) {
	const shell = await testShell(await testRuntime({ home }));
	return { shell: shell.another("t"), runtime: shell.runtime };
}

test("a command in the foreground goes on, its output and code are there, and so is the shell with what the command has set", async () => {
	const home = tempDir("home");
	const go = path.join(home, "go");
	const program = run(
		"shell.mjs",
		home,
		"t",
		"cd /usr; export K=v; Z=9; f() { echo fn; }",
		`echo begun; until [ -e ${go} ]; do sleep 0.02; done; for i in {1..300}; do echo line $i; done; cd /usr/lib; (exit 5)`,
	);
	expect([await program.line(), await program.line()]).toEqual(["ready", "done 0"]);
	const { shell, runtime } = await onHome(home);
	await until("it prints", () => runtime.list({ task: "t" })[0]?.log.bounds().end === 6);
	await program.kill();

	const process = only(runtime);
	expect(process.status()).toMatchObject({ status: "running" });
	const meanwhile = await shell.run("echo $K $Z; f");
	expect(meanwhile).toMatchObject({ out: "v 9\nfn\n", notes: [expect.stringContaining("a shell of its own")] });
	fs.writeFileSync(go, "");
	const { status } = await process.wait({ timeout: 100_000 });
	expect(status).toMatchObject({ status: "exited", exitCode: 5 });
	expect(process.read(0).bytes.toString()).toBe(`begun\n${Array.from({ length: 300 }, (_, i) => `line ${i + 1}\n`).join("")}`);
	expect(await shell.run("echo $K $Z $PWD; f")).toMatchObject({ code: 0, out: "v 9 /usr/lib\nfn\n", notes: [] });
	await until("its log has closed and its keepers are gone", () => Object.values(readParts(process.dir)).every((part) => !isAlive(part)));
});

test("the same for a command that ends its shell while no program looks", async () => {
	const home = tempDir("home");
	const go = path.join(home, "go");
	const program = run("shell.mjs", home, "t", "K=v", `echo begun; until [ -e ${go} ]; do sleep 0.02; done; exec sh -c 'echo last; exit 6'`);
	expect([await program.line(), await program.line()]).toEqual(["ready", "done 0"]);
	const { shell, runtime } = await onHome(home);
	await until("it prints", () => runtime.list({ task: "t" })[0]?.log.bounds().end === 6);
	await program.kill();
	const process = only(runtime);
	const ended = process.wait({ timeout: 100_000 });
	fs.writeFileSync(go, "");
	expect((await ended).status).toMatchObject({ status: "exited", exitCode: 6 });
	expect(process.read(0).bytes.toString()).toBe("begun\nlast\n");
	expect((await shell.run("echo $K")).out).toBe("v\n");
	await until("its keepers are gone", () => Object.values(readParts(process.dir)).every((part) => !isAlive(part)));
});

test.each(["", `: ${"x".repeat(100_000)}\n`])("killed between and inside commands, again and again: none torn, none twice (%#)", async (filler) => {
	for (let round = 0; round < rounds(3, 12); round++) {
		const home = tempDir("home");
		const count = path.join(home, "count");
		const program = run("shell.mjs", home, "t", "N=0", `${filler}N=$((N + 1)); echo $N >>${count}`, "again");
		await until("some have run", () => fs.existsSync(count) && fs.statSync(count).size > 20 + 7 * round);
		await program.kill();
		const { shell } = await onHome(home);
		await until("what was sent has been run", () => {
			const busy = fs
				.readdirSync(path.join(home, "shells"))
				.some((key) => fs.readdirSync(path.join(home, "shells", key)).some((name) => name.startsWith("busy.")));
			return !busy || shell.runtime.list({ task: "t" }).every((process) => process.status().status !== "running");
		});
		const { out } = await shell.run("echo $N");
		const lines = fs.readFileSync(count, "utf8").trim().split("\n").map(Number);
		expect(lines).toEqual(lines.map((_, i) => i + 1));
		expect(out).toBe(`${lines.length}\n`);
	}
});

test("a command whose sender died before the shell got it never runs, and is not in the way of the next", async () => {
	const home = tempDir("home");
	const file = path.join(home, "ran");
	const program = run("shell-unsent.mjs", home, "t", "K=v", `touch ${file}`);
	expect(await program.ended).toBe("SIGKILL");
	const { shell, runtime } = await onHome(home);
	const [process] = runtime.list({ task: "t" });
	expect(process?.spec.command).toContain("touch");
	expect(process?.status()).toMatchObject({ status: "error", reason: expect.stringContaining("nothing ran") });
	expect(await shell.run("echo $K")).toMatchObject({ out: "v\n", notes: [] });
	expect(fs.existsSync(file)).toBe(false);
});

test("two runtimes on one home take turns in one shell", async () => {
	const home = tempDir("home");
	const one = await onHome(home);
	const two = await onHome(home);
	await one.shell.run("A=1");
	await two.shell.run("A=$((A + 1)); cd /usr");
	expect(await one.shell.run("echo $A $PWD")).toMatchObject({ out: "2 /usr\n", cwd: "/usr", notes: [] });
	await two.shell.run("exit 0");
	expect(await one.shell.run("echo $A $PWD")).toMatchObject({ out: "2 /usr\n" });
	expect(await two.shell.pid()).toBe(await one.shell.pid());
});

test("a runtime that closes leaves the shell; the next one finds it", async () => {
	const home = tempDir("home");
	const one = await onHome(home);
	await one.shell.run("A=1; cd /usr");
	const pid = await one.shell.pid();
	await one.shell.shells.close();
	const two = await onHome(home);
	expect(await two.shell.run("echo $A $PWD $$")).toMatchObject({ out: `1 /usr ${pid}\n`, cwd: "/usr" });
});

test("ending a shell leaves what it has started, and its state for the next one", async () => {
	const { shell, runtime } = await onHome(tempDir("home"));
	const job = await shell.run("A=1; sleep 300 & echo $!");
	const pid = await shell.pid();
	await shell.shells.end("t");
	expect(isAlive({ pid, start: readParts(runtime.list({ shells: true, task: "t" }).find(({ spec }) => spec.kind)?.dir ?? "").child?.start ?? "" })).toBe(false);
	expect(fs.existsSync(`/proc/${job.out.trim()}`)).toBe(true);
	expect((await shell.run("echo $A")).out).toBe("1\n");
});

test("orphaned shells of a killed program end", async () => {
	const home = tempDir("home");
	const go = path.join(home, "go");
	const program = run("shell.mjs", home, "t", "K=v", `until [ -e ${go} ]; do sleep 0.02; done`);
	expect([await program.line(), await program.line()]).toEqual(["ready", "done 0"]);
	const beside = run("shell.mjs", home, "t", `echo beside; until [ -e ${go} ]; do sleep 0.02; done`);
	const { shell, runtime } = await onHome(home);
	await until("both run, each in a shell", () => runtime.list({ task: "t", shells: true, ended: false }).length === 4);
	await Promise.all([program.kill(), beside.kill()]);
	fs.writeFileSync(go, "");
	await until("both have ended", () => runtime.list({ task: "t", ended: false }).length === 0);
	const other = await onHome(home);
	expect((await other.shell.run("echo $K")).out).toBe("v\n"); // it looks once, with its first command
	await until("one shell is left", () => runtime.list({ task: "t", shells: true, ended: false }).length === 1);
	expect((await shell.run("echo $K")).out).toBe("v\n");
});
