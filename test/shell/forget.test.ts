/** A runtime outlives its tasks, and keeps nothing of those that have ended: test/shell/soak-tasks.test.ts has the long version. */
import { expect, test } from "vitest";
import type { AgentRuntime } from "../../src/tools/index.js";
import { heldNow, isFlat } from "../support/held.js";
import { testRuntime, until } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";

const AT_ONCE = 5;

const flat = async (before: ReturnType<typeof heldNow>) => {
	await until("it holds what it held before", () => isFlat(before)).catch(() => {}); // logs of the last task are just being removed
	const now = heldNow();
	expect(isFlat(before), `before: ${JSON.stringify(before)}, now: ${JSON.stringify(now)}`).toBe(true);
};

async function many(runtime: AgentRuntime, from: number, to: number, end: (task: string) => Promise<unknown>, place?: string): Promise<void> {
	const one = async (number: number) => {
		const call = { task: `task-${number}`, ...(place === undefined ? {} : { place }) };
		expect(await runtime.terminal({ command: `A=${number}; echo $A` }, call)).toMatchObject({ output: `${number}\n`, exit_code: 0 });
		await end(call.task);
	};
	const numbers = Array.from({ length: to - from }, (_, index) => from + index);
	while (numbers.length > 0) await Promise.all(numbers.splice(0, AT_ONCE).map(one));
}

test("thirty tasks that ended leave no descriptor, watcher or process in the runtime", async () => {
	const runtime = await testRuntime({ warm: 2 });
	const end = async (task: string) => expect(await runtime.endTask(task)).toMatchObject({ gone: true });
	await many(runtime, 0, 10, end);
	const before = heldNow();
	await many(runtime, 10, 30, end);
	await flat(before);
});

test.skipIf(noSandbox)("tasks in sandboxes of their own leave nothing either, also on a runtime of another place", async () => {
	const runtime = await testRuntime({ warm: 2 });
	const end = async (task: string) => expect(await runtime.endTask(task)).toMatchObject({ gone: true, sandboxes: [{ kind: "bubblewrap" }] });
	await many(runtime, 0, 2, end, "local+sandbox");
	const before = heldNow();
	await many(runtime, 2, 8, end, "local+sandbox");
	await flat(before);
});

test("a caller that leaves its task without ending it leaves nothing in the runtime; its processes go on", async () => {
	const runtime = await testRuntime({ warm: 2 });
	const leave = (task: string) => runtime.leaveTask(task);
	await many(runtime, 0, 3, leave);
	const before = heldNow();
	const { session_id } = await runtime.terminal({ command: "sleep 300", background: true }, { task: "task-3" });
	await many(runtime, 3, 20, leave);
	await flat(before);
	expect(await runtime.process({ action: "poll", session_id }, { task: "task-3" })).toMatchObject({ status: "running" });
	expect(runtime.list({ task: null, shells: true, ended: false }).map(({ spec }) => spec.kind)).toEqual([undefined]);
});

test("a task that is forgotten while a command runs loses nothing: the call is answered, and the shell is found again", async () => {
	const runtime = await testRuntime();
	const call = { task: "busy" };
	await runtime.terminal({ command: "cd /; A=1" }, call);
	const running = runtime.terminal({ command: "read -r x < <(sleep 0.3; echo on); echo $x; A=2" }, call);
	await until("it runs", () => runtime.list({ ...call, ended: false }).length === 1);
	await runtime.forget("busy");
	expect(await running).toMatchObject({ output: "on\n", exit_code: 0, cwd: "/" });
	expect(await runtime.terminal({ command: "echo $A; pwd" }, call)).toMatchObject({ output: "2\n/\n" });
});

test("a runtime closes at once although a forgotten task still runs a command", async () => {
	const runtime = await testRuntime();
	const running = runtime.terminal({ command: "sleep 300" }, { task: "busy" });
	await until("it runs", () => runtime.list({ task: "busy", ended: false }).length === 1);
	await runtime.forget("busy");
	await runtime.close();
	expect(await running).toMatchObject({ status: "running" });
});
