/** Tokens and money of a turn, and what became of its calls. */
import type { Usage } from "../model/index.js";
import type { Entry } from "../talk/index.js";

export const NO_USAGE: Usage = { input: 0, output: 0 };

export function addUsage(one: Usage, other: Usage): Usage {
	const sum = (part: (usage: Usage) => number | undefined): number | undefined =>
		part(one) === undefined && part(other) === undefined ? undefined : (part(one) ?? 0) + (part(other) ?? 0);
	const [cached, cost] = [sum(({ cached }) => cached), sum(({ cost }) => cost)];
	return {
		input: one.input + other.input,
		output: one.output + other.output,
		...(cached === undefined ? {} : { cached }),
		...(cost === undefined ? {} : { cost }),
		...(one.estimated || other.estimated ? { estimated: true } : {}),
	};
}

export interface ToolStatistics {
	readonly calls: number;
	readonly failed: number;
	readonly skipped: number;
	readonly recovered: number;
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
