/** Sends the action of a file tool through the same gate as the equivalent command, so one set of rules covers both. */
import { shellQuote } from "../../base/index.js";
import type { FileEffect } from "../../process/index.js";
import { type Ask, doorOf } from "../ask.js";
import { CommandGate } from "../command-gate.js";
import type { ToolName } from "../result.js";

export interface Intent {
	readonly tool: ToolName;
	/** Shell text that is equivalent as far as the rules are concerned. */
	readonly command: string;
	readonly cwd: string;
}

export const reads = (...files: readonly string[]): string => `cat ${files.map(shellQuote).join(" ")}`;
export const writes = (...files: readonly string[]): string => files.map((file) => `cat > ${shellQuote(file)}`).join("; ");
export const copies = (from: string, to: string): string => `cp -r ${shellQuote(from)} ${shellQuote(to)}`;
export const copiesFile = (from: string, to: string): string => `${reads(from)} | ${writes(to)}`;
export const deletes = (file: string): string => `rm ${shellQuote(file)}`;
export const searches = (dir: string): string => `grep -r x ${shellQuote(dir)}`;

/** Runs `act` once it is permitted. `record` writes a change to the audit before it is made. An action without changes is noted afterwards, as a read. */
export async function permitted<T>(
	ask: Ask,
	{ tool, command, cwd }: Intent,
	act: (record: (bytes: number, files?: readonly FileEffect[]) => void) => Promise<T>,
): Promise<T> {
	const gate = await CommandGate.of(ask, `${command} # ${tool}`, tool);
	await gate.through(async () => gate.check(cwd));
	const { runtime, task, notes, call } = ask;
	const by = { by: doorOf(ask), ...(call.id === undefined ? {} : { call: call.id }) };
	const { user: as } = runtime.wish;
	const user = as === undefined ? {} : { user: as };
	const about = { tool, command, cwd, place: runtime.placeName, ...user, ...by, ...gate.basis };
	let changes = false;
	const result = await act((bytes, files) => {
		changes = true;
		ask.record?.effect(files ? { files } : { act: tool });
		if (!runtime.audit.record(task, { event: "file", ...about, bytes })) notes.push("The disk is full, so this is not in the audit.");
	});
	if (!changes) runtime.audit.note(task, { event: "read", ...about });
	return result;
}
