import { counted, REMOTE_MS } from "../base/index.js";
import { summary } from "../process/index.js";
import { stripAnsi } from "./ansi.js";
import type { Ask } from "./ask.js";
import type { ProcessResult } from "./result.js";
import { limitField } from "./state.js";

/** Lists the task's processes, newest first: those that run, and those that ended in the last half hour. */
export async function list(ask: Ask): Promise<ProcessResult> {
	const { listed } = ask.limits;
	ask.notes.push(...(await ask.runtime.sync({ task: ask.task, ms: REMOTE_MS.call })));
	const all = ask.runtime.list({ task: ask.task }).map((process) => summary(process));
	const shown = all.filter((item, index) => index < listed || item.status === "running");
	if (all.length === 0) ask.notes.push("There are none. terminal(command=…, background=true) starts one.");
	if (shown.length < all.length)
		ask.notes.push(`${counted(all.length - shown.length, "older one that has ended is", "older ones that have ended are")} left out.`);
	return {
		error: null,
		processes: shown.map(({ task: _, ended_at: __, total_bytes: ___, signal, limit, ...item }) => ({
			...item,
			...(signal === null ? {} : { signal }),
			...(limit ? { limit: limitField(limit) } : {}),
			output_preview: stripAnsi(item.output_preview),
		})),
	};
}
