/** Two programs at once, a home that is gone, and secrets that no other program may see: for every kind of place that makes a machine of its own for a task, with real programs. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readProc } from "../../src/base/proc.js";
import { machineName } from "../../src/places/owner.js";
import { CLI } from "../support/cli.js";
import { eventually } from "../support/docker-box.js";
import { KINDS, killing } from "../support/every-kind.js";
import { tempDir, until } from "../support/home.js";

const ROUNDS = Number(process.env.KILLS) || 5;

describe.each(Object.entries(KINDS))("%s", (kind, { missing }) => {
	const title = (text: string) => (missing === undefined ? text : `${text}: ${missing}`);

	it.skipIf(missing)(
		title("two programs that start at once have one machine, and both have their answer"),
		async () => {
			const { runtime, program, count, gone, home } = await killing(kind);
			for (let round = 0; round < ROUNDS; round++) {
				const task = `both ${round}`;
				const both = ["one", "two"].map((word) =>
					program([CLI, "terminal", "--place", "box", "--task", task, "--", `echo ${word} >>/tmp/both; hostname; echo ${word}`]),
				);
				const codes = await Promise.all(both.map(({ ended }) => ended));
				expect([codes, both.map((one) => one.output())]).toEqual([
					[0, 0],
					[expect.stringMatching(/^one$/m), expect.stringMatching(/^two$/m)],
				]);
				expect(count(machineName({ home, task }))).toBe(1);
				await runtime.endTask(task);
				await gone(task);
			}
		},
		ROUNDS * 120_000,
	);

	it.skipIf(missing)(
		title("killed while its machine is made, and its home removed: another home lists what is left, and prune removes it"),
		async () => {
			const { program, count, home } = await killing(kind);
			const started = performance.now();
			const whole = program([CLI, "terminal", "--place", "box", "--task", "whole", "--", "true"]);
			expect(await whole.ended, whole.output()).toBe(0);
			const takes = performance.now() - started;
			const end = program([CLI, "end", "whole"]);
			expect(await end.ended, end.output()).toBe(0);
			for (let round = 0; round < ROUNDS; round++) {
				const doomed = tempDir("doomed");
				const task = `left ${round}`;
				const one = program([CLI, "run", "--no-pty", "--place", "box", "--task", task, "--", "sleep 1000"], doomed);
				await Promise.race([one.ended, sleep((takes * (round + 0.5)) / ROUNDS)]); // at another moment each time
				one.kill();
				await one.ended;
				const name = machineName({ home: doomed, task });
				fs.rmSync(doomed, { recursive: true, force: true });
				// What it had asked for may still be on its way: one prune after another, as a person would.
				await eventually(
					`${name} is gone`,
					async () => {
						expect(await program([CLI, "sandboxes", "prune"], home).ended).toBe(0);
						return count(name) === 0;
					},
					120_000,
				);
			}
		},
		ROUNDS * 180_000,
	);

	it.skipIf(missing)(title("what is secret about it is in no file of the home, in no argument, and not in the machine"), async () => {
		const { runtime, program, home, secrets } = await killing(kind);
		const one = program([
			CLI,
			"run",
			"--no-pty",
			"--place",
			"box",
			"--task",
			"looks",
			"--",
			'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"; echo looked; sleep 1000',
		]);
		await until("it has looked", () => one.output().includes("looked") || one.isOver(), 120_000);
		const files = fs.readdirSync(home, { recursive: true, encoding: "utf8" }).map((name) => path.join(home, name));
		const texts = files.filter((file) => fs.lstatSync(file, { throwIfNoEntry: false })?.isFile()).map((file) => fs.readFileSync(file, "latin1"));
		const pids = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name));
		const words = pids.map((pid) => readProc(`/proc/${pid}/cmdline`) ?? "");
		expect([texts.length > 0, words.some((text) => text.includes("looks"))]).toEqual([true, true]); // there was something to find
		const seen = [one.output(), ...texts, ...words].filter((text) => secrets.some((secret) => text.includes(secret)));
		expect(seen).toEqual([]);
		one.kill();
		await one.ended;
		await runtime.endTask("looks");
	});
});
