/**
 * The conversations that this server has open. One is opened when a person says something in it or goes on with it, never by looking at it, and stays open as
 * long as something is under way in it: its processes may have something to tell the model.
 */
import { openRuntime, type Runtime } from "holdfast";
import { AgentError, type AgentHome, KeyRing, loadAgentConfig } from "../base/index.js";
import { chosenEndpoint, chosenModel, modelOf } from "../chat/index.js";
import type { Model } from "../model/index.js";
import { Log } from "../talk/index.js";
import { type Conversation, isUnanswered, openConversation } from "../turn/index.js";
import { Live } from "./live.js";
import type { NewConversation } from "./messages.js";

const IDLE_MS = 10 * 60_000;
const LOOK_MS = 60_000;
const GO_ON_MS = 3_600_000;
/** The platform of the page's messages, in the log. */
export const PLATFORM = "page";
const DOOR = { name: "the page", kind: "chat" } as const;

export interface DeskOptions {
	readonly home: AgentHome;
	/** The core's home: the page shows its terminals. */
	readonly coreHome: string;
	/** In place of one of its own, which it opens when it needs it. */
	readonly runtime?: Runtime | undefined;
	readonly now?: () => number;
	/** Reports a problem that no browser waits to hear of. */
	readonly report?: ((text: string) => void) | undefined;
}

export class Desk {
	readonly home: AgentHome;
	readonly keys: KeyRing;
	readonly #options: DeskOptions;
	readonly #open = new Map<string, Promise<Live>>();
	readonly #known = new Map<string, Live>();
	readonly #listeners = new Set<(id: string) => void>();
	#runtime: Promise<Runtime> | undefined;
	#timer: NodeJS.Timeout | undefined;
	#closed = false;

	constructor(options: DeskOptions) {
		this.#options = options;
		this.home = options.home;
		this.keys = new KeyRing(options.home);
	}

	/** The conversation as it is open in this server; undefined if it is not. */
	get(id: string): Live | undefined {
		return this.#known.get(id);
	}

	/** Calls `heard` with the id of a conversation that was opened or closed here. */
	listen(heard: (id: string) => void): () => void {
		this.#listeners.add(heard);
		return () => this.#listeners.delete(heard);
	}

	/** Opens a conversation, or returns it as it is open. A turn that was cut short goes on. */
	open(id: string): Promise<Live> {
		const there = this.#open.get(id);
		if (there) return there;
		const opening = this.#opened({ id });
		this.#open.set(id, opening);
		opening.catch(() => this.#open.delete(id)); // the next try may succeed
		return opening;
	}

	/** Begins a conversation with its first message. */
	async begin(wanted: NewConversation): Promise<Live> {
		const live = await this.#opened(wanted);
		this.#open.set(live.conversation.id, Promise.resolve(live));
		return live;
	}

	/** Goes on with a turn of this page that was cut short a moment ago, as by a server that was killed. An older one waits until the person says so. */
	async goOn(id: string): Promise<void> {
		const log = Log.read(this.home, id);
		const said = log.entries.findLast((entry) => entry.t === "user");
		const age = (this.#options.now?.() ?? Date.now()) - Date.parse(log.entries.at(-1)?.at ?? "");
		if (this.get(id) || !isUnanswered(log) || age > GO_ON_MS || said?.t !== "user" || said.by.platform !== PLATFORM) return;
		await this.open(id);
	}

	runtime(): Promise<Runtime> {
		if (this.#closed) throw new AgentError("ABORTED", "the server stops; try again when it is back");
		const { runtime, coreHome } = this.#options;
		this.#runtime ??= runtime ? Promise.resolve(runtime) : openRuntime({ home: coreHome, warm: 0 });
		return this.#runtime;
	}

	/** Leaves all. Commands and processes go on, and turns under way when they are opened again. */
	async close(): Promise<void> {
		this.#closed = true;
		clearInterval(this.#timer);
		const all = await Promise.allSettled(this.#open.values());
		await Promise.all(all.map((one) => (one.status === "fulfilled" ? one.value.conversation.close() : undefined)));
		if (this.#runtime && !this.#options.runtime) await (await this.#runtime).close();
	}

	async #opened(wanted: { readonly id: string } | NewConversation): Promise<Live> {
		const live = new Live(await this.#conversation(wanted));
		const { id } = live.conversation;
		this.#known.set(id, live);
		this.#tell(id);
		void live.over.then(() => {
			this.#known.delete(id);
			this.#open.delete(id);
			this.#tell(id);
		});
		this.#timer ??= setInterval(() => void this.#leaveIdle().catch((error: Error) => this.#options.report?.(error.message)), LOOK_MS).unref();
		void this.#resumeWhenAllowed(live);
		return live;
	}

	async #conversation(wanted: { readonly id: string } | NewConversation): Promise<Conversation> {
		const { home, keys } = this;
		const { config } = loadAgentConfig(home);
		const chosen = chosenEndpoint(config);
		const model = (name: string): Promise<Model> => modelOf({ home, keys, endpoint: chosen.endpoint, model: name, reasoning: config.reasoning });
		const name = "id" in wanted ? (chosenModel(home, wanted.id, chosen.name) ?? config.model) : (wanted.model ?? config.model);
		if (name === undefined) throw new AgentError("CONFIG", "no model is chosen; name one, or run `holdfast-agent setup model`");
		const summary = config.compact.model;
		const cwd = "id" in wanted ? undefined : (wanted.cwd ?? (/^local\b/.test(wanted.place ?? String(config.place)) ? process.cwd() : undefined));
		const conversation = await openConversation({
			...{ home, keys, runtime: await this.runtime(), door: DOOR, endpoint: chosen.name, model: await model(name) },
			config: "id" in wanted || wanted.place === undefined ? config : { ...config, place: wanted.place },
			...(summary === undefined ? {} : { summaryModel: await model(summary) }),
			...("id" in wanted ? { id: wanted.id } : {}),
			...(cwd === undefined ? {} : { cwd }),
		});
		if (!("id" in wanted) && name !== config.model) await conversation.setModel(conversation.model); // it was chosen for this one, and stays
		return conversation;
	}

	/** A call that no one had allowed in time is made when they have. */
	async #resumeWhenAllowed({ conversation, over }: Live): Promise<void> {
		const stop = new AbortController();
		void over.then(() => stop.abort());
		try {
			for await (const event of conversation.task.events({ signal: stop.signal })) {
				if (event.type === "approval.answered" && this.get(conversation.id)?.waitsForApproval) conversation.resume();
			}
		} catch {
			// the task has ended: nothing more is asked for it
		}
	}

	/** Closes conversations that were not used for a while, if nothing under way in them could have news. */
	async #leaveIdle(): Promise<void> {
		const now = this.#options.now?.() ?? Date.now();
		for (const live of this.#known.values()) {
			const { conversation } = live;
			if (conversation.busy || now - live.active < IDLE_MS || conversation.underWay.processes.length > 0) continue;
			this.#open.delete(conversation.id);
			await conversation.close();
		}
	}

	#tell(id: string): void {
		for (const heard of this.#listeners) heard(id);
	}
}
