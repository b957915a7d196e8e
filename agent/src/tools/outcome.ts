/** A result of the core as the model is shown it: in text, shortened, and without the id of a process that is not kept. */
import { type ProcessResult, renderResult, type Task, type TerminalResult, type ToolResult } from "holdfast";
import { DOOR, SHOWN_CHARS } from "./limits.js";
import { type Stretch, shorten } from "./shorten.js";
import type { ToolOutcome } from "./tool.js";

const FAILED: readonly (string | undefined)[] = ["error", "not_found", "blocked", "lost"];
const RUNS: readonly (string | undefined)[] = ["running", "awaiting_input"];
export async function outcomeOf(task: Task, name: string, args: unknown, result: ToolResult): Promise<ToolOutcome> {
	const { notices = [], ...rest } = result;
	const shown = name === "terminal" ? await terminalOutcome(task, args, rest as TerminalResult) : { text: renderResult(rest as ToolResult) };
	return {
		...shown,
		failed: rest.error != null || FAILED.includes(rest.status),
		...(name === "process" && rest.status === "running" && (rest as ProcessResult).timed_out ? { waits: true } : {}),
		...(rest.status === "blocked" ? { how: "refused" as const } : {}),
		...(rest.status === "pending_approval" ? { pending: (rest as TerminalResult).approval_id ?? "" } : {}),
		...(notices.length > 0 ? { notices: notices.map(({ id, text }) => ({ id, text })) } : {}),
	};
}

async function terminalOutcome(task: Task, args: unknown, result: TerminalResult): Promise<Pick<ToolOutcome, "text" | "process">> {
	const { background, pty, input_keys, max_output_chars } = (args ?? {}) as Record<string, unknown>;
	const { session_id } = result;
	if (session_id === undefined) return { text: renderResult(result) };
	if (RUNS.includes(result.status)) return { text: renderResult(result), process: session_id };
	const ownProcess = background === true || pty === true || input_keys !== undefined;
	if (ownProcess) return { text: renderResult(result), process: session_id };
	const most = typeof max_output_chars === "number" ? max_output_chars : SHOWN_CHARS;
	const { text, cut } = await shortened(task, result, session_id, most);
	if (cut || result.truncated) return { text: renderResult({ ...result, output: text }), process: session_id };
	const { session_id: _, ...ended } = result; // its log goes when the call is settled, so it cannot be asked for
	return { text: renderResult(ended) };
}

/** `most`: characters. Its log is asked only if there is something to leave out. */
async function shortened(task: Task, { output, truncated }: TerminalResult, session: string, most: number): Promise<{ text: string; cut: boolean }> {
	if (!truncated && !shorten([{ line: 0, text: output }], { most, where: () => "" }).cut) return { text: output, cut: false };
	const { total_lines = 0 } = await task.call("process", { action: "log", session_id: session, limit: 1 }, { door: DOOR });
	if (!truncated) return shortenLog([{ line: 0, text: output }], { session, most, lines: linesIn(output) === total_lines });
	const parts = aroundGap(output);
	if (!parts) return { text: output, cut: true };
	const [head, tail] = [parts.head.replace(/[^\n]*$/, ""), parts.tail.slice(parts.tail.indexOf("\n") + 1)];
	if (head === "" || tail === "" || tail === parts.tail) return { text: endsOf({ ...parts, headEnds: truncated.byte_offset }, session, most), cut: true };
	const stretches = [
		{ line: 0, text: head },
		{ line: total_lines - linesIn(tail), text: tail },
	];
	return shortenLog(stretches, { session, most, lines: true });
}

/** `lines`: those of the text are those of the log. Not so if a key of many lines was masked: then only the whole can be named. */
export function shortenLog(stretches: readonly Stretch[], options: { session: string; most: number; lines: boolean }): { text: string; cut: boolean } {
	const call = (range: string): string => `process(action="log", session_id="${options.session}", ${range})`;
	return shorten(stretches, {
		most: options.most,
		where: ({ line, lines }) => (options.lines ? call(`offset=${line}, limit=${lines}`) : call("byte_offset=0")),
	});
}

export const linesIn = (text: string): number => text.split("\n").length - (text.endsWith("\n") || text === "" ? 1 : 0);

/** The core's own words for a middle that it has left out. */
const GAP = /\n?\[\d+ characters? left out; process\(action="log", session_id="proc_[0-9a-f]+", byte_offset=\d+\) shows them\]\n/;

/** Splits the core's view of a longer output: the text before and behind the gap. */
function aroundGap(output: string): { readonly head: string; readonly tail: string } | undefined {
	const gap = GAP.exec(output);
	return gap ? { head: output.slice(0, gap.index), tail: output.slice(gap.index + gap[0].length) } : undefined;
}

/** The ends of a line that is longer than all that may be shown. `headEnds`: at which byte of the log the head ends. */
export function endsOf({ head, tail, headEnds }: { head: string; tail: string; headEnds?: number }, session: string, most: number): string {
	const first = head.slice(0, most * 0.4).replace(/[\uD800-\uDBFF]$/, "");
	const last = tail.slice(-most * 0.6).replace(/^[\uDC00-\uDFFF]/, "");
	// If nothing was taken out of the text, characters can be counted as bytes of the log.
	const offset = headEnds === Buffer.byteLength(head) ? Buffer.byteLength(first) : 0;
	return `${first}\n[the middle is left out; process(action="log", session_id="${session}", byte_offset=${offset}) shows ${offset === 0 ? "all of it" : "what follows"}]\n${last}`;
}
