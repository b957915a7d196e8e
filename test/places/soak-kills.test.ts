/**
 * The program is killed again and again, while a machine is made for its task and while a command there prints: nothing is lost, and nothing is made twice.
 * A kind of place is a row of the table. `KILLS` says how often; 20 unless it is set.
 */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { machineName } from "../../src/places/owner.js";
import { CLI } from "../support/cli.js";
import { KINDS, killing } from "../support/every-kind.js";
import { textOf, until } from "../support/home.js";

const KILLS = Number(process.env.KILLS) || 20;
const LINES = 2_000;
/** Prints numbered lines, a burst at a time, once it has written down that it has begun. */
const printing = (shared: string, round: number): string =>
	`printf x >>${shared}/begun-${round}; i=0; while [ $i -lt ${LINES} ]; do echo line $i; i=$((i + 1)); [ $((i % 100)) -ne 0 ] || sleep 0.05; done; exit 7`;
const LOG = Array.from({ length: LINES }, (_, at) => `line ${at}\n`).join("");

describe.each(Object.entries(KINDS))("%s", (kind, { missing }) => {
	const title = (text: string) => (missing === undefined ? text : `${text}: ${missing}`);

	it.skipIf(missing)(
		title("killed while a command prints: it goes on, its output is whole, and it has begun once"),
		async () => {
			const { runtime, program, shared, begun, count, gone, home } = await killing(kind);
			for (let round = 0; round < KILLS; round++) {
				const task = "prints";
				const one = program([CLI, "run", "--no-pty", "--place", "box", "--task", task, "--name", `round-${round}`, "--", printing(shared, round)]);
				const seen = `line ${Math.floor((round / KILLS) * LINES * 0.9)}\n`;
				await until(`the program shows ${seen}`, () => one.output().includes(seen) || one.isOver(), 120_000);
				expect(one.isOver(), one.output().slice(-1_000)).toBe(false);
				one.kill();
				await one.ended;
				const left = runtime.list({ task }).find(({ spec }) => spec.name === `round-${round}`);
				if (!left) throw new Error(`round ${round} is not in the list`);
				await left.wait({ timeout: 120_000 });
				expect([left.status(), textOf(left) === LOG, begun(round)]).toEqual([expect.objectContaining({ status: "exited", exitCode: 7 }), true, 1]);
				expect(count(machineName({ home, task }))).toBe(1);
			}
			await runtime.endTask("prints");
			await gone("prints");
		},
		KILLS * 60_000,
	);

	it.skipIf(missing)(
		title("killed while the machine of a task is made: the next program has the same one, and no other; what was to begin has begun at most once"),
		async () => {
			const { runtime, program, shared, begun, count, gone, home } = await killing(kind);
			const started = performance.now();
			const whole = program([CLI, "terminal", "--place", "box", "--task", "whole", "--", "true"]);
			expect(await whole.ended, whole.output()).toBe(0); // and it exits, with nothing more to do
			const takes = performance.now() - started;
			await runtime.endTask("whole");
			for (let round = 0; round < KILLS; round++) {
				const task = `made ${round}`;
				const one = program([CLI, "run", "--no-pty", "--place", "box", "--task", task, "--", `printf x >>${shared}/begun-${round}; echo begun`]);
				await Promise.race([one.ended, sleep((takes * (round + 0.5)) / KILLS)]); // at another moment each time
				one.kill();
				await one.ended;
				expect(await runtime.terminal({ command: "echo there" }, { task })).toMatchObject({ status: "exited", output: "there\n" });
				expect(count(machineName({ home, task }))).toBe(1);
				for (const left of runtime.list({ task })) await left.wait({ timeout: 120_000 });
				expect(begun(round)).toBeLessThanOrEqual(1);
				expect(await runtime.endTask(task)).toMatchObject({ gone: true });
				await gone(task);
			}
		},
		KILLS * 60_000,
	);

	it.skipIf(missing)(title("a program that has used it and has nothing to do exits, with its link open"), async () => {
		const { runtime, program } = await killing(kind);
		const library = path.resolve("dist/lib/index.js");
		const text = `import { openRuntime } from ${JSON.stringify(library)};
			const runtime = await openRuntime({ place: "box", task: "idle", warm: 0 });
			await (await runtime.spawn({ command: "true" })).wait();
			console.log("used");`;
		const one = program(["--input-type=module", "-e", text]);
		expect([await one.ended, one.output()]).toEqual([0, "used\n"]);
		await runtime.endTask("idle");
	});
});
