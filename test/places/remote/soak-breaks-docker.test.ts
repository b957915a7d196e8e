/** The program, the engine or the container goes: nothing is lost that could be kept, and what is lost is said. More is in soak-docker.test.ts. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { startAndDie } from "../../fixtures/programs.js";
import { dockerBox, TASK } from "../../support/docker-box.js";
import { noEngine, ownEngine, startDaemon, stopDaemon } from "../../support/dockerd.js";
import { until } from "../../support/home.js";
import { noScriptRunsOn } from "../../support/on-box.js";
import { copyWithKills } from "../../support/readers.js";
import { rounds } from "../../support/seed.js";

const why = noEngine();
const PATIENCE = { timeout: 120_000 };

describe.skipIf(why)(`in a container${why ? `: ${why}` : ""}`, () => {
	test("no end of a script in a container lets the rest of it run: a kill, a deadline, a limit of time", PATIENCE, async () => {
		const { open } = await dockerBox();
		await noScriptRunsOn(await open());
	});

	test("a removed container: its processes are lost, a look makes no new one, and the next command has one and says so, once", PATIENCE, async () => {
		const { open, container, state } = await dockerBox();
		const runtime = await open();
		await runtime.terminal({ command: "cd /tmp; export A=1; echo x >/root/file" });
		const { session_id } = await runtime.terminal({ command: "echo before; sleep 300", background: true });
		await runtime.process({ action: "wait", session_id, until: { pattern: "before" } });
		const waiting = runtime.process({ action: "wait", session_id });
		await container.remove({ force: true });
		const lost = { status: "lost", exit_code: null, note: expect.stringContaining("the container that it ran in was removed") };
		expect(await waiting).toMatchObject({ ...lost, output: "before\n" });
		expect(await runtime.process({ action: "poll", session_id, byte_offset: 0 })).toMatchObject({ ...lost, output: "before\n" });
		expect(await runtime.process({ action: "kill", session_id })).toMatchObject({ status: "already_exited", signalled: [], survivors: [] });
		expect(await runtime.process({ action: "list" })).toMatchObject({ processes: [{ status: "lost" }] });
		expect(await state()).toBeUndefined();
		const next = await runtime.terminal({ command: 'pwd; echo "[$A]"; ls /root' });
		expect(next).toMatchObject({ status: "exited", output: "/root\n[]\n", cwd: "/root" });
		expect(next.note).toMatch(/The container was gone and has been made again from holdfast\/full:1: the files and processes that were in it are lost\./);
		expect(await runtime.terminal({ command: "true" })).not.toHaveProperty("note");
	});

	test("a container removed under a command: the command is lost, with the reason", PATIENCE, async () => {
		const { open, container, home } = await dockerBox();
		const runtime = await open();
		const call = runtime.terminal({ command: "echo before; sleep 300" });
		await until("what it printed is here", () => logsIn(home).includes("before\n"));
		await container.remove({ force: true });
		expect(await call).toMatchObject({ status: "lost", exit_code: null, output: "before\n", note: expect.stringContaining("made again") });
		expect(await runtime.terminal({ command: "echo usable" })).toMatchObject({ status: "exited", output: "usable\n" });
	});

	test("a container removed while no runtime was open: the next runtime says so", PATIENCE, async () => {
		const { open, container } = await dockerBox();
		const first = await open();
		const { session_id } = await first.terminal({ command: "sleep 300", background: true });
		await first.close();
		await container.remove({ force: true });
		const second = await open();
		expect(await second.process({ action: "list" })).toMatchObject({ processes: [{ session_id, status: "lost" }] });
		expect(await second.terminal({ command: "echo here" })).toMatchObject({
			output: "here\n",
			note: expect.stringContaining("was gone and has been made again"),
		});
	});

	test("a reader killed again and again while a process in a container prints a million lines misses nothing and repeats nothing", {
		timeout: 180_000,
	}, async () => {
		const { home, dir, open } = await dockerBox();
		const hurry = `${dir}/hurry`;
		// Ever more slowly, so that the lines never run out, and the rest at once when the file is there.
		const batch = `n=$((1000000 - i)); [ -e ${hurry} ] || { n=$((n / 400)); sleep 0.1; }`;
		const print = `i=1; while [ $i -le 1000000 ]; do ${batch}; seq $i $((i + n)); i=$((i + n + 1)); done`;
		const id = await startAndDie(home, { command: `${print}; read -r line; echo "got: $line"; exit 7`, task: TASK, stdin: true }, "box");
		await copyWithKills({ home, id, hurry, open, kills: rounds(6, 20) });
	});

	test("dockerd restarted during a follow: the container goes on, and every byte comes once", PATIENCE, async () => {
		const engine = await ownEngine();
		const { open } = await dockerBox({ engine });
		const runtime = await open();
		const kept = await runtime.spawn({ command: "for i in $(seq 60); do seq 2000; sleep 0.1; done; exit 4" });
		const pieces: Buffer[] = [];
		let restarted: Promise<void> | undefined;
		for await (const { bytes } of kept.follow()) {
			pieces.push(bytes);
			restarted ??= stopDaemon(engine, "SIGKILL").then(() => startDaemon(engine));
		}
		await restarted;
		const numbers = `${Array.from({ length: 2000 }, (_, i) => i + 1).join("\n")}\n`;
		expect(Buffer.concat(pieces).toString() === numbers.repeat(60)).toBe(true);
		expect(kept.status()).toMatchObject({ status: "exited", exitCode: 4 });
	});
});

/** What has come of all logs, of processes and of commands that nobody lists yet. */
function logsIn(home: string): string[] {
	const procs = path.join(home, "procs");
	const names = fs.readdirSync(procs, { recursive: true, encoding: "utf8" }).filter((name) => path.basename(name).startsWith("out."));
	return names.map((name) => fs.readFileSync(path.join(procs, name), "utf8"));
}
