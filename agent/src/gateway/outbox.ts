/**
 * Sends what is in the outbox of a platform: each chat in order, chats beside each other. What is not known to have arrived is treated by what the platform
 * can tell (platform.ts, `Certainty`). A platform that wants a pause gets it, also over a restart.
 */
import fs from "node:fs";
import { anySignal, type Clock, systemClock } from "../base/index.js";
import { type Delivery, type OutboxStore, type OutItem, refOf } from "./outbox-store.js";
import { type Outgoing, type Platform, PlatformError, type PlatformErrorKind } from "./platforms/platform.js";
import { laneOf } from "./route.js";
import { opening } from "./split.js";

const TRIES = 10;
const GIVE_UP_MS = 24 * 3_600_000;
const REQUEST_MS = 60_000;
const OPENING_CHARS = 200;
const AGAIN = "(perhaps again) ";
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 3_600_000;
/** A timer cannot wait longer. */
const TIMER_MS = 2 ** 31 - 1;

export interface OutboxOptions {
	readonly store: OutboxStore;
	readonly platform: Platform;
	readonly clock?: Clock;
	/** Reports messages that were given up, and why. */
	readonly report?: (text: string) => void;
	readonly told?: (what: "sent" | "again" | "refused" | "paused") => void;
	/** Something of a chat was settled. */
	readonly settled?: (item: OutItem) => void;
	/** The first wait after a failure; tests do not want to wait. */
	readonly firstWaitMs?: number;
}

export class Outbox {
	readonly #options: OutboxOptions;
	readonly #clock: Clock;
	readonly #lanes = new Map<string, Promise<void>>();
	readonly #stop = new AbortController();
	/** Lanes that wait; each wakes when something has changed. */
	readonly #wakes = new Set<() => void>();
	#open = false;
	#up = true;
	/** The token is wrong: nothing can be sent until the gateway is started anew. */
	#barred = false;

	constructor(options: OutboxOptions) {
		this.#options = options;
		this.#clock = options.clock ?? systemClock;
	}

	get store(): OutboxStore {
		return this.#options.store;
	}

	/** Nothing waits for this chat, and it wants no pause: progress may be shown. */
	quiet(chat: OutItem["chat"]): boolean {
		const lane = laneOf(chat);
		const { dead } = this.store.chat(chat.id);
		return (
			!this.#barred && this.#up && dead === undefined && !this.store.isPaused(chat.id) && !this.store.waiting.some(({ item }) => laneOf(item.chat) === lane)
		);
	}

	/** Takes messages; they are on the disk when this resolves. Those with ids that were taken before are not taken again. */
	async put(...items: readonly OutItem[]): Promise<void> {
		const fresh = await this.store.put(items);
		for (const { chat } of fresh) this.#run(laneOf(chat));
	}

	/** Begins to send, with what was left by the program before. */
	start(): void {
		this.#open = true;
		for (const { item } of this.store.waiting) this.#run(laneOf(item.chat));
	}

	/** The connection came or went. While it is away nothing is tried. */
	connection(up: boolean): void {
		this.#up = up;
		if (up) this.#poke();
	}

	/** A chat wants a pause, as a request of another kind (an edit of the progress) was told. */
	async paused(chat: string, until: number): Promise<void> {
		this.#options.told?.("paused");
		await this.store.pause(chat, until);
	}

	/** The chat has written: it is there. */
	async wrote(chat: string): Promise<void> {
		if (this.store.chat(chat).dead !== undefined) await this.store.alive(chat);
	}

	/** Requests under way may end; what they came to is not known if they do not. */
	async close(graceMs = 5_000): Promise<void> {
		this.#open = false;
		this.#poke();
		const timer = setTimeout(() => this.#stop.abort(), graceMs);
		await Promise.all(this.#lanes.values());
		clearTimeout(timer);
		this.#stop.abort();
		await this.store.close();
	}

	#run(lane: string): void {
		if (!this.#open || this.#lanes.has(lane)) return;
		const running = this.#drain(lane)
			.catch((error: unknown) => {
				this.#options.report?.(`The outbox cannot go on: ${error instanceof Error ? error.message : error}`);
				return this.#sleep(FIRST_WAIT_MS); // a full disk, which may have room again
			})
			.finally(() => {
				this.#lanes.delete(lane);
				if (this.#open && !this.#barred && this.#next(lane)) this.#run(lane);
			});
		this.#lanes.set(lane, running);
	}

	#next(lane: string): Delivery | undefined {
		return this.store.waiting.find(({ item }) => laneOf(item.chat) === lane);
	}

	async #drain(lane: string): Promise<void> {
		for (let one = this.#next(lane); one && this.#open && !this.#barred; one = this.#next(lane)) {
			const { dead } = this.store.chat(one.item.chat.id);
			const wait = this.store.waitOf(one);
			if (dead !== undefined) await this.#refuse(one, dead);
			else if (this.#clock.now() - one.since > GIVE_UP_MS) await this.#refuse(one, "it could not be delivered for a day");
			else if (one.tries >= TRIES && one.opened === undefined) await this.#refuse(one, `it could not be delivered in ${TRIES} tries`);
			else if (!this.#up) await this.#sleep(TIMER_MS);
			else if (wait > 0) await this.#sleep(wait);
			else await this.#deliver(one);
		}
	}

	async #deliver(one: Delivery): Promise<void> {
		const { unsure, tries } = one; // a try that was certainly not taken leaves them as they are
		try {
			const message = one.item.edits === undefined ? await this.#sent(one) : await this.#edited(one);
			await this.store.sent(one.item.id, message);
			this.#options.told?.("sent");
			this.#options.settled?.(one.item);
		} catch (error) {
			await this.#failed({ ...one, unsure, tries }, error);
		}
	}

	/** An edit can be repeated, so there is nothing to be unsure about. Where there are no edits it is a message of its own. */
	async #edited(one: Delivery): Promise<string> {
		const { platform } = this.#options;
		const message = this.store.messageOf(one.item.edits as string);
		if (message === undefined || !platform.edit) return this.#sent(one);
		await this.store.trying(one.item.id);
		await platform.edit(message, outgoing(one.item), this.#signal());
		return message;
	}

	async #sent(one: Delivery): Promise<string> {
		const { platform } = this.#options;
		const { certainty } = platform.traits;
		const { item } = one;
		if (one.opened !== undefined) return this.#filled(one, one.opened);
		const unsure = one.unsure;
		if (unsure && platform.find) {
			const found = await platform.find(outgoing(item), this.#signal());
			if (found) return found.id;
		}
		const mark = unsure && (certainty === "fill" || certainty === "unsure") ? AGAIN : "";
		const fills = certainty === "fill" && platform.edit !== undefined && item.file === undefined && item.text.length + mark.length > OPENING_CHARS;
		await this.store.trying(item.id);
		if (!fills) return (await platform.send(outgoing({ ...item, text: `${mark}${item.text}` }), this.#signal())).id;
		const { buttons: _, ...head } = item;
		const { id } = await platform.send(outgoing({ ...head, text: opening(`${mark}${item.text}`, OPENING_CHARS) }), this.#signal());
		await this.store.opened(item.id, id);
		return this.#filled(one, id);
	}

	async #filled(one: Delivery, message: string): Promise<string> {
		const { platform } = this.#options;
		const { item, unsure } = one;
		try {
			await platform.edit?.(message, outgoing(item), this.#signal());
			return message;
		} catch (error) {
			if (!(error instanceof PlatformError) || error.kind !== "refused") throw error;
		}
		// The person has removed the opening meanwhile: without it the rest would be lost.
		await this.store.trying(item.id);
		return (await platform.send(outgoing({ ...item, text: `${unsure ? AGAIN : ""}${item.text}` }), this.#signal())).id;
	}

	async #failed(one: Delivery, error: unknown): Promise<void> {
		const kind: PlatformErrorKind = error instanceof PlatformError ? error.kind : "unsure";
		const words = error instanceof Error ? error.message : String(error);
		const { id } = one.item;
		const now = this.#clock.now();
		if (kind === "dead") {
			await this.store.dead(one.item.chat.id, words);
			return this.#refuse(one, words);
		}
		if (kind === "refused") return this.#refuse(one, words);
		if (kind === "key" || kind === "taken") {
			this.#barred = true;
			this.#options.report?.(words);
			return this.store.again(id, { ...one, until: 0 });
		}
		if (kind === "later") {
			const until = error instanceof PlatformError && error.until !== undefined ? error.until : now + FIRST_WAIT_MS;
			await this.store.again(id, { ...one, until });
			return this.paused(one.item.chat.id, until);
		}
		this.#options.told?.("again");
		const wait = Math.min((this.#options.firstWaitMs ?? FIRST_WAIT_MS) * 3 ** one.tries, LONGEST_WAIT_MS);
		await this.store.again(id, { until: now + wait, unsure: one.unsure || kind === "unsure", tries: one.tries + 1 });
	}

	async #refuse(one: Delivery, why: string): Promise<void> {
		await this.store.refused(one.item.id, why);
		this.#options.told?.("refused");
		this.#options.report?.(`A message was not delivered (${one.item.id}): ${why}`);
		this.#options.settled?.(one.item);
	}

	#signal(): AbortSignal {
		return anySignal([this.#stop.signal, AbortSignal.timeout(REQUEST_MS)]);
	}

	#poke(): void {
		for (const wake of [...this.#wakes]) wake();
	}

	#sleep(ms: number): Promise<void> {
		return new Promise((resolve) => {
			const wake = (): void => {
				clearTimeout(timer);
				this.#wakes.delete(wake);
				resolve();
			};
			const timer = setTimeout(wake, Math.min(ms, TIMER_MS));
			this.#wakes.add(wake);
		});
	}
}

function outgoing({ id, chat, text, rings, buttons, replyTo, file }: OutItem): Outgoing {
	return {
		id,
		chat: refOf(chat),
		text,
		rings,
		...(buttons ? { buttons } : {}),
		...(replyTo === undefined ? {} : { replyTo }),
		...(file ? { file: fileOf(file) } : {}),
	};
}

function fileOf({ name, type, path, text = "" }: NonNullable<OutItem["file"]>): NonNullable<Outgoing["file"]> {
	let bytes: Uint8Array;
	try {
		bytes = path === undefined ? Buffer.from(text, "utf8") : fs.readFileSync(path);
	} catch (error) {
		throw new PlatformError("refused", `the file ${name} cannot be read any more`, { cause: error });
	}
	return { name, bytes, ...(type === undefined ? {} : { type }) };
}
