/** What the tests of other machines share, whatever kind of machine it is. */
import { expect } from "vitest";
import { atEnd, textOf } from "./home.js";
import { openRuntime, type Runtime } from "./internal.js";
import { SCRIPTS } from "./scripts.js";

export const TASK = "a task";

/** On the place that the configuration calls `box`. The task ends with the test. */
export async function openOnBox(home: string): Promise<Runtime> {
	const runtime = await openRuntime({ home, task: TASK, warm: 0, place: "box" });
	atEnd(async () => {
		const { gone, notes } = await runtime.endTask(TASK);
		await runtime.close();
		if (!gone) throw new Error(`the task could not be ended: ${notes.join(" ")}`);
	});
	return runtime;
}

const ENDED = ["a subshell in the background", "a pipeline", "a child that ignores TERM", "an interactive shell"];

/** Ends scripts there by a kill, at their deadline and by their keeper, and expects that no part of one went on. */
export async function noScriptRunsOn(runtime: Runtime): Promise<void> {
	const ends = {
		kill: async (command: string) => {
			const process = await runtime.spawn({ command });
			await process.wait({ until: { pattern: "ready" }, timeout: 100_000 });
			const { status, survivors } = await process.kill({ graceMs: 500 });
			await process.sync();
			return [status, survivors, textOf(process)];
		},
		deadline: async (command: string) => {
			const { status, exit_code, output } = await runtime.terminal({ command, timeout: 4, on_timeout: "kill" });
			return [status, exit_code, output];
		},
		keeper: async (command: string) => {
			const process = await runtime.spawn({ command, limits: { time: 3 } });
			const { status } = await process.wait({ timeout: 100_000 });
			while ((await process.leftovers()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20)); // its keeper is still at it
			await process.sync();
			return [status.status, "limit" in status ? status.limit?.name : undefined, textOf(process)];
		},
	};
	const found = ENDED.flatMap((name) => Object.entries(ends).map(async ([how, end]) => [name, how, ...(await end(SCRIPTS[name] as string))]));
	expect(await Promise.all(found)).toEqual(
		ENDED.flatMap((name) => [
			[name, "kill", "killed", [], "ready\n"],
			[name, "deadline", "timeout", 124, "ready\n"],
			[name, "keeper", "killed", "time", "ready\n"],
		]),
	);
}
