import { counted, HoldfastError } from "../base/index.js";
import { isOver, type Process } from "../process/index.js";
import type { Ask } from "./ask.js";
import { noteShown, withinLog } from "./cursor.js";
import type { ProcessArgs } from "./input.js";
import { readOutput } from "./output.js";
import type { ProcessResult } from "./result.js";
import { settledStatus, stateOf } from "./state.js";

/** Returns lines of the log: the last ones, or from a line or byte on. */
export async function log(ask: Ask, process: Process, args: ProcessArgs): Promise<ProcessResult> {
	if (args.offset !== undefined && args.byte_offset !== undefined) throw new HoldfastError("INVALID", "give offset (in lines) or byte_offset, not both");
	const status = await settledStatus(ask, process);
	const lines = ask.runtime.linesOf(process);
	const count = await lines.count();
	const limit = args.limit ?? ask.limits.logLines;
	const { total, first, end } = count;
	const newest = args.offset === undefined && args.byte_offset === undefined;
	let from: number;
	let to = end;
	let showing: string;
	const asked = withinLog(ask, process, args.byte_offset);
	if (asked !== undefined) {
		from = Math.min(asked, end);
		if (args.limit !== undefined) to = await lines.behind(from, limit, end);
		showing = `from byte ${Math.max(from, first)}`;
	} else {
		const start = newest ? Math.max(0, total - limit) : Math.min(args.offset as number, total);
		const stop = Math.min(total, start + limit);
		from = await lines.startOf(start, count);
		to = await lines.startOf(stop, count);
		showing = start === stop ? `no lines of ${total}` : `lines ${start} to ${stop - 1} of ${total} (0 is the first)`;
	}
	const output = await readOutput(process, {
		from,
		to,
		maxChars: ask.limits.recentChars,
		keep: newest ? "end" : "start",
		raw: process.spec.terminal !== undefined,
		final: isOver(status) || to < end,
	});
	noteShown(process, output.next);
	if (first > 0) ask.notes.push(`The log starts at byte ${first}: what was before it is gone, and lines are counted from there.`);
	if (output.truncated)
		ask.notes.push(`These lines are long: their first ${counted(output.truncated.omitted_chars, "character was", "characters were")} left out.`);
	else if (output.next < to && !newest) ask.notes.push(`Cut at ${ask.limits.recentChars} characters: byte_offset=${output.next} goes on.`);
	return {
		...stateOf(process, status),
		output: output.text,
		error: null,
		total_lines: total,
		showing,
		total_bytes: end,
		byte_offset: output.offset,
		next_offset: output.next,
		...(output.truncated === undefined ? {} : { truncated: output.truncated }),
	};
}
