/** The conversations of a home, the last used first, as they change: whichever program writes to them. Looked at only while a browser shows them. */
import fs from "node:fs";
import path from "node:path";
import { AgentError, type AgentHome, Claim, conversationFile, heldBy, isConversationId, namesIn } from "../base/index.js";
import { describeEntries, Log, type SessionInfo } from "../talk/index.js";
import { isUnanswered } from "../turn/index.js";
import type { Desk } from "./desk.js";
import type { ConversationItem, ConversationState, StreamEvents } from "./messages.js";

/** A claim that is taken or let go of is seen by looking; lines that are written are told. */
const LOOK_MS = 2_000;
const GATHER_MS = 150;
/** Logs that are written to are kept, so that of a long one only the new lines are read. */
const KEPT_LOGS = 4;

interface Read {
	/** The file's state when it was read. */
	readonly stamp: string;
	readonly info: SessionInfo;
	readonly unanswered: boolean;
}

export class ConversationList {
	readonly #desk: Desk;
	readonly #home: AgentHome;
	readonly #read = new Map<string, Read>();
	readonly #logs = new Map<string, Log>();
	readonly #listeners = new Set<() => void>();
	#stop: (() => void) | undefined;

	constructor(desk: Desk) {
		this.#desk = desk;
		this.#home = desk.home;
	}

	/** Conversations in which something was said, and the one on show. One that is damaged is listed with what is wrong with it. */
	items(limit: number, shown?: string): StreamEvents["list"] {
		const conversations: ConversationItem[] = [];
		let more = false;
		for (const { id, stamp } of this.#byLastUse()) {
			more ||= conversations.length >= limit;
			if (more && id !== shown) continue;
			const read = this.#look(id, stamp);
			if (read && (read.info.messages > 0 || read.info.broken !== undefined || id === shown)) conversations.push(this.#item(read));
		}
		return { conversations, more };
	}

	/** Calls `changed` when something may have. Returns what ends that. */
	listen(changed: () => void): () => void {
		this.#listeners.add(changed);
		this.#stop ??= this.#watch();
		return () => {
			this.#listeners.delete(changed);
			if (this.#listeners.size > 0) return;
			this.#stop?.();
			this.#stop = undefined;
		};
	}

	#watch(): () => void {
		let timer: NodeJS.Timeout | undefined;
		const soon = () => {
			timer ??= setTimeout(() => {
				timer = undefined;
				for (const changed of this.#listeners) changed();
			}, GATHER_MS);
		};
		let watcher: fs.FSWatcher | undefined;
		try {
			watcher = fs.watch(this.#home.conversations, soon);
			watcher.on("error", soon);
		} catch {
			watcher = undefined; // no watch is left for this user: the looks are all there is
		}
		const looks = setInterval(soon, LOOK_MS).unref();
		const unlisten = this.#desk.listen(soon);
		return () => {
			watcher?.close();
			clearInterval(looks);
			clearTimeout(timer);
			unlisten();
		};
	}

	#byLastUse(): { readonly id: string; readonly stamp: string }[] {
		const names = new Set(namesIn(this.#home.conversations).map((name) => path.basename(name, ".jsonl")));
		return [...names]
			.filter((id) => isConversationId(id))
			.flatMap((id) => {
				const stat = fs.statSync(conversationFile(this.#home, id), { throwIfNoEntry: false });
				return stat ? [{ id, at: stat.mtimeMs, stamp: `${stat.mtimeMs} ${stat.size} ${stat.ino}` }] : [];
			})
			.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
	}

	/** Read again only if its file has changed. */
	#look(id: string, stamp: string): Read | undefined {
		const known = this.#read.get(id);
		if (known?.stamp === stamp) return known;
		const read = this.#readAgain(id, stamp, known !== undefined);
		if (read) this.#read.set(id, read);
		else this.#read.delete(id);
		return read;
	}

	/** `changes`: it was read before, and may be again. */
	#readAgain(id: string, stamp: string, changes: boolean): Read | undefined {
		const file = conversationFile(this.#home, id);
		const kept = this.#logs.get(id);
		this.#logs.delete(id);
		try {
			const log = kept ?? Log.read(this.#home, id);
			log.refresh();
			if (changes) this.#logs.set(id, log); // the last used is the last in it
			for (const oldest of [...this.#logs.keys()].slice(0, -KEPT_LOGS)) this.#logs.delete(oldest);
			return { stamp, info: describeEntries(log.entries, file, log.openCalls.length), unanswered: isUnanswered(log) };
		} catch (error) {
			if (kept) return this.#readAgain(id, stamp, changes); // written anew: from its beginning
			if (!(error instanceof AgentError)) throw error;
			if (error.code === "NOT_FOUND") return undefined;
			return { stamp, info: { ...describeEntries([], file, 0), broken: error.message }, unanswered: false };
		}
	}

	#item({ info, unanswered }: Read): ConversationItem {
		const { id, title, first, startedAt, updatedAt, messages, model, place, task, ended, broken } = info;
		return {
			...{ id, title: title ?? null, first, started_at: startedAt, updated_at: updatedAt, messages, model, place, task },
			ended: ended ?? null,
			broken: broken ?? null,
			state: this.#state(id, unanswered),
		};
	}

	#state(id: string, unanswered: boolean): ConversationState {
		const conversation = this.#desk.get(id)?.conversation;
		if (conversation && conversation.questions.length > 0) return { is: "asks", by: null };
		const holder = otherHolder(this.#home, id);
		if (holder !== undefined) return { is: "works", by: holder };
		if (conversation?.busy) return { is: "works", by: null };
		return { is: unanswered ? "cut" : "idle" };
	}
}

/** The program that writes to a conversation, if it is not this one. */
export function otherHolder(home: AgentHome, id: string): string | undefined {
	const holder = Claim.holder(path.join(home.claims, id));
	return holder && holder.pid !== process.pid ? heldBy(holder) : undefined;
}
