/** Our own loop as the agent of an episode: one conversation for all of its rounds. */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type AgentConfig, type AgentHome, type KeyRing, writeWhole } from "../../base/index.js";
import { type Actor, type Begun, type EpisodeAgent, type EpisodeEnd, EpisodeError, type Scene, type ToolCount } from "../../episode/index.js";
import type { Model, Usage } from "../../model/index.js";
import { exportConversation } from "../../talk/index.js";
import { type Conversation, openConversation, type TurnEnd } from "../../turn/index.js";

const AGAIN_MS = 100;

export interface ModelAgentOptions {
	readonly home: AgentHome;
	readonly config: AgentConfig;
	readonly model: Model;
	readonly keys: KeyRing;
}

export const modelAgent = (options: ModelAgentOptions): EpisodeAgent => ({
	name: "model",
	enter: async (scene, begun) => new LoopActor(options, scene, await conversationFor(options, scene, begun)),
});

function conversationFor({ home, config, model, keys }: ModelAgentOptions, { cx, setting, runtime }: Scene, { toolsets }: Begun): Promise<Conversation> {
	return openConversation({
		...{ home, model, runtime, keys },
		config: { ...config, place: setting.place as AgentConfig["place"] },
		door: { name: "run", kind: "run", nobody: () => "this is a run without a person" },
		begin: { task: cx.task },
		...(setting.cwd === undefined ? {} : { cwd: setting.cwd }),
		...(setting.env === undefined ? {} : { env: setting.env }),
		...(setting.user === undefined ? {} : { user: setting.user }),
		...(toolsets ? { toolsets } : {}),
		...{ resume: false, record: true },
	});
}

class LoopActor implements Actor {
	readonly #options: ModelAgentOptions;
	readonly #scene: Scene;
	readonly #conversation: Conversation;
	readonly #usages: Usage[] = [];

	constructor(options: ModelAgentOptions, scene: Scene, conversation: Conversation) {
		this.#options = options;
		this.#scene = scene;
		this.#conversation = conversation;
	}

	async act({ prompt }: Begun, _round: number, signal: AbortSignal): Promise<EpisodeEnd> {
		const conversation = this.#conversation;
		const idle = new AbortController();
		const stop = (): void => void stopped(conversation, idle.signal);
		if (signal.aborted) return "stopped";
		signal.addEventListener("abort", stop, { once: true });
		try {
			await conversation.send(prompt, { platform: "run", person: "run" }, { mode: "queue" });
			const last = await conversation.idle();
			if (last) this.#usages.push(last.usage);
			if (signal.aborted) return "stopped";
			if (!last) throw new EpisodeError("runner", "failed", "no turn was made", { again: true });
			const how = ENDS[last.why];
			if (typeof how === "string") return how;
			throw how.of === "model"
				? new EpisodeError("model", "failed", last.text, { again: how.again })
				: new EpisodeError("runner", last.why === "disk" ? "disk" : "failed", last.text, { again: how.again });
		} finally {
			signal.removeEventListener("abort", stop);
			idle.abort();
		}
	}

	async leave() {
		const conversation = this.#conversation;
		const tools = [...conversation.statistics].map(([tool, { calls, failed }]): ToolCount => ({ tool, count: calls, failure: failed }));
		const trajectory = exportConversation(conversation.log.entries, "openai", (text) => this.#options.keys.redact(text));
		writeWhole(path.join(this.#scene.folder, "trajectory.json"), `${JSON.stringify(trajectory)}\n`);
		await conversation.close();
		return { conversation: conversation.id, usage: summed(this.#usages), tools };
	}
}

/** A turn that is only about to begin cannot be interrupted yet: so it is done until nothing is under way. */
async function stopped(conversation: Conversation, idle: AbortSignal): Promise<void> {
	while (!idle.aborted) {
		await conversation.interrupt();
		await sleep(AGAIN_MS, undefined, { signal: idle }).catch(() => {}); // idle: the loop ends
	}
}

function summed(usages: readonly Usage[]): Usage {
	const sum = (part: (usage: Usage) => number | undefined): number | undefined =>
		usages.every((usage) => part(usage) === undefined) ? undefined : usages.reduce((total, usage) => total + (part(usage) ?? 0), 0);
	const [cached, cost] = [sum(({ cached }) => cached), sum(({ cost }) => cost)];
	return {
		input: sum(({ input }) => input) ?? 0,
		output: sum(({ output }) => output) ?? 0,
		...(cached === undefined ? {} : { cached }),
		...(cost === undefined ? {} : { cost }),
		...(usages.some(({ estimated }) => estimated) ? { estimated: true } : {}),
	};
}

/** The meaning of each end of a turn for an episode: an end that is scored, or whose failure it is and whether another attempt may help. */
const ENDS: Readonly<Record<TurnEnd, EpisodeEnd | { readonly of: "model" | "runner"; readonly again: boolean }>> = {
	answered: "finished",
	steps: "turns",
	loop: "stopped",
	empty: "stopped",
	too_long: "too_long",
	approval: "stopped",
	interrupted: "stopped",
	model: { of: "model", again: true },
	disk: { of: "runner", again: true },
	crashes: { of: "runner", again: false },
	left: { of: "runner", again: true },
	error: { of: "runner", again: false },
};
