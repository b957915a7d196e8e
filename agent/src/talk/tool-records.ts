/** Records of a conversation's calls: statistics by tool, and each call that failed. */
import type { Entry } from "./entry.js";

export interface ToolStatistics {
	readonly calls: number;
	readonly failed: number;
	readonly skipped: number;
	readonly recovered: number;
}

export interface ToolError {
	/** The number of the turn. */
	readonly turn: number;
	readonly tool: string;
	/** Cut to 200 characters. */
	readonly arguments: string;
	readonly error: string;
	/** The model's view of the result. */
	readonly result: string;
}

/** By tool: how often it was called in a conversation, and how that went. */
export function toolStatistics(entries: readonly Entry[]): Map<string, ToolStatistics> {
	const names = new Map(entries.flatMap((entry) => (entry.t === "assistant" ? entry.calls.map(({ id, name }) => [id, name] as const) : [])));
	const all = new Map<string, ToolStatistics>();
	for (const entry of entries) {
		if (entry.t !== "result") continue;
		const name = names.get(entry.call) ?? "";
		const { calls, failed, skipped, recovered } = all.get(name) ?? { calls: 0, failed: 0, skipped: 0, recovered: 0 };
		const one = (holds: boolean): number => (holds ? 1 : 0);
		all.set(name, {
			calls: calls + 1,
			failed: failed + one(entry.failed),
			skipped: skipped + one(entry.how === "skipped"),
			recovered: recovered + one(entry.how === "recovered"),
		});
	}
	return all;
}

/** A failure is written directly after the result that it is about. */
export function toolErrors(entries: readonly Entry[]): ToolError[] {
	let result = "";
	return entries.flatMap((entry) => {
		if (entry.t === "result") result = entry.text;
		return entry.t === "failure" ? [{ turn: entry.turn, tool: entry.tool, arguments: entry.args, error: entry.error, result }] : [];
	});
}
