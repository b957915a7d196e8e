/** Logs that wait for commands, and whose keepers are killed from outside. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Identity, isAlive } from "../../src/base/proc.js";
import { hasStarted, readParts } from "../../src/keeper/layout.js";
import type { Collector } from "../../src/places/index.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import type { Runtime } from "../support/internal.js";
import { testShell } from "./harness.js";

type Part = "keeper" | "collector" | "child";
const ALL: readonly Part[] = ["keeper", "collector", "child"];

const dirsOf = ({ home }: Runtime): string[] =>
	fs.readdirSync(home.procs).flatMap((shelf) => fs.readdirSync(path.join(home.procs, shelf)).map((id) => path.join(home.procs, shelf, id)));

/** Directories of the logs that no command has. */
const waiting = (runtime: Runtime): string[] =>
	dirsOf(runtime).filter((dir) => fs.existsSync(path.join(dir, "held")) && hasStarted(dir) && !fs.existsSync(path.join(runtime.home.live, path.basename(dir))));

async function kill(dir: string, names: readonly Part[]): Promise<void> {
	const parts = readParts(dir);
	const ids = names.map((name) => parts[name] as Identity);
	for (const { pid } of ids) process.kill(pid, "SIGKILL");
	await until("they are gone", () => !ids.some(isAlive));
}

test.each<{ names: readonly Part[] }>([{ names: ALL }, { names: ["collector", "child"] }, { names: ["keeper", "child"] }, { names: ["collector"] }])(
	"the logs that wait for commands lose $names: the next commands are answered with all they print",
	async ({ names }) => {
		const shell = await testShell();
		await shell.run("echo before");
		await until("two wait", () => waiting(shell.runtime).length >= 2);
		for (const dir of waiting(shell.runtime)) await kill(dir, names);
		for (const word of ["one", "two"])
			expect(await shell.run(`echo ${word}; (exit 3)`, { timeoutMs: 20_000 })).toMatchObject({ end: "exited", code: 3, out: `${word}\n`, notes: [] });
	},
);

test("a log that is killed after a command was put there, and before the shell has opened it: the command runs, and its output is said to be lost", async () => {
	const shell = await testShell();
	const bash = await shell.pid();
	process.kill(bash, "SIGSTOP");
	const file = path.join(tempDir(), "file");
	const ran = shell.run(`echo unseen; echo ran >${file}; (exit 4)`, { timeoutMs: 20_000 });
	const sent = () => shell.runtime.list({ task: shell.task }).find(({ spec }) => spec.command.includes("unseen"));
	await until("it is there", () => sent() !== undefined);
	await kill(sent()?.dir as string, ALL);
	process.kill(bash, "SIGCONT");
	expect(await ran).toMatchObject({ end: "exited", code: 4, out: "", notes: [expect.stringContaining("output is lost")] });
	expect(fs.readFileSync(file, "utf8")).toBe("ran\n");
	expect(await shell.run("echo next")).toMatchObject({ code: 0, out: "next\n", notes: [] });
});

test("warm keepers whose collectors were killed are not used, for a process or a log", async () => {
	const runtime = await testRuntime({ warm: 1 });
	const shell = await testShell(runtime);
	const killWarm = async () => {
		const isWarm = (dir: string) => readParts(dir).collector !== undefined && !hasStarted(dir) && !fs.existsSync(path.join(dir, "held"));
		await until("one is warm", () => dirsOf(runtime).some(isWarm));
		await kill(dirsOf(runtime).find(isWarm) as string, ["collector"]);
	};
	await (await runtime.spawn({ task: "t", command: "true" })).wait();
	await killWarm();
	const process = await runtime.spawn({ task: "t", command: "echo printed" });
	expect(await process.wait()).toMatchObject({ status: { status: "exited", exitCode: 0 } });
	expect(textOf(process)).toBe("printed\n");
	await killWarm();
	expect(await shell.run("echo printed")).toMatchObject({ code: 0, out: "printed\n" });
});

test("a log that another program has let go in order is not said to be lost; one whose collector was killed is", async () => {
	const { local } = await testRuntime();
	const [done, killed] = await Promise.all([local.keepers.hold({}, { spare: false }), local.keepers.hold({}, { spare: false })]);
	const [ofDone, ofKilled] = [done, killed].map(({ dir }) => local.collector(dir)) as [Collector, Collector];
	expect([ofDone.collects(), ofKilled.collects()]).toEqual([true, true]);
	await done.letGo();
	await until("its collector has ended", () => !isAlive(readParts(done.dir).collector as Identity));
	await kill(killed.dir, ["collector"]);
	expect([ofDone.collects(), ofKilled.collects()]).toEqual([true, false]);
	for (const collector of [ofDone, ofKilled]) collector.close();
	await killed.letGo();
	for (const held of [done, killed]) held.remove();
});
