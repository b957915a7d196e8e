/** Numbers about a gateway that runs: for `gateway status`, the page, and Prometheus. */
const NAMES = {
	received: "messages that people sent and that were stored",
	redelivered: "messages that a platform delivered again, and that were known",
	strangers: "messages of people who may not write",
	ignored: "messages in groups that were not meant for the agent",
	unstored: "messages that could not be stored, and were not acknowledged",
	turns: "turns that ended",
	failures: "turns that ended without an answer",
	sent: "messages that a platform took",
	again: "sendings that are tried again",
	refused: "messages that could not be delivered",
	paused: "pauses that platforms asked for",
	questions: "questions about commands that were asked in chats",
} as const;

export type CounterName = keyof typeof NAMES;

export class Counters {
	readonly #counts = new Map<CounterName, Map<string, number>>();

	add(name: CounterName, platform: string): void {
		const of = this.#counts.get(name) ?? new Map<string, number>();
		of.set(platform, (of.get(platform) ?? 0) + 1);
		this.#counts.set(name, of);
	}

	get(name: CounterName, platform?: string): number {
		const of = this.#counts.get(name);
		return platform === undefined ? [...(of?.values() ?? [])].reduce((sum, one) => sum + one, 0) : (of?.get(platform) ?? 0);
	}

	json(): Record<string, number> {
		return Object.fromEntries((Object.keys(NAMES) as CounterName[]).map((name) => [name, this.get(name)]));
	}

	/** In the text format of Prometheus. `gauges`: what is so now. */
	prometheus(
		gauges: readonly { readonly name: string; readonly help: string; readonly values: readonly (readonly [platform: string, value: number])[] }[],
	): string {
		const lines: string[] = [];
		for (const name of Object.keys(NAMES) as CounterName[]) {
			lines.push(`# HELP holdfast_gateway_${name}_total ${NAMES[name]}`, `# TYPE holdfast_gateway_${name}_total counter`);
			for (const [platform, value] of this.#counts.get(name) ?? []) lines.push(`holdfast_gateway_${name}_total{platform=${label(platform)}} ${value}`);
		}
		for (const { name, help, values } of gauges) {
			lines.push(`# HELP holdfast_gateway_${name} ${help}`, `# TYPE holdfast_gateway_${name} gauge`);
			for (const [platform, value] of values) lines.push(`holdfast_gateway_${name}${platform === "" ? "" : `{platform=${label(platform)}}`} ${value}`);
		}
		return `${lines.join("\n")}\n`;
	}
}

const label = (text: string): string => JSON.stringify(text.replaceAll("\n", " "));
