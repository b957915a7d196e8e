/** A turn of this server as it goes: what its events say up to now, for a browser that comes in the middle, and each change for those that are there. */
import type { Conversation, TurnEnd, TurnEvent } from "../turn/index.js";
import type { LiveState } from "./messages.js";

const WARNINGS = 5; // the last ones
const PROGRESS_CHARS = 300;

export type LiveChange = "state" | { readonly kind: "text" | "thought"; readonly at: number; readonly text: string };
type TurnState = Pick<LiveState, "asking" | "compacting" | "progress" | "retry" | "warnings" | "end">;

const NOTHING: TurnState = { asking: false, compacting: false, progress: {}, retry: null, warnings: [], end: null };

export class Live {
	readonly conversation: Conversation;
	readonly #listeners = new Set<(change: LiveChange) => void>();
	#turn: TurnState = NOTHING;
	#text = "";
	#thought = "";
	/** When something last happened in it. */
	active = Date.now();
	/** The turn ended because a person has not allowed a call yet. */
	waitsForApproval = false;
	/** Resolves when the conversation is closed. */
	readonly over: Promise<void>;

	constructor(conversation: Conversation) {
		this.conversation = conversation;
		const events = conversation.events[Symbol.asyncIterator](); // from now on: what is sent next must not be missed
		this.over = this.#listen(events);
	}

	get state(): TurnState & Pick<LiveState, "busy" | "questions"> {
		const { busy, questions } = this.conversation;
		return { ...this.#turn, busy, questions };
	}

	/** Returns the arrived part of the answer. */
	get arrived(): { readonly text: string; readonly thought: string } {
		return { text: this.#text, thought: this.#thought };
	}

	listen(heard: (change: LiveChange) => void): () => void {
		this.#listeners.add(heard);
		return () => this.#listeners.delete(heard);
	}

	async #listen(events: AsyncIterator<TurnEvent>): Promise<void> {
		for (let next = await events.next(); !next.done; next = await events.next()) {
			this.active = Date.now();
			this.#take(next.value);
		}
	}

	#take(event: TurnEvent): void {
		if (event.type === "text" || event.type === "reasoning") {
			this.#piece(event.type === "text" ? "text" : "thought", event.text);
			return;
		}
		if (voids(event)) this.#forget();
		if (event.type === "end" || event.type === "asking") this.waitsForApproval = event.type === "end" && event.why === "approval";
		this.#now(changeOf(event, this.#turn));
		if (event.type === "end") void this.conversation.idle().then(() => this.#tell("state")); // its last steps come behind that
	}

	#piece(kind: "text" | "thought", text: string): void {
		if (this.#turn.asking || this.#turn.retry) this.#now({ asking: false, retry: null });
		const at = kind === "text" ? this.#text.length : this.#thought.length;
		if (kind === "text") this.#text += text;
		else this.#thought += text;
		this.#tell({ kind, at, text });
	}

	#forget(): void {
		if (this.#text !== "") this.#tell({ kind: "text", at: 0, text: "" });
		if (this.#thought !== "") this.#tell({ kind: "thought", at: 0, text: "" });
		this.#text = "";
		this.#thought = "";
	}

	#now(change: Partial<TurnState>): void {
		this.#turn = { ...this.#turn, ...change };
		this.#tell("state");
	}

	#tell(change: LiveChange): void {
		for (const heard of this.#listeners) heard(change);
	}
}

/** Ends that the log has no line of. */
const UNWRITTEN: ReadonlySet<TurnEnd> = new Set(["approval", "disk", "error"]);

/** The answer is in the log, or is asked for again: its pieces are void. */
const voids = (event: TurnEvent): boolean =>
	event.type === "retry" || event.type === "end" || (event.type === "entry" && (event.entry.t === "assistant" || event.entry.t === "partial"));

function changeOf(event: TurnEvent, { progress, warnings }: TurnState): Partial<TurnState> {
	switch (event.type) {
		case "asking":
			return { asking: true, retry: null, end: null };
		case "retry":
			return { asking: true, retry: { why: event.why, until: new Date(Date.now() + event.waitMs).toISOString(), attempt: event.attempt } };
		case "entry":
			return { asking: false, retry: null, compacting: false, ...(event.entry.t === "user" ? { end: null, warnings: [] } : {}) };
		case "progress":
			return { progress: { ...progress, [event.id]: event.text.slice(-PROGRESS_CHARS) } };
		case "result":
			return { progress: Object.fromEntries(Object.entries(progress).filter(([id]) => id !== event.id)) };
		case "warning":
			return { warnings: [...warnings, event.text].slice(-WARNINGS) };
		case "compacting":
			return { compacting: !event.done };
		case "end":
			return { ...NOTHING, warnings, end: UNWRITTEN.has(event.why) ? event.text : null };
		default:
			return {};
	}
}
