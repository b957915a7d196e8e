/** What a tool does to files passes the same gate as a command that would do it: one set of rules holds for both. */
import { shellQuote } from "../../base/index.js";
import type { FileEffect } from "../../process/index.js";
import { type Ask, doorOf } from "../ask.js";
import { Passage } from "../passage.js";
import type { ToolName } from "../result.js";

export interface Intent {
	readonly tool: ToolName;
	/** Shell text that does the same, as far as rules are concerned. */
	readonly command: string;
	readonly cwd: string;
}

export const reads = (...files: readonly string[]): string => `cat ${files.map(shellQuote).join(" ")}`;
export const writes = (...files: readonly string[]): string => files.map((file) => `cat > ${shellQuote(file)}`).join("; ");
export const copies = (from: string, to: string): string => `cp -r ${shellQuote(from)} ${shellQuote(to)}`;
export const copiesFile = (from: string, to: string): string => `${reads(from)} | ${writes(to)}`;
export const deletes = (file: string): string => `rm ${shellQuote(file)}`;
export const searches = (dir: string): string => `grep -r x ${shellQuote(dir)}`;

/** Done once it may be. `record` puts a change into the audit; before it is made. What has changed nothing is put there afterwards, as a read. */
export async function permitted<T>(
	ask: Ask,
	{ tool, command, cwd }: Intent,
	act: (record: (bytes: number, files?: readonly FileEffect[]) => void) => Promise<T>,
): Promise<T> {
	const passage = await Passage.of(ask, `${command} # ${tool}`, tool);
	await passage.through(async () => passage.check(cwd));
	const { runtime, task, notes, call } = ask;
	const by = { by: doorOf(ask), ...(call.id === undefined ? {} : { call: call.id }) };
	const { user: as } = runtime.wish;
	const user = as === undefined ? {} : { user: as };
	const about = { tool, command, cwd, place: runtime.placeName, ...user, ...by, ...passage.basis };
	let changes = false;
	const result = await act((bytes, files) => {
		changes = true;
		ask.record?.effect(files ? { files } : { act: tool });
		if (!runtime.audit.record(task, { event: "file", ...about, bytes })) notes.push("The disk is full, so this is not in the audit.");
	});
	if (!changes) runtime.audit.note(task, { event: "read", ...about });
	return result;
}
