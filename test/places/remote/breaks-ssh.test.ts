/** The program, the connection, the server or the network goes, and nothing is lost. More of what breaks is in soak-ssh.test.ts. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fixture, type Program, run, startAndDie } from "../../fixtures/programs.js";
import { cuttable, known } from "../../support/cuttable.js";
import { until } from "../../support/home.js";
import { noScriptRunsOn } from "../../support/on-box.js";
import { copyWithKills } from "../../support/readers.js";
import { rounds, seeded } from "../../support/seed.js";
import { QUICK, sshBox, TASK } from "../../support/ssh-box.js";
import { noSshd } from "../../support/sshd.js";

const PATIENCE = { timeout: 90_000 };
const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

describe.skipIf(noSshd)(`over SSH${noSshd ? ` (${noSshd})` : ""}`, () => {
	test("no end of a remote script lets the rest of it run: a kill, a deadline, a limit of time", PATIENCE, async () => {
		const { open } = await sshBox();
		await noScriptRunsOn(await open());
	});

	describe("kill -9 of the runtime", () => {
		test("a reader killed again and again while a remote process prints a million lines misses nothing and repeats nothing", PATIENCE, async () => {
			const { home, open } = await sshBox();
			const hurry = path.join(home, "hurry");
			const id = await startAndDie(home, { command: `exec perl '${fixture("numbers.pl")}' '${hurry}'`, task: TASK, stdin: true }, "box");
			await copyWithKills({ home, id, hurry, open, kills: rounds(6, 20) });
		});

		test("the next one has the same shell with its state, and finds the command that was running, with its output and its code", PATIENCE, async () => {
			const { home, dir, open } = await sshBox();
			execFileSync("mkfifo", [`${dir}/go`]);
			const first: Program = run(
				"terminal.mjs",
				home,
				"box",
				TASK,
				"cd /usr; x=kept; echo $$",
				`echo x >>${dir}/runs; read -r y <${dir}/go; echo $y; (exit 3)`,
			);
			expect(await first.line()).toBe("ready");
			const shell = JSON.parse((await first.line()) ?? "{}").output;
			await until("the second runs", () => fs.existsSync(`${dir}/runs`));
			await first.kill();
			const runtime = await open();
			const { processes = [] } = await runtime.process({ action: "list" });
			const [running, ...more] = processes.filter(({ status }) => status === "running"); // the first may be there too: killed right after its answer, the program had no time to take it off the list
			expect([running, more]).toMatchObject([{ status: "running", exit_code: null }, []]);
			fs.writeFileSync(`${dir}/go`, "later\n");
			expect(await runtime.process({ action: "wait", session_id: running?.session_id })).toMatchObject({
				status: "exited",
				exit_code: 3,
				output: "later\n",
			});
			expect(await runtime.terminal({ command: "echo $$; pwd; echo $x" })).toMatchObject({ output: `${shell}/usr\nkept\n`, exit_code: 0 });
			expect(fs.readFileSync(`${dir}/runs`, "utf8")).toBe("x\n");
		});
	});

	test("what a command has printed and reaches its log too late is not in the result of the next", PATIENCE, async () => {
		const { dir, open } = await sshBox();
		const runtime = await open();
		for (const _ of [1, 2]) await runtime.terminal({ command: "true" }); // what leaves no trace is for the next command as well
		// It stops the program that copies its own output.
		const stop = `for p in /proc/[0-9]*; do if [[ $p/fd/0 -ef /dev/stdout ]]; then kill -STOP "\${p#/proc/}"; echo "\${p#/proc/}" >${dir}/stopped; fi; done`;
		fs.writeFileSync(`${dir}/stop.sh`, stop);
		expect(await runtime.terminal({ command: `. ${dir}/stop.sh; echo late` })).toMatchObject({ exit_code: 0, output: "" });
		expect(await runtime.terminal({ command: `read -r p <${dir}/stopped; kill -CONT $p; echo next` })).toMatchObject({ exit_code: 0, output: "next\n" });
	});

	describe("kill -9 of the connection", () => {
		test("during a follow: every byte, once", PATIENCE, async () => {
			const { open, killMaster } = await sshBox();
			const runtime = await open();
			const process = await runtime.spawn({ command: "for i in $(seq 40); do seq 5000; sleep 0.05; done; exit 4" });
			const pieces: Buffer[] = [];
			let kills = 0;
			for await (const { bytes } of process.follow()) {
				pieces.push(bytes);
				if (kills < 3 && Buffer.concat(pieces).length > (kills + 1) * 100_000 && killMaster()) kills++;
			}
			expect(kills).toBe(3);
			const numbers = `${Array.from({ length: 5000 }, (_, i) => i + 1).join("\n")}\n`;
			expect(Buffer.concat(pieces).toString() === numbers.repeat(40)).toBe(true);
			expect(process.status()).toMatchObject({ status: "exited", exitCode: 4 });
		});

		test("during a foreground command: it completes, and has run once", PATIENCE, async () => {
			const { dir, open, killMaster } = await sshBox();
			const runtime = await open();
			execFileSync("mkfifo", [`${dir}/go`]);
			const call = runtime.terminal({ command: `echo x >>${dir}/runs; echo one; read -r x <${dir}/go; echo two; (exit 5)` });
			await until("it runs", () => fs.existsSync(`${dir}/runs`));
			expect(killMaster()).toBe(true);
			fs.writeFileSync(`${dir}/go`, "\n");
			expect(await call).toMatchObject({ status: "exited", exit_code: 5, output: "one\ntwo\n" });
			expect(fs.readFileSync(`${dir}/runs`, "utf8")).toBe("x\n");
		});

		test("at whatever moment: a command never runs twice, and its result is true", PATIENCE, async () => {
			const { dir, open, killMaster } = await sshBox();
			const runtime = await open();
			await runtime.terminal({ command: "true" });
			const random = seeded("kills of the connection");
			let kills = 0;
			for (let round = 0; round < 10; round++) {
				const call = runtime.terminal({ command: `echo ${round} >>${dir}/runs; echo ran ${round}` });
				await sleep(random() * 60);
				if (killMaster()) kills++;
				const result = await call;
				const runs = fs.existsSync(`${dir}/runs`) ? fs.readFileSync(`${dir}/runs`, "utf8").split("\n") : [];
				const times = runs.filter((line) => line === String(round)).length;
				if (result.status === "exited") expect([result.output, result.exit_code, times]).toEqual([`ran ${round}\n`, 0, 1]);
				else expect([result.status, times <= 1, result.error]).toEqual(["error", true, expect.any(String)]);
			}
			expect(kills).toBeGreaterThan(2);
			expect(await runtime.terminal({ command: "echo usable" })).toMatchObject({ output: "usable\n" });
		});

		test("during a write: what has arrived is what is said", PATIENCE, async () => {
			const { dir, open, killMaster } = await sshBox();
			const runtime = await open();
			const kept = await runtime.spawn({ command: `cat >${dir}/got`, stdin: true });
			const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `${i}\n`).join(""));
			const writing = kept.write(bytes).then(
				() => bytes.length,
				(error: Error) => error,
			);
			await until("some of it has arrived", () => sizeOf(`${dir}/got`) > 20_000);
			expect(killMaster()).toBe(true);
			const said = await writing;
			const [, least, perhaps] = said instanceof Error ? (/: (\d+) of \d+ bytes are there, the next (\d+) may be/.exec(said.message) ?? []) : [];
			const there = said instanceof Error ? Number(least) : bytes.length;
			await until("it has all been taken", () => sizeOf(`${dir}/got`) >= there);
			await kept.write("end"); // the next works
			await kept.closeStdin();
			await kept.wait({ timeout: 100_000 });
			const got = fs.readFileSync(`${dir}/got`);
			const whole = got.subarray(0, got.length - 3);
			expect(got.subarray(-3).toString()).toBe("end");
			expect(whole.equals(bytes.subarray(0, whole.length))).toBe(true);
			expect([there, there + Number(perhaps ?? 0)]).toContain(whole.length);
		});
	});

	test("sshd restarted: what runs goes on, what is being waited for completes", PATIENCE, async () => {
		const { sshd, dir, open } = await sshBox();
		const runtime = await open();
		execFileSync("mkfifo", [`${dir}/go`]);
		const kept = await runtime.spawn({ command: "while read -r x; do echo got $x; done; exit 6", stdin: true });
		const call = runtime.terminal({ command: `echo x >>${dir}/runs; read -r x <${dir}/go; echo done` });
		await until("it runs", () => fs.existsSync(`${dir}/runs`));
		await sshd.stop();
		fs.writeFileSync(`${dir}/go`, "\n");
		await sshd.start();
		expect(await call).toMatchObject({ status: "exited", exit_code: 0, output: "done\n" });
		await kept.write("me\n");
		await kept.closeStdin();
		expect((await kept.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 6 });
		expect(kept.read(0).bytes.toString()).toBe("got me\n");
	});

	test("the network is silent for a while: a call waits, and completes", PATIENCE, async () => {
		let cut: () => void = () => {};
		let mend: () => void = () => {};
		const { dir, open, master } = await sshBox({
			entry: QUICK,
			prepare: async ({ port, dir: keys }) => {
				const line = await cuttable(port);
				({ cut, mend } = line);
				known(keys, port, line.port);
				return { port: line.port };
			},
		});
		const runtime = await open();
		execFileSync("mkfifo", [`${dir}/go`]);
		const call = runtime.terminal({ command: `echo x >>${dir}/runs; read -r x <${dir}/go; echo done` });
		await until("it runs", () => fs.existsSync(`${dir}/runs`));
		const before = master();
		cut();
		fs.writeFileSync(`${dir}/go`, "\n");
		await until("the connection is given up", () => master() !== before);
		mend();
		expect(await call).toMatchObject({ status: "exited", output: "done\n" });
		expect(fs.readFileSync(`${dir}/runs`, "utf8")).toBe("x\n");
	});
});
