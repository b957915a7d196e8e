/** A conversation on a home of its own, with the real core and the scripted model server. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { Runtime } from "holdfast";
import { testRuntime } from "holdfast/testing";
import { type AgentConfig, type AgentHome, agentConfigSchema, openAgentHome } from "../../src/base/index.js";
import { type ModelParts, openModel, type TokenIdsWish, type WireFormat } from "../../src/model/index.js";
import { type Conversation, type ConversationOptions, openConversation, type TurnEvent } from "../../src/turn/index.js";
import { type ModelServer, type ModelServerOptions, modelServer, type Script } from "../model-server/index.js";

export const ME = { platform: "test", person: "jo" } as const;

export interface TalkOptions extends Omit<Partial<ConversationOptions>, "config" | "runtime"> {
	readonly format?: WireFormat;
	readonly config?: Record<string, unknown>;
	readonly window?: number;
	readonly parts?: ModelParts;
	readonly tokenIds?: TokenIdsWish;
}

export interface Bench extends AsyncDisposable {
	readonly home: AgentHome;
	readonly dir: string;
	readonly runtime: Runtime;
	readonly server: ModelServer;
	/** Opens a conversation; with an id one that there is. All are closed at the end. */
	open(options?: TalkOptions): Promise<Talk>;
}

export interface Talk {
	readonly it: Conversation;
	readonly events: readonly TurnEvent[];
	/** Says something and waits until nothing is under way. */
	say(text: string): ReturnType<Conversation["idle"]>;
	/** Resolves with the first event that fits, also one that came before. */
	until<T extends TurnEvent["type"]>(type: T, fits?: (event: Extract<TurnEvent, { type: T }>) => boolean): Promise<Extract<TurnEvent, { type: T }>>;
	/** The lines of the log, without numbers, times and tokens. */
	lines(): Record<string, unknown>[];
	close(): Promise<void>;
}

export async function bench(script: Script = [], options: Pick<ModelServerOptions, "broken" | "tokens"> = {}): Promise<Bench> {
	const dir = path.join(process.env.TEST_ROOT as string, `turn-${randomBytes(4).toString("hex")}`);
	const home = openAgentHome(path.join(dir, "home"));
	const work = path.join(dir, "work");
	fs.mkdirSync(work, { recursive: true });
	const server = await modelServer({ script, ...options });
	const runtime = await testRuntime({ task: "unused" });
	const open: Talk[] = [];
	return {
		home,
		dir,
		runtime,
		server,
		async open(more = {}) {
			const talk = await openTalk({ home, runtime, server }, { cwd: work, ...more });
			open.push(talk);
			return talk;
		},
		async [Symbol.asyncDispose]() {
			for (const talk of open) await talk.close();
			await runtime.close();
			fs.rmSync(dir, { recursive: true, force: true });
			await server[Symbol.asyncDispose]();
		},
	};
}

export const configOf = (config: Record<string, unknown> = {}): AgentConfig => agentConfigSchema.parse({ toolsets: ["all"], ...config });

async function openTalk({ home, runtime, server }: Pick<Bench, "home" | "runtime" | "server">, options: TalkOptions): Promise<Talk> {
	const { format = "chat", config, window, parts, tokenIds, ...rest } = options;
	const url = format === "anthropic" ? server.url.replace(/\/v1$/, "") : server.url;
	const model = openModel(
		{ endpoint: { url, format }, model: "scripted", ...(window === undefined ? {} : { window }), ...(tokenIds ? { tokenIds } : {}) },
		parts,
	);
	const it = await openConversation({ home, runtime, model, config: configOf(config), door: { name: "test", kind: "chat" }, ...rest });
	const events: TurnEvent[] = [];
	const waiting = new Set<() => void>();
	const listening = (async () => {
		for await (const event of it.events) {
			events.push(event);
			for (const look of [...waiting]) look();
		}
	})();
	const close = async (): Promise<void> => {
		await it.close();
		await listening;
	};
	return {
		it,
		events,
		close,
		async say(text) {
			await it.send(text, ME);
			return it.idle();
		},
		until: (type, fits = () => true) =>
			new Promise((resolve) => {
				const look = (): void => {
					const found = events.find((event) => event.type === type && fits(event as never));
					if (!found) return;
					waiting.delete(look);
					resolve(found as never);
				};
				waiting.add(look);
				look();
			}),
		lines: () => it.log.entries.map(({ n: _, at: __, ...entry }) => withoutNoise(entry)),
	};
}

function withoutNoise(entry: Record<string, unknown>): Record<string, unknown> {
	const { usage: _, by: __, id: ___, model: ____, ...rest } = entry;
	return entry.t === "begun" ? { t: "begun" } : rest;
}
