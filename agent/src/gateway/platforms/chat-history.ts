/**
 * For platforms that have a history but do not deliver again what a lost connection has missed: each time a connection comes, each chat is read from its last
 * stored message on, and what is said live in a chat is stored after that. So the order of a chat is kept, and its last stored message has nothing missing
 * before it, whenever the gateway is killed.
 */
import { Backoff, InOrder, offer, type Pace, pause } from "./pace.js";
import { type ChatRef, type Incoming, type LastSeen, PlatformError, type PlatformEvents, type Tapped } from "./platform.js";

const REMEMBERED = 500;

/** Reads what was said in a chat behind a message, oldest first. Rejects with `PlatformError`. */
export type ReadBehind = (last: LastSeen, signal: AbortSignal) => AsyncIterable<Incoming>;

interface Lane {
	readonly queue: InOrder;
	last: LastSeen | undefined;
	/** Whether something may have been said that was not read yet. */
	missed: boolean;
}

export class ChatHistory {
	readonly #on: PlatformEvents;
	readonly #pace: Pace;
	readonly #signal: AbortSignal;
	readonly #read: ReadBehind;
	/** The chat that spoke last is the last. */
	readonly #lanes = new Map<string, Lane>();

	constructor(on: PlatformEvents, pace: Pace, signal: AbortSignal, read: ReadBehind, seen: readonly LastSeen[]) {
		this.#on = on;
		this.#pace = pace;
		this.#signal = signal;
		this.#read = read;
		for (const last of [...seen].sort((a, b) => a.at - b.at)) this.#lane(last.chat).last = last;
	}

	/** A connection is about to come: from here on, what was missed in a chat goes before what is live in it. */
	connecting(): void {
		for (const lane of this.#lanes.values()) lane.missed = lane.last !== undefined;
	}

	/** Reads what was missed, the chat that spoke last first, one chat after another. */
	async catchUp(): Promise<void> {
		for (const lane of [...this.#lanes.values()].reverse()) await this.#caughtUp(lane);
	}

	/** Resolves with whether it was stored. */
	message(incoming: Incoming): Promise<boolean> {
		const lane = this.#lane(incoming.chat);
		void this.#caughtUp(lane);
		return lane.queue.do(() => this.#store(lane, incoming));
	}

	tapped(tap: Tapped): Promise<boolean> {
		return this.#lane(tap.chat).queue.tapped(tap);
	}

	async #store(lane: Lane, incoming: Incoming): Promise<void> {
		await this.#on.message(incoming);
		const { chat, id, at } = incoming;
		if (lane.last === undefined || lane.last.at <= at) lane.last = { chat, message: id, at };
	}

	/** At once, also if another chat is still being read. */
	async #caughtUp(lane: Lane): Promise<void> {
		if (!lane.missed) return;
		lane.missed = false;
		await lane.queue.do(() => this.#behind(lane));
	}

	async #behind(lane: Lane): Promise<void> {
		for (const backoff = new Backoff(this.#pace); lane.last && !this.#signal.aborted; ) {
			try {
				for await (const incoming of this.#read(lane.last, this.#signal))
					if (!(await offer(() => this.#store(lane, incoming), this.#pace, this.#signal))) return;
				return;
			} catch (error) {
				const { kind = "refused", until = 0 } = error instanceof PlatformError ? error : {};
				if (kind !== "later" && kind !== "not-sent" && kind !== "unsure") return; // a chat that we were removed from: what is live goes on
				await (kind === "later" ? pause(Math.max(0, until - Date.now()), this.#signal) : backoff.wait(this.#signal));
			}
		}
	}

	#lane({ id, thread }: ChatRef): Lane {
		const key = JSON.stringify([id, thread]);
		const lane = this.#lanes.get(key) ?? { queue: new InOrder(this.#on, this.#pace, this.#signal), last: undefined, missed: false };
		this.#lanes.delete(key);
		this.#lanes.set(key, lane);
		if (this.#lanes.size > REMEMBERED) for (const [old, { missed }] of this.#lanes) if (!missed && this.#lanes.delete(old)) break;
		return lane;
	}
}
