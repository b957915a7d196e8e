/**
 * The messages for one platform, on the disk: `gateway/outbox-PLATFORM.jsonl`. A message is put in once by its id, and each step of its delivery is a line:
 * ready → trying → sent | refused, with `opened` between for a message that is filled in afterwards. `ready` and `trying` are synced before the next step: a
 * `trying` without `sent` may have arrived.
 */
import * as z from "zod";
import { type Clock, isoTime, LineFile, systemClock, writeWhole } from "../base/index.js";
import type { ChatRef } from "./platforms/platform.js";

const chatSchema = z.object({ id: z.string(), kind: z.enum(["direct", "group"]), thread: z.string().optional(), name: z.string().optional() });
const itemSchema = z.object({
	/** Ours: `[A-Za-z0-9_-]`. */
	id: z.string().regex(/^[A-Za-z0-9_-]{1,120}$/),
	/** Further ids that it stands for: none of them is put in again. */
	also: z.array(z.string()).optional(),
	chat: chatSchema,
	text: z.string(),
	rings: z.boolean(),
	buttons: z.array(z.object({ label: z.string(), data: z.string() })).optional(),
	replyTo: z.string().optional(),
	/** A file of this machine, or a text that is sent as one. */
	file: z.object({ name: z.string(), type: z.string().optional(), path: z.string().optional(), text: z.string().optional() }).optional(),
	/** Takes the place of this earlier message, where the platform can. */
	edits: z.string().optional(),
});
export type OutItem = Readonly<z.infer<typeof itemSchema>>;

const lineSchema = z.discriminatedUnion("t", [
	z.object({ t: z.literal("ready"), at: z.string(), item: itemSchema }),
	z.object({ t: z.literal("trying"), at: z.string(), id: z.string() }),
	z.object({ t: z.literal("again"), at: z.string(), id: z.string(), until: z.number(), unsure: z.boolean(), tries: z.number() }),
	z.object({ t: z.literal("opened"), at: z.string(), id: z.string(), message: z.string() }),
	z.object({ t: z.literal("sent"), at: z.string(), id: z.string(), message: z.string() }),
	z.object({ t: z.literal("refused"), at: z.string(), id: z.string(), why: z.string() }),
	/** A chat wants a pause, is gone, or is back. */
	z.object({ t: z.literal("chat"), at: z.string(), id: z.string(), until: z.number().optional(), dead: z.string().optional() }),
	/** The first line of a file that was written anew: what was settled before. */
	z.object({ t: z.literal("known"), settled: z.array(z.object({ id: z.string(), message: z.string(), chat: chatSchema.optional() })) }),
]);
type Line = z.infer<typeof lineSchema>;

export interface Delivery {
	readonly item: OutItem;
	readonly since: number;
	/** Began, and its end is not known. */
	unsure: boolean;
	tries: number;
	/** Not before; noted at that time. */
	until: number;
	noted: number;
	/** Its beginning is there: the message that is to be filled. */
	opened: string | undefined;
}

/** As the platform takes it. */
export const refOf = ({ id, kind, thread, name }: OutItem["chat"]): ChatRef => ({
	...{ id, kind },
	...(thread === undefined ? {} : { thread }),
	...(name === undefined ? {} : { name }),
});

const KNOWN = 10_000;
/** Smaller steps of the clock are the work of those who keep it right. */
const CLOCK_STEP_MS = 60_000;
const REWRITE_BYTES = 1024 * 1024;

export class OutboxStore {
	readonly #path: string;
	readonly #clock: Clock;
	#file: LineFile;
	/** How long it was when it was last written anew. */
	#compact: number;
	readonly #waiting = new Map<string, Delivery>();
	/** The settled messages: the platform's id, empty if it has none; for a message with buttons also its chat. */
	readonly #settled = new Map<string, { readonly message: string; readonly chat?: OutItem["chat"] | undefined }>();
	readonly #chats = new Map<string, { until?: number; dead?: string; noted: number }>();

	constructor(file: string, clock: Clock = systemClock) {
		this.#path = file;
		this.#clock = clock;
		this.#file = LineFile.open(file);
		for (const value of this.#file.values) {
			const parsed = lineSchema.safeParse(value);
			if (parsed.success) this.#know(parsed.data); // of a later version: what is not understood is left out
		}
		this.#compact = 0;
		if (this.#file.bytes > 0) this.#rewrite();
	}

	/** In the order in which they were put in. */
	get waiting(): readonly Delivery[] {
		return [...this.#waiting.values()];
	}

	get size(): number {
		return this.#waiting.size;
	}

	has(id: string): boolean {
		return this.#waiting.has(id) || this.#settled.has(id);
	}

	/** The platform's id of a message that was sent. */
	messageOf(id: string): string | undefined {
		return this.#settled.get(id)?.message || this.#waiting.get(id)?.opened;
	}

	/** Returns the chat of a message with buttons. */
	chatOf(id: string): OutItem["chat"] | undefined {
		return this.#settled.get(id)?.chat ?? this.#waiting.get(id)?.item.chat;
	}

	/** Ours of a message of the platform. */
	idOf(message: string): string | undefined {
		for (const [id, sent] of this.#settled) if (sent.message === message) return id;
		for (const { item, opened } of this.#waiting.values()) if (opened === message) return item.id;
		return undefined;
	}

	chat(id: string): { readonly until?: number; readonly dead?: string } {
		return this.#chats.get(id) ?? {};
	}

	/** How long it has to wait still. A pause that was noted later than now is one of a clock that was set back: then the platform is asked anew. */
	waitOf({ item, until, noted }: Delivery): number {
		const chat = this.#chats.get(item.chat.id);
		return Math.max(0, this.#left(until, noted), this.#left(chat?.until ?? 0, chat?.noted ?? 0));
	}

	/** The chat wants a pause now. */
	isPaused(id: string): boolean {
		const { until = 0, noted = 0 } = this.#chats.get(id) ?? {};
		return this.#left(until, noted) > 0;
	}

	#left(until: number, noted: number): number {
		const now = this.#clock.now();
		return noted > now + CLOCK_STEP_MS ? 0 : until - now;
	}

	/** Takes those that are new; they are on the disk when this resolves. Rejects, and takes none, if that cannot be. */
	async put(items: readonly OutItem[]): Promise<readonly OutItem[]> {
		const fresh = items.filter(({ id }) => !this.has(id));
		if (fresh.length === 0) return [];
		await this.#write(
			fresh.map((item) => ({ t: "ready", at: this.#now(), item })),
			true,
		);
		return fresh;
	}

	/** Before a request: on the disk when this resolves. */
	trying(id: string): Promise<void> {
		return this.#write([{ t: "trying", at: this.#now(), id }], true);
	}

	/** It was not taken, or nobody knows. */
	again(id: string, { until, unsure, tries }: { readonly until: number; readonly unsure: boolean; readonly tries: number }): Promise<void> {
		return this.#write([{ t: "again", at: this.#now(), id, until, unsure, tries }], false);
	}

	opened(id: string, message: string): Promise<void> {
		return this.#write([{ t: "opened", at: this.#now(), id, message }], true);
	}

	async sent(id: string, message: string): Promise<void> {
		await this.#write([{ t: "sent", at: this.#now(), id, message }], false);
		if (this.#file.bytes > Math.max(REWRITE_BYTES, 2 * this.#compact)) this.#rewrite();
	}

	refused(id: string, why: string): Promise<void> {
		return this.#write([{ t: "refused", at: this.#now(), id, why }], false);
	}

	pause(chat: string, until: number): Promise<void> {
		return this.#write([{ t: "chat", at: this.#now(), id: chat, until }], true);
	}

	dead(chat: string, why: string): Promise<void> {
		return this.#write([{ t: "chat", at: this.#now(), id: chat, dead: why }], false);
	}

	alive(chat: string): Promise<void> {
		return this.#write([{ t: "chat", at: this.#now(), id: chat }], false);
	}

	close(): Promise<void> {
		return this.#file.close();
	}

	async #write(lines: readonly Line[], sync: boolean): Promise<void> {
		await this.#file.append(lines, { sync });
		for (const line of lines) this.#know(line);
	}

	#know(line: Line): void {
		if (line.t === "ready") {
			const { item } = line;
			if (this.has(item.id)) return;
			this.#waiting.set(item.id, { item, since: Date.parse(line.at), unsure: false, tries: 0, until: 0, noted: 0, opened: undefined });
			for (const id of item.also ?? []) this.#settle(id, { message: "" });
			return;
		}
		if (line.t === "known") {
			for (const { id, ...one } of line.settled) this.#settle(id, one);
			return;
		}
		if (line.t === "chat") {
			const { id, until, dead, at } = line;
			if (until === undefined && dead === undefined) this.#chats.delete(id);
			else this.#chats.set(id, { noted: Date.parse(at), ...(until === undefined ? {} : { until }), ...(dead === undefined ? {} : { dead }) });
			return;
		}
		const one = this.#waiting.get(line.id);
		if (!one) return;
		if (line.t === "trying") Object.assign(one, { unsure: true, tries: one.tries + 1 });
		if (line.t === "again") Object.assign(one, { unsure: line.unsure, until: line.until, noted: Date.parse(line.at), tries: line.tries });
		if (line.t === "opened") Object.assign(one, { opened: line.message, unsure: false });
		if (line.t !== "sent" && line.t !== "refused") return;
		this.#waiting.delete(line.id);
		this.#settle(line.id, { message: line.t === "sent" ? line.message : "", ...(one.item.buttons?.length ? { chat: one.item.chat } : {}) });
	}

	#settle(id: string, one: { readonly message: string; readonly chat?: OutItem["chat"] | undefined }): void {
		this.#settled.delete(id);
		this.#settled.set(id, one);
		if (this.#settled.size <= KNOWN) return;
		const [oldest = ""] = this.#settled.keys();
		this.#settled.delete(oldest);
	}

	/** Whole or not at all. On a full disk the old file stays. */
	#rewrite(): void {
		const at = this.#now();
		for (const [id, { until = 0, dead }] of this.#chats) if (dead === undefined && until < this.#clock.now()) this.#chats.delete(id);
		const lines: Line[] = [
			{ t: "known", settled: [...this.#settled].map(([id, one]) => ({ id, ...one })) },
			...[...this.#chats].map(
				([id, { until, dead, noted }]): Line => ({
					t: "chat",
					at: new Date(noted).toISOString(),
					id,
					...(until === undefined ? {} : { until }),
					...(dead === undefined ? {} : { dead }),
				}),
			),
		];
		for (const { item, since, unsure, tries, until, noted, opened } of this.#waiting.values()) {
			lines.push({ t: "ready", at: new Date(since).toISOString(), item });
			if (opened !== undefined) lines.push({ t: "opened", at, id: item.id, message: opened });
			if (tries > 0 || unsure) lines.push({ t: "again", at: new Date(noted).toISOString(), id: item.id, until, unsure, tries });
		}
		try {
			writeWhole(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { sync: true });
		} catch {
			this.#compact = this.#file.bytes; // not at once again
			return;
		}
		const old = this.#file;
		this.#file = LineFile.open(this.#path);
		this.#compact = this.#file.bytes;
		void old.close();
	}

	#now(): string {
		return isoTime(this.#clock);
	}
}
