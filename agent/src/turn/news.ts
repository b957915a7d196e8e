/** News of background processes, from the core into the inbox of a conversation. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Inbox } from "../talk/index.js";
import type { OpenedParts } from "./open.js";

const FULL_DISK_MS = 200;

export interface Notice {
	readonly id: string;
	readonly text: string;
}

export class News {
	readonly #parts: OpenedParts;
	readonly #inbox: Inbox;

	constructor(parts: OpenedParts, inbox: Inbox) {
		this.#parts = parts;
		this.#inbox = inbox;
	}

	/** Throws what the disk has against it. A notice that is there is not stored again. */
	async put({ id, text }: Notice): Promise<void> {
		await this.#inbox.put({ kind: "notice", id, text: this.#parts.keys.redact(text) });
	}

	/** Stores what comes and calls `heard`. What cannot be stored stays with the core until it can. Returns what ends it. */
	listen(heard: () => void): () => Promise<void> {
		const stop = new AbortController();
		const listening = this.#listen(stop.signal, heard).catch((error: unknown) => {
			const why = error instanceof Error ? error.message : String(error);
			if (!stop.signal.aborted) this.#parts.hub.emit({ type: "warning", text: `News of background processes cannot be read: ${why}` });
		});
		return () => {
			stop.abort();
			return listening;
		};
	}

	async #listen(signal: AbortSignal, heard: () => void): Promise<void> {
		const { runtime, task } = this.#parts;
		for await (const notice of task.notices({ signal })) {
			while (!(await this.#stored(notice))) {
				await sleep(FULL_DISK_MS, undefined, { signal }).catch(() => {});
				if (!signal.aborted) continue;
				runtime.notices.putBack([notice]);
				return;
			}
			heard();
		}
	}

	async #stored(notice: Notice): Promise<boolean> {
		try {
			await this.put(notice);
			return true;
		} catch {
			return false; // a full disk: tried again
		}
	}
}
