/** A thousand tasks in one runtime: what it holds does not grow. */
import { expect, test } from "vitest";
import { type HeldNow, heapMb, heldNow, isFlat } from "../support/held.js";
import { testRuntime, until } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";

async function soak(place: string, tasks: number): Promise<void> {
	const runtime = await testRuntime({ warm: 2, place });
	let before: HeldNow & { readonly heap: number } = { ...heldNow(), heap: 0 };
	for (let number = 0; number < tasks; number++) {
		if (number === 10) before = { ...heldNow(), heap: heapMb() };
		const task = `task-${number}`;
		expect(await runtime.terminal({ command: `cd /tmp; echo ${number}` }, { task })).toMatchObject({ output: `${number}\n`, exit_code: 0 });
		if (number % 10 === 0) await runtime.terminal({ command: "sleep 300", background: true, notify_on_complete: true }, { task });
		if (number % 10 === 1) await runtime.terminal({ command: "read x", pty: true }, { task });
		expect(await runtime.endTask(task)).toMatchObject({ gone: true });
	}
	const { heap, ...held } = before;
	await until("it holds what it held after ten", () => isFlat(held));
	console.log(`${place}, ${tasks} tasks: ${JSON.stringify(before)} then ${JSON.stringify({ ...heldNow(), heap: heapMb() })}`);
	expect(heapMb()).toBeLessThan(heap + 5);
}

test("1,000 local tasks", { timeout: 1_800_000 }, () => soak("local", 1_000));

test.skipIf(noSandbox)("100 sandboxed tasks", { timeout: 1_800_000 }, () => soak("local+sandbox", 100));
