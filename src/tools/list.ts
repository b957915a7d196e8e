import { summary } from "../process/summary.js";
import { stripAnsi } from "./ansi.js";
import type { Ask } from "./ask.js";
import type { ProcessResult } from "./result.js";

/** The task's processes, newest first: what runs, and what ended in the last half hour. */
export async function list(ask: Ask): Promise<ProcessResult> {
	const processes = ask.runtime.list({ task: ask.task }).map((process) => {
		const { task: _, ended_at: __, total_bytes: ___, signal, ...item } = summary(process);
		return { ...item, ...(signal === null ? {} : { signal }), output_preview: stripAnsi(item.output_preview) };
	});
	if (processes.length === 0) ask.notes.push("There are none. terminal(command=…, background=true) starts one.");
	return { error: null, processes };
}
