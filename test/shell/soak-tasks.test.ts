/** Many tasks in one runtime, one after another: what it holds does not grow. */
import { expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { openRuntime, type TaskOptions } from "../../src/index.js";
import { FULL_IMAGE, noEngine, sharedEngine } from "../support/dockerd.js";
import { type HeldNow, heapMb, heldNow, isFlat } from "../support/held.js";
import { atEnd, endAll, tempDir, until } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";

const HOUR = { timeout: 3_600_000 };
const MORE_MB = 5;

async function soak(name: string, place: NonNullable<TaskOptions["place"]>, tasks: number): Promise<void> {
	const runtime = await openRuntime({ warm: 2, home: tempDir("home") });
	atEnd(() => endAll(agentOf(runtime)));
	const signal = new AbortController().signal; // of the caller, for all of them: each call gives its listeners back
	const seen: (HeldNow & { readonly tasks: number; readonly heap: number })[] = [];
	for (let number = 0; number < tasks; number++) {
		if (number === 10 || (number > 0 && number % (tasks / 5) === 0)) seen.push({ tasks: number, ...heldNow(), heap: heapMb() });
		const task = runtime.task(`task-${number}`, { place, env: { NUMBER: String(number) } });
		expect(await task.terminal({ command: "cd /tmp; echo $NUMBER" }, { signal, id: "first", keep: true })).toMatchObject({
			output: `${number}\n`,
			exit_code: 0,
		});
		if (number % 10 === 0) await task.terminal({ command: "sleep 300", background: true, notify_on_complete: true }, { signal });
		if (number % 10 === 1) await task.terminal({ command: "read x", pty: true }, { signal });
		if (number % 10 === 2) await task.readFile({ path: "/etc/passwd" }, { signal });
		expect(await task.end()).toMatchObject({ gone: true });
	}
	const [before] = seen;
	if (!before) throw new Error("not even ten tasks");
	const { heap, tasks: _ten, ...held } = before;
	await until("it holds what it held after ten", () => isFlat(held));
	seen.push({ tasks, ...heldNow(), heap: heapMb() });
	console.log(`${name}:\n${seen.map((one) => JSON.stringify(one)).join("\n")}`);
	expect(heapMb()).toBeLessThan(heap + MORE_MB);
}

test("1,000 local tasks", HOUR, () => soak("local", "local", 1_000));

test.skipIf(noSandbox)("1,000 sandboxed tasks", HOUR, () => soak("local+sandbox", "local+sandbox", 1_000));

const why = noEngine();

test.skipIf(why)(`100 tasks with a container each${why ? `: ${why}` : ""}`, HOUR, async () => {
	const { address } = await sharedEngine();
	await soak("containers", { kind: "docker", image: FULL_IMAGE, engine: address }, 100);
});

test("100 shells born at once: all there, each with its own state, and no warning", HOUR, async () => {
	const runtime = await openRuntime({ warm: 2, home: tempDir("home") });
	const agent = agentOf(runtime);
	atEnd(() => endAll(agent));
	const warnings: Error[] = [];
	const warned = (warning: Error) => warnings.push(warning);
	process.on("warning", warned);
	atEnd(() => process.off("warning", warned));
	const results = await Promise.all(
		// The births take turns, so on a busy machine the last one waits for longer than a call usually does.
		Array.from({ length: 100 }, (_, number) => runtime.task(`task-${number}`).terminal({ command: `A=${number}; echo $A $$`, timeout: 600 })),
	);
	const said = results.map(({ output }) => output.trim().split(" "));
	expect(said.map(([number]) => number)).toEqual(Array.from({ length: 100 }, (_, number) => String(number)));
	expect(new Set(said.map(([, pid]) => pid)).size).toBe(100);
	expect(results.filter(({ exit_code, note }) => exit_code !== 0 || note !== undefined)).toEqual([]);
	const shells = agent.list({ task: null, shells: true, ended: false }).filter(({ spec }) => spec.kind === "shell");
	expect(shells.map((shell) => String(shell.pid)).sort()).toEqual(said.map(([, pid]) => pid).sort());
	expect(warnings).toEqual([]);
});
