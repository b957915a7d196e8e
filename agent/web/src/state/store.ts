/** What is known of the conversations, as signals; and what a person can do, as functions that reject in words. */
import { signal } from "@preact/signals";
import type { PartHost } from "holdfast/http";
import type {
	BusyMode,
	ConversationItem,
	LiveState,
	NewConversation,
	PageSettings,
	SentMessage,
	ShownEntry,
	StreamEvents,
} from "../../../src/page/messages.js";
import { listen } from "./events.js";

const LISTED = 60;
const VOID_MS = 400;

export class Store {
	readonly list = signal<readonly ConversationItem[] | undefined>(undefined);
	readonly more = signal(false);
	/** The id of the conversation on show; "new": the form for another; undefined: the list alone. */
	readonly shown = signal<string | undefined>(undefined);
	readonly entries = signal<readonly ShownEntry[] | undefined>(undefined);
	/** There are lines before those that are here. */
	readonly earlier = signal(false);
	readonly live = signal<LiveState | undefined>(undefined);
	/** The answer as far as it has arrived. */
	readonly text = signal("");
	readonly thought = signal("");
	readonly broken = signal<StreamEvents["broken"] | undefined>(undefined);
	/** How many messages were sent from here. */
	readonly sent = signal(0);
	readonly connected = signal(true);
	readonly settings = signal<PageSettings | undefined>(undefined);
	/** A process whose terminal is shown beside the conversation. */
	readonly terminal = signal<string | undefined>(undefined);
	readonly #host: PartHost<HTMLElement>;
	#limit = LISTED;
	#next: number | undefined;
	#stop = new AbortController();
	#frame = 0;
	#voiding = 0;
	#arriving = { text: "", thought: "" };

	constructor(host: PartHost<HTMLElement>) {
		this.#host = host;
	}

	start(): () => void {
		const unroute = this.#host.onRoute(([id]) => this.#show(id));
		return () => {
			unroute();
			this.#stop.abort();
			cancelAnimationFrame(this.#frame);
			clearTimeout(this.#voiding);
		};
	}

	item(id: string): ConversationItem | undefined {
		return this.list.value?.find((item) => item.id === id);
	}

	async loadSettings(): Promise<void> {
		const settings = await this.#get<PageSettings>("/settings");
		this.settings.value = settings;
		if (settings.problem !== null) return;
		const { models } = await this.#get<{ models: string[] }>("/models");
		this.settings.value = { ...settings, models: [...new Set([...settings.models, ...models])] };
	}

	async begin(wanted: NewConversation): Promise<string> {
		return (await this.#post<{ id: string }>("/conversations", wanted)).id;
	}

	/** `id`: so that a message whose answer was lost on the way is not said twice. */
	async send(text: string, options: { mode?: BusyMode; id: string }): Promise<SentMessage> {
		const sent = await this.#post<SentMessage>(this.#path("/messages"), { text, ...options });
		this.sent.value++;
		return sent;
	}

	async takeBack(id: string): Promise<string> {
		const response = await this.#host.request("DELETE", this.#path(`/messages/${encodeURIComponent(id)}`));
		return ((await response.json()) as { text: string }).text;
	}

	interrupt = (): Promise<unknown> => this.#post(this.#path("/interrupt"));
	resume = (): Promise<unknown> => this.#post(this.#path("/resume"));
	setTitle = (title: string): Promise<unknown> => this.#post(this.#path("/title"), { title });
	answer = (id: string, text: string): Promise<unknown> => this.#post(this.#path("/answers"), { id, text });

	async loadEarlier(): Promise<void> {
		const [first] = this.entries.value ?? [];
		if (!first) return;
		const { entries, earlier } = await this.#get<{ entries: ShownEntry[]; earlier: boolean }>(this.#path(`/entries?before=${first.n}`));
		if (this.entries.value?.[0] !== first) return; // something else is on show meanwhile
		this.entries.value = [...entries, ...this.entries.value];
		this.earlier.value = earlier;
	}

	/** A line with all of its text. */
	async whole(n: number): Promise<ShownEntry> {
		return (await this.#get<{ entry: ShownEntry }>(this.#path(`/entries/${n}`))).entry;
	}

	async terminalOf(call: string): Promise<string | null> {
		return (await this.#get<{ session_id: string | null }>(this.#path(`/calls/${encodeURIComponent(call)}/terminal`))).session_id;
	}

	showMore(): void {
		this.#limit *= 3;
		this.#connect();
	}

	#show(id: string | undefined): void {
		if (id === this.shown.value && this.entries.value) return;
		this.shown.value = id;
		this.entries.value = undefined;
		this.earlier.value = false;
		this.live.value = undefined;
		this.broken.value = undefined;
		this.terminal.value = undefined;
		this.#void();
		this.#next = undefined;
		this.#connect();
	}

	#connect(): void {
		this.#stop.abort();
		this.#stop = new AbortController();
		void listen({
			host: this.#host,
			path: () => this.#streamPath(),
			connected: (is) => {
				this.connected.value = is;
			},
			signal: this.#stop.signal,
			heard: {
				list: ({ conversations, more }) => {
					this.list.value = conversations;
					this.more.value = more;
				},
				entries: (data) => this.#take(data),
				live: (live) => {
					this.live.value = live;
				},
				text: (piece) => this.#piece("text", piece),
				thought: (piece) => this.#piece("thought", piece),
				broken: (broken) => {
					this.broken.value = broken;
				},
			},
		});
	}

	#streamPath(): string {
		const id = this.shown.value;
		const query = new URLSearchParams({ list: String(this.#limit) });
		if (id !== undefined && id !== "new") query.set("conversation", id);
		if (this.#next !== undefined) query.set("from", String(this.#next));
		return `/stream?${query}`;
	}

	#take({ entries, next, earlier }: StreamEvents["entries"]): void {
		const known = this.entries.value ?? [];
		const fresh = entries.filter(({ n }) => n >= (this.#next ?? 0));
		if (this.#next === undefined) this.earlier.value = earlier;
		this.#next = Math.max(next, this.#next ?? 0);
		this.broken.value = undefined;
		if (fresh.some(({ t }) => t === "assistant" || t === "partial")) this.#void();
		if (fresh.length > 0 || !this.entries.value) this.entries.value = [...known, ...fresh];
	}

	/** Pieces come faster than a screen can show them. */
	#piece(kind: "text" | "thought", { at, text }: StreamEvents["text"]): void {
		if (at > this.#arriving[kind].length) return; // its beginning is void already: the line of the log was quicker
		clearTimeout(this.#voiding);
		if (at === 0 && text === "" && this.#arriving[kind] !== "") {
			// The line of the log takes its place, in a moment: until then it stays, or the page would flicker.
			this.#voiding = setTimeout(() => this.#void(), VOID_MS);
			return;
		}
		this.#arriving[kind] = this.#arriving[kind].slice(0, at) + text;
		if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint());
	}

	#void(): void {
		clearTimeout(this.#voiding);
		this.#arriving = { text: "", thought: "" };
		this.#paint();
	}

	#paint(): void {
		cancelAnimationFrame(this.#frame);
		this.#frame = 0;
		this.text.value = this.#arriving.text;
		this.thought.value = this.#arriving.thought;
	}

	#path(rest: string): string {
		return `/conversations/${encodeURIComponent(this.shown.value ?? "")}${rest}`;
	}

	async #get<T>(path: string): Promise<T> {
		return (await this.#host.request("GET", path)).json() as Promise<T>;
	}

	async #post<T>(path: string, body: unknown = {}): Promise<T> {
		return (await this.#host.request("POST", path, { body })).json() as Promise<T>;
	}
}
