/** What a tool does to files passes the same gate as a command that would do it: one set of rules holds for both. */
import { shellQuote } from "../../base/quote.js";
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
export const deletes = (file: string): string => `rm ${shellQuote(file)}`;
export const searches = (dir: string): string => `grep -r x ${shellQuote(dir)}`;

/** Done once it may be. `record` puts a change into the audit; before it is made. */
export async function permitted<T>(ask: Ask, { tool, command, cwd }: Intent, act: (record: (bytes: number) => void) => Promise<T>): Promise<T> {
	const passage = await Passage.of(ask, `${command} # ${tool}`, tool);
	await passage.through(async () => passage.check(cwd));
	const { runtime, task, notes } = ask;
	return act((bytes) => {
		const news = { event: "file", tool, command, cwd, place: runtime.placeName, by: doorOf(ask), bytes, ...passage.basis } as const;
		if (!runtime.audit.record(task, news)) notes.push("The disk is full, so this is not in the audit.");
	});
}
