import type { Usage } from "../../model/index.js";

/** `12.3k tokens in (10k cached), 410 out · $0.02`. Money only where the endpoint tells it; `about` where the endpoint does not count. */
export function usageText({ input, output, cached, cost, estimated }: Usage): string {
	const tokens = `${estimated ? "about " : ""}${count(input)} tokens in${cached ? ` (${count(cached)} cached)` : ""}, ${count(output)} out`;
	return cost === undefined ? tokens : `${tokens} · $${cost < 0.1 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

const count = (tokens: number): string => (tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(tokens < 100_000 ? 1 : 0)}k`);
