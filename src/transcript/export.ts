/** The transcript of a task as a document: piece by piece, so that a long one is never in memory as a whole. */
import type { TranscriptEntry } from "./entry.js";
import { htmlOf } from "./html.js";
import { markdownOf } from "./markdown.js";
import { outputOf } from "./output.js";
import type { EntryOfProcess } from "./read.js";

export const FORMATS = ["md", "json", "html"] as const;
export type ExportFormat = (typeof FORMATS)[number];

export interface Exported {
	readonly task: string;
	readonly at: Date;
	readonly entries: Iterable<EntryOfProcess>;
}

export function exportOf(what: Exported, format: ExportFormat): Generator<string, void> {
	if (format === "json") return jsonOf(what);
	return format === "html" ? htmlOf(what) : markdownOf(what);
}

/** An entry with its output, as JSON has it. */
export function withOutput({ entry, process }: EntryOfProcess, most?: number): TranscriptEntry & { output?: string; omitted_bytes?: number } {
	if (!process) return entry;
	const { output, omitted_bytes } = outputOf(process, most);
	return { ...entry, output, ...(omitted_bytes > 0 ? { omitted_bytes } : {}) };
}

function* jsonOf({ task, at, entries }: Exported): Generator<string, void> {
	yield `{"task":${JSON.stringify(task)},"exported_at":${JSON.stringify(at)},"entries":[`;
	let separator = "\n";
	for (const told of entries) {
		yield separator + JSON.stringify(withOutput(told));
		separator = ",\n";
	}
	yield "\n]}\n";
}
