/** An agent as a door uses it: settings, keys, the core's runtime and one conversation, which can be exchanged for another. */
import { openRuntime, type Runtime } from "holdfast";
import { AgentError, type AgentHome, type ConfigFlag, KeyRing, type LoadedConfig, nearNames } from "../base/index.js";
import { type EndpointModel, listModels } from "../model/index.js";
import { findSession, Log, lastSession, type SessionInfo } from "../talk/index.js";
import type { AgentTool } from "../tools/index.js";
import { type Conversation, type ConversationDoor, openConversation } from "../turn/index.js";
import { chosenModel } from "./chosen-model.js";
import { chosenEndpoint, modelOf } from "./endpoint.js";

const LIST_MS = 3_000;

export interface AgentSettings extends LoadedConfig {
	readonly home: AgentHome;
	readonly flags: readonly ConfigFlag[];
}

export interface AgentOptions {
	readonly settings: AgentSettings;
	readonly door: ConversationDoor;
	/** The start directory of a new conversation's shell, on this machine. */
	readonly cwd: string;
	/** The conversation to go on with: an id or a title; true: the last one. */
	readonly resume?: string | true;
	/** The keys that were read so far, which are masked everywhere. */
	readonly keys?: KeyRing;
	/** In place of one of its own; whoever gives it closes it. */
	readonly runtime?: Runtime;
	/** The task of conversations that begin here; default: one for each. */
	readonly task?: string;
	/** Returns further words for a conversation's prompt, by the one that it goes on from. */
	readonly extra?: (from: string | undefined) => string;
	/** Tools of the door's own. */
	readonly tools?: readonly AgentTool[];
	/** How often the same step may be cut short within an hour before the person is asked. */
	readonly crashes?: number;
}

export async function openAgent(options: AgentOptions): Promise<Agent> {
	const { settings } = options;
	const session = options.resume === undefined ? undefined : sessionOf(settings.home, options.resume);
	const agent = new Agent(options, options.runtime ?? (await openRuntime({ warm: 0 })));
	try {
		await agent.open(session?.id);
		return agent;
	} catch (error) {
		await agent.close();
		throw error;
	}
}

function sessionOf(home: AgentHome, wanted: string | true): SessionInfo {
	const session = wanted === true ? lastSession(home) : findSession(home, wanted);
	if (!session) throw new AgentError("NOT_FOUND", "there is no conversation to go on with; `holdfast-agent` begins one");
	if (session.broken !== undefined) throw new AgentError("BROKEN", session.broken);
	return session;
}

export class Agent implements AsyncDisposable {
	readonly settings: AgentSettings;
	readonly runtime: Runtime;
	readonly keys: KeyRing;
	readonly endpoint: ReturnType<typeof chosenEndpoint>;
	/** The directory it was started in. */
	readonly cwd: string;
	readonly #options: AgentOptions;
	#conversation: Conversation | undefined;

	constructor(options: AgentOptions, runtime: Runtime) {
		const { settings, cwd, keys = new KeyRing(settings.home) } = options;
		this.#options = options;
		this.settings = settings;
		this.runtime = runtime;
		this.keys = keys;
		this.cwd = cwd;
		this.endpoint = chosenEndpoint(settings.config);
	}

	get conversation(): Conversation {
		if (!this.#conversation) throw new AgentError("INTERNAL", "no conversation is open");
		return this.#conversation;
	}

	/**
	 * Opens a conversation, a new one without an id, in place of the one that is open; that one stays open if this fails. `conversation.resume()` goes on
	 * with a turn that was cut short, once someone listens.
	 */
	async open(id?: string, begin: { readonly from?: string } = {}): Promise<Conversation> {
		const { settings, runtime, keys, cwd } = this;
		const { door, task, extra, tools, crashes } = this.#options;
		const { home, config } = settings;
		const said = id === undefined ? undefined : chosenModel(home, id, this.endpoint.name);
		const flag = settings.flags.some(({ key }) => key[0] === "model");
		const name = (flag ? undefined : said) ?? config.model;
		if (name === undefined) throw new AgentError("CONFIG", "no model is chosen; run `holdfast-agent setup model`, or give --model NAME");
		const before = this.#conversation;
		if (before !== undefined && before.id === id) return before;
		this.#conversation = await openConversation({
			...{ home, config, runtime, keys, cwd, door, endpoint: this.endpoint.name },
			begin: { ...begin, ...(task === undefined ? {} : { task }) },
			...(extra === undefined ? {} : { extra: extra(id === undefined ? begin.from : fromOf(home, id)) }),
			...(tools === undefined ? {} : { tools }),
			...(crashes === undefined ? {} : { crashes }),
			model: await this.model(name),
			...(config.compact.model === undefined ? {} : { summaryModel: await this.model(config.compact.model) }),
			...(id === undefined ? {} : { id }),
			resume: false,
		});
		await before?.close();
		return this.#conversation;
	}

	/** A model of the endpoint, with what is known about it. */
	model(name: string): Promise<EndpointModel> {
		const { keys, settings } = this;
		return modelOf({ home: settings.home, keys, endpoint: this.endpoint.endpoint, model: name, reasoning: settings.config.reasoning });
	}

	/** Returns a remark on a model that the endpoint does not list; undefined if it does, or tells no list. It may work all the same: the first request tells. */
	async unlisted(name: string): Promise<string | undefined> {
		const { name: host, endpoint } = this.endpoint;
		const { key } = endpoint;
		const options = { endpoint, ...(key ? { key: () => this.keys.read(key) } : {}) };
		const ids = (await listModels(options, {}, AbortSignal.timeout(LIST_MS)).catch(() => [])).map(({ id }) => id);
		if (ids.length === 0 || ids.includes(name)) return undefined;
		const near = nearNames(name, ids);
		return `${host} does not list ${name}; ${near.length > 0 ? `did you mean ${near.join(" or ")}?` : "`holdfast-agent models` shows what it has"}`;
	}

	/** Leaves. What runs goes on. */
	async close(): Promise<void> {
		const open = this.#conversation;
		this.#conversation = undefined;
		try {
			await open?.close();
		} finally {
			if (!this.#options.runtime) await this.runtime.close();
		}
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}
}

function fromOf(home: AgentHome, id: string): string | undefined {
	const [begun] = Log.read(home, id).entries;
	return begun?.t === "begun" ? begun.from : undefined;
}
