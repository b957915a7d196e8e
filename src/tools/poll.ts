import { counted } from "../base/index.js";
import { isOver, type Process } from "../process/index.js";
import type { Ask } from "./ask.js";
import { noteShown, readCursor, withinLog, writeCursor } from "./cursor.js";
import type { ProcessArgs } from "./input.js";
import { readOutput } from "./output.js";
import type { ProcessResult } from "./result.js";
import { settledStatus, stateOf } from "./state.js";
import { lookAtTerminal } from "./steer.js";

/** Returns the status and new output. An explicit offset does not move the cursor of the next poll. */
export async function poll(ask: Ask, process: Process, args: ProcessArgs): Promise<ProcessResult> {
	const status = await settledStatus(ask, process);
	const from = withinLog(ask, process, args.byte_offset) ?? readCursor(process);
	const output = await readOutput(process, {
		from,
		maxChars: ask.limits.recentChars,
		keep: "end",
		raw: process.spec.terminal !== undefined,
		final: isOver(status),
	});
	if (args.byte_offset === undefined && output.next !== from && !writeCursor(process, output.next))
		ask.notes.push("How far you have read could not be saved, so the next poll shows this again.");
	noteShown(process, output.next);
	const gone = output.offset - from;
	if (gone > 0) ask.notes.push(`${counted(gone, "byte")} before byte ${output.offset} ${gone === 1 ? "is" : "are"} gone: a log keeps its newest part.`);
	if (output.leftOut)
		ask.notes.push(
			`Only the last of it: ${counted(output.leftOut, "character before it is", "characters before it are")} in the log; action="log" with byte_offset=${output.offset} shows them.`,
		);
	const waiting = status.status === "running" && process.spec.terminal ? await lookAtTerminal(ask, process) : {};
	return {
		...stateOf(process, status),
		...waiting,
		output: output.text,
		error: null,
		byte_offset: output.offset,
		next_offset: output.next,
		...(output.truncated === undefined ? {} : { truncated: output.truncated }),
	};
}
