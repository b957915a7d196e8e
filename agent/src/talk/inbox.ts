/**
 * The messages that wait for a conversation: `inbox/ID.jsonl`. A message is accepted when its line is on the disk, and leaves only when it is in the log, or
 * when the person takes it back. Each id is accepted once: a platform that delivers a message again is told that it is known. Any program may put something in;
 * each holds the claim for as long as that takes.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import {
	AgentError,
	type AgentHome,
	type Clock,
	errno,
	fromSystem,
	inboxClaim,
	inboxFile,
	isoTime,
	type LineDisk,
	LineFile,
	readOpenLines,
	syncDir,
	systemClock,
	watchFile,
	withClaim,
	writeWhole,
} from "../base/index.js";
import type { BusyMode, FileRef, Origin } from "./entry.js";

export type InboxItem =
	| { readonly kind: "user"; readonly id: string; readonly text: string; readonly by: Origin; readonly files?: readonly FileRef[]; readonly mode: BusyMode }
	| { readonly kind: "notice"; readonly id: string; readonly text: string };

/** With the time at which it was accepted. */
export type WaitingItem = InboxItem & { readonly at: string };

type InboxLine =
	| ({ readonly t: "put"; readonly at: string } & InboxItem)
	/** `log`: they are in the log. `back`: the person took them back. */
	| { readonly t: "out"; readonly at: string; readonly ids: readonly string[]; readonly how: "log" | "back" }
	/** The first line of a file that was written anew: ids of messages that have left. `file` tells it from the file before. */
	| { readonly t: "known"; readonly file: string; readonly ids: readonly string[] };

export interface InboxOptions {
	readonly clock?: Clock;
	readonly disk?: LineDisk;
	/** Above so many bytes the file is written anew, without what has left. */
	readonly rewriteBytes?: number;
}

const REWRITE_BYTES = 1024 * 1024;
const KNOWN_IDS = 10_000;

/** The contents of one file. A file that was written anew is another: it begins with other bytes. */
interface State {
	readonly head: Buffer;
	readonly bytes: number;
	readonly lines: number;
	readonly waiting: Map<string, WaitingItem>;
	readonly known: Set<string>;
	/** How long the file was when it was last written anew: it must double before that is done again. */
	compact: number;
}

const HEAD_BYTES = 200;
const freshState = (): State => ({ head: Buffer.alloc(0), bytes: 0, lines: 0, waiting: new Map(), known: new Set(), compact: 0 });

/** The caller's result, and the line that is appended for it. */
type Decision<T> = readonly [result: T, line?: InboxLine];

export class Inbox {
	readonly file: string;
	readonly #claim: string;
	readonly #options: InboxOptions;
	#state = freshState();

	/** `id`: the conversation's. */
	constructor(home: AgentHome, id: string, options: InboxOptions = {}) {
		this.file = inboxFile(home, id);
		this.#claim = inboxClaim(home, id);
		this.#options = options;
	}

	/** Accepts a message: it is on the disk when this resolves. False: its id is known, and nothing was written. Rejects with `NO_SPACE` on a full disk. */
	async put(item: InboxItem): Promise<boolean> {
		if (item.text.trim() === "" && !(item.kind === "user" && item.files?.length)) throw new AgentError("INVALID", "the message is empty; write something");
		return this.#change((state) => (state.known.has(item.id) ? [false] : [true, { t: "put", at: this.#now(), ...item }]));
	}

	/** Returns the waiting messages, in the order they came. */
	waiting(): readonly WaitingItem[] {
		this.#look();
		return [...this.#state.waiting.values()];
	}

	/** Takes a message back that waits. Of all who try one gets it; undefined: it has left. */
	async takeBack(id: string): Promise<InboxItem | undefined> {
		if (!this.waiting().some((item) => item.id === id)) return undefined;
		return this.#change((state) => {
			const item = state.waiting.get(id);
			return item ? [item, { t: "out", at: this.#now(), ids: [id], how: "back" }] : [undefined];
		});
	}

	/**
	 * Moves what waits to where `say` puts it, in the order it came. Each leaves when `say` has resolved for it; if one rejects, it and those behind it stay.
	 * Meanwhile nothing can be taken back.
	 */
	async move(which: (item: InboxItem) => boolean, say: (item: InboxItem) => Promise<void>): Promise<void> {
		let failed: { readonly error: unknown } | undefined;
		await this.#change(async ({ waiting }) => {
			const ids: string[] = [];
			for (const item of [...waiting.values()].filter(which)) {
				try {
					await say(item);
					ids.push(item.id);
				} catch (error) {
					failed = { error };
					break;
				}
			}
			return ids.length > 0 ? [undefined, { t: "out", at: this.#now(), ids, how: "log" }] : [undefined];
		});
		if (failed) throw failed.error;
	}

	/** Calls `changed` when something was put in or has left, by whichever program. Returns a function that ends it. */
	watch(changed: () => void): () => void {
		return watchFile(this.file, changed);
	}

	#change<T>(decide: (state: State) => Decision<T> | Promise<Decision<T>>): Promise<T> {
		return withClaim(this.#claim, "inbox", async () => {
			const isNew = !this.#look();
			const file = LineFile.open(this.file, { after: this.#state, ...(this.#options.disk ? { disk: this.#options.disk } : {}) });
			try {
				if (isNew) syncDir(path.dirname(this.file));
				const [result, line] = await decide(this.#state);
				if (line) {
					await file.append([line], { sync: true });
					this.#look();
				}
				if (file.bytes > Math.max(this.#options.rewriteBytes ?? REWRITE_BYTES, 2 * this.#state.compact)) this.#rewrite();
				return result;
			} finally {
				await file.close();
			}
		});
	}

	/** Reads what has been appended since the last look; all of it if the file was written anew. False: there is none. */
	#look(): boolean {
		let fd: number;
		try {
			fd = fs.openSync(this.file, "r");
		} catch (error) {
			if (errno(error) !== "ENOENT") throw fromSystem(error, `cannot read ${this.file}`);
			this.#state = freshState();
			return false;
		}
		try {
			const head = Buffer.alloc(HEAD_BYTES);
			const begins = head.subarray(0, fs.readSync(fd, head, 0, HEAD_BYTES, 0));
			if (!begins.subarray(0, this.#state.head.length).equals(this.#state.head)) this.#state = freshState();
			const { values, bytes } = readOpenLines(fd, this.file, this.#state);
			this.#know(values as InboxLine[]);
			this.#state = { ...this.#state, head: Buffer.from(begins.subarray(0, Math.min(bytes, HEAD_BYTES))), bytes, lines: this.#state.lines + values.length };
			return true;
		} finally {
			fs.closeSync(fd);
		}
	}

	#know(lines: readonly InboxLine[]): void {
		const { waiting, known } = this.#state;
		for (const line of lines) {
			if (!isInboxLine(line))
				throw new AgentError(
					"BROKEN",
					`${this.file} has a line that is no message: ${JSON.stringify(line).slice(0, 100)}; move the file away, or remove that line`,
				);
			if (line.t === "put" && !known.has(line.id)) {
				const { t: _, ...item } = line;
				waiting.set(line.id, item);
				known.add(line.id);
			}
			if (line.t === "known") for (const id of line.ids) known.add(id);
			if (line.t === "out") for (const id of line.ids) waiting.delete(id);
		}
	}

	/** Whole or not at all; the claim is held, so no line comes in between. On a full disk the old file stays. */
	#rewrite(): void {
		const { waiting, known } = this.#state;
		const left = [...known].filter((id) => !waiting.has(id)).slice(-KNOWN_IDS);
		const puts = [...waiting.values()].map((item): InboxLine => ({ t: "put", ...item }));
		const text = [{ t: "known", file: randomBytes(8).toString("hex"), ids: left }, ...puts].map((line) => `${JSON.stringify(line)}\n`).join("");
		this.#state.compact = Math.max(this.#state.bytes, Buffer.byteLength(text)); // if it fails, not at once again
		try {
			writeWhole(this.file, text, { sync: true });
		} catch (error) {
			if (fromSystem(error, "").code !== "NO_SPACE") throw error;
			return;
		}
		this.#look();
		this.#state.compact = this.#state.bytes;
	}

	#now(): string {
		return isoTime(this.#options.clock ?? systemClock);
	}
}

const isInboxLine = ({ t, ...line }: InboxLine): boolean =>
	t === "put" ? "id" in line && typeof line.id === "string" : "ids" in line && Array.isArray(line.ids);
