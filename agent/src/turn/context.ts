/** The surroundings of a conversation in a request: the system prompt, what is under way, and room in the window. */
import type { Clock } from "../base/index.js";
import type { Model } from "../model/index.js";
import { type Compacted, compact } from "../talk/index.js";
import { type DigestSource, digest } from "./digest.js";
import { lastSaid } from "./lines.js";
import { overheadOf, requestMeasure } from "./measure.js";
import type { OpenedParts } from "./open.js";
import { systemPrompt } from "./prompt.js";

export class TurnContext {
	readonly #parts: OpenedParts;
	readonly #clock: Clock;

	constructor(parts: OpenedParts, clock: Clock) {
		this.#parts = parts;
		this.#clock = clock;
	}

	get source(): DigestSource {
		const { runtime, task, log } = this.#parts;
		return { runtime, task: task.name, entries: log.entries, now: () => this.#clock.now() };
	}

	system(): string {
		const { directory, toolbox, extra, log } = this.#parts;
		return systemPrompt({
			place: lastSaid(log.entries, "place") ?? "",
			directory,
			now: new Date(this.#clock.now()),
			tools: toolbox.registry.names,
			digest: this.#digest(),
			extra,
		});
	}

	/** Makes room for the next request to a model, if there is too little or `force` says so. The log is in hand. */
	compact(model: Model, { force, signal, system }: { readonly force: boolean; readonly signal: AbortSignal; readonly system: string }): Promise<Compacted> {
		const { log, config, hub, toolbox, summaryModel } = this.#parts;
		const overhead = overheadOf(system, toolbox.registry.shown);
		const writer = summaryModel ?? model;
		let asked = false;
		const ask: Model["ask"] = (request, stop) => {
			asked = true; // now it takes a while
			hub.emit({ type: "compacting", done: false });
			return writer.ask(request, stop);
		};
		const compacted = compact(log, {
			model: { name: writer.name, format: writer.format, window: writer.window, ask },
			window: model.window.tokens,
			overhead,
			settings: config.compact,
			digest: () => this.#digest(),
			signal,
			force,
			measure: requestMeasure(log.entries, overhead),
		});
		return compacted.finally(() => {
			if (asked) hub.emit({ type: "compacting", done: true });
		});
	}

	#digest(): string {
		return this.#parts.keys.redact(digest(this.source));
	}
}
