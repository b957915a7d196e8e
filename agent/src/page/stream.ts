/**
 * Sends a browser news as server-sent events: the list of conversations, and one conversation: its lines by their numbers, so that a browser which comes back
 * goes on where it was, and the work under way in it.
 */
import path from "node:path";
import { AgentError, type AgentHome } from "../base/index.js";
import { type Entry, follow, Inbox, type InboxItem, Log } from "../talk/index.js";
import { readTodo } from "../tools/index.js";
import { stateDir } from "../turn/index.js";
import type { Desk } from "./desk.js";
import { problemOf } from "./errors.js";
import { type ConversationList, otherHolder } from "./list.js";
import type { LiveChange } from "./live.js";
import { type LiveState, PAGE_ENTRIES, type ShownEntry, type StreamEvents } from "./messages.js";
import { cutText, shownEntry } from "./shown.js";

const ALIVE_MS = 15_000;
const LOOK_MS = 1_000;
const WAITING_CHARS = 4_000;
const BATCH = 50;
/** A browser that does not read is disconnected; it comes back and gets what it missed. */
const UNREAD_BYTES = 8 * 1024 * 1024;

export interface StreamOptions {
	readonly desk: Desk;
	readonly list: ConversationList;
	/** How many conversations the list is to have; 0: none. */
	readonly listed: number;
	/** The conversation on show, and the first line that is wanted; without `from` the last ones. */
	readonly conversation?: { readonly id: string; readonly from?: number } | undefined;
	readonly isStillValid: () => boolean;
	/** The part is closed. */
	readonly closing: AbortSignal;
}

type Send = <K extends keyof StreamEvents>(event: K, data: StreamEvents[K]) => void;

export function openStream(options: StreamOptions): ReadableStream<Uint8Array> {
	const encoder = new TextEncoder();
	const stop = new AbortController();
	return new ReadableStream<Uint8Array>(
		{
			start: (controller) => {
				const end = () => {
					if (stop.signal.aborted) return;
					stop.abort();
					controller.close();
				};
				const write = (text: string): void => {
					if (stop.signal.aborted) return;
					if ((controller.desiredSize ?? 0) > 0 && options.isStillValid()) controller.enqueue(encoder.encode(text));
					else end();
				};
				const alive = setInterval(() => write(": alive\n\n"), ALIVE_MS);
				stop.signal.addEventListener("abort", () => clearInterval(alive));
				const send: Send = (event, data) => write(`event: ${event}\ndata: ${options.desk.keys.redact(JSON.stringify(data))}\n\n`);
				options.closing.addEventListener("abort", end);
				stop.signal.addEventListener("abort", () => options.closing.removeEventListener("abort", end));
				write("retry: 1000\n\n");
				if (options.listed > 0) tellList(options, send, stop.signal);
				if (options.conversation) void tellConversation(options, options.conversation, send, stop.signal);
			},
			cancel: () => stop.abort(),
		},
		new ByteLengthQueuingStrategy({ highWaterMark: UNREAD_BYTES }),
	);
}

/** All of it whenever something in it has changed: it is short. */
function tellList({ list, listed, conversation }: StreamOptions, send: Send, signal: AbortSignal): void {
	let last = "";
	const tell = guarded(send, () => {
		const items = list.items(listed, conversation?.id);
		const text = JSON.stringify(items);
		if (text !== last) send("list", items);
		last = text;
	});
	signal.addEventListener("abort", list.listen(tell));
	tell();
}

/** Timers and watchers call it: what fails is told to the browser, and takes nothing else with it. */
function guarded(send: Send, look: () => void): () => void {
	return () => {
		try {
			look();
		} catch (error) {
			send("broken", problemOf(error).body.error);
		}
	};
}

async function tellConversation(
	options: StreamOptions,
	{ id, from }: { readonly id: string; readonly from?: number },
	send: Send,
	signal: AbortSignal,
): Promise<void> {
	const { home } = options.desk;
	try {
		const { entries } = Log.read(home, id);
		const first = from ?? firstOf(entries);
		const tellEntries = batched((shown, next) => send("entries", { entries: shown, next, earlier: first > 0 }));
		tellEntries(
			entries.slice(first).flatMap((entry) => shownEntry(entry) ?? []),
			Math.max(first, entries.length),
		);
		tellLive(options, id, send, signal);
		for await (const entry of follow(home, id, { from: Math.max(first, entries.length), signal })) {
			const shown = shownEntry(entry);
			tellEntries(shown ? [shown] : [], entry.n + 1);
		}
	} catch (error) {
		if (signal.aborted) return;
		const { code, message } = problemOf(error instanceof AgentError && error.code === "INTERNAL" ? gone(id, error) : error).body.error;
		send("broken", { code, message });
	}
}

/** Its file cannot be read any more, for whatever reason. */
const gone = (id: string, cause: unknown): AgentError =>
	new AgentError("NOT_FOUND", `conversation ${id} cannot be read any more; it may have been removed`, { cause });

/** The last ones, from a message of a person on if one is near: an answer without its question is hard to read. */
export function firstOf(entries: readonly Entry[], end = entries.length): number {
	const start = Math.max(0, end - PAGE_ENTRIES);
	const said = entries.slice(Math.max(0, start - PAGE_ENTRIES / 2), start + 1).findLast(({ t }) => t === "user");
	return said?.n ?? start;
}

function batched(tell: (entries: readonly ShownEntry[], next: number) => void): (entries: readonly ShownEntry[], next: number) => void {
	return (entries, next) => {
		for (let at = 0; at + BATCH < entries.length; at += BATCH) {
			const batch = entries.slice(at, at + BATCH);
			tell(batch, (batch.at(-1)?.n ?? 0) + 1);
		}
		tell(entries.slice(entries.length - (entries.length % BATCH || Math.min(BATCH, entries.length))), next);
	};
}

function tellLive({ desk }: StreamOptions, id: string, send: Send, signal: AbortSignal): void {
	const inbox = new Inbox(desk.home, id);
	let last = "";
	const tell = guarded(send, () => {
		const state = liveState(desk, id, inbox);
		const text = JSON.stringify(state);
		if (text !== last) send("live", state);
		last = text;
	});
	let unlisten = () => {};
	const heard = (change: LiveChange) => (change === "state" ? tell() : send(change.kind, { at: change.at, text: change.text }));
	/** It was opened or closed in this server. */
	const attach = () => {
		unlisten();
		const live = desk.get(id);
		unlisten = live?.listen(heard) ?? (() => {});
		for (const kind of ["text", "thought"] as const) send(kind, { at: 0, text: live?.arrived[kind] ?? "" });
		tell();
	};
	const undo = [
		inbox.watch(tell),
		desk.listen((which) => which === id && attach()),
		() => unlisten(),
		(
			(looks) => () =>
				clearInterval(looks)
		)(setInterval(tell, LOOK_MS).unref()), // another program takes it or lets go of it
	];
	signal.addEventListener("abort", () => {
		for (const step of undo) step();
	});
	attach();
}

const NO_TURN = { busy: false, questions: [], asking: false, compacting: false, progress: {}, retry: null, warnings: [], end: null };

function liveState(desk: Desk, id: string, inbox: Inbox): LiveState {
	return {
		...(desk.get(id)?.state ?? NO_TURN),
		holder: otherHolder(desk.home, id) ?? null,
		waiting: waitingIn(inbox),
		todo: readTodo(todoFile(desk.home, id)),
	};
}

const todoFile = (home: AgentHome, id: string): string => path.join(stateDir(home, id), "todo.json");

function waitingIn(inbox: Inbox): LiveState["waiting"] {
	let items: readonly InboxItem[] = [];
	try {
		items = inbox.waiting();
	} catch {
		// a damaged inbox: what is sent says so
	}
	return items.map((item) => ({ id: item.id, kind: item.kind, text: cutText(item.text, WAITING_CHARS), mode: item.kind === "user" ? item.mode : null }));
}
