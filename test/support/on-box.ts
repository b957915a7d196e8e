/** What the tests of other machines share, whatever kind of machine it is. */
import { openRuntime, type Runtime } from "../../src/index.js";
import { atEnd } from "./home.js";

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
