/** The lines of a conversation that a chat is told. Each message's id is made of its line, so that it is told once, however often the chat asks. */
import type { Entry } from "../talk/index.js";
import type { OutItem } from "./outbox-store.js";
import type { Platform } from "./platforms/platform.js";
import { opening, splitText } from "./split.js";

export type NewsMode = "all" | "result" | "error" | "off";

export interface DeliverOptions {
	readonly conversation: string;
	/** The first line that was not told. */
	readonly from: number;
	readonly chat: OutItem["chat"];
	/** As `by.platform` has it. */
	readonly name: string;
	readonly platform: Pick<Platform, "traits" | "measure">;
	readonly news: NewsMode;
	readonly now: number;
	readonly redact: (text: string) => string;
	/** Was given to the outbox before. */
	readonly known: (id: string) => boolean;
}

export interface Delivered {
	readonly items: readonly OutItem[];
	/** The next line that is to be looked at. */
	readonly told: number;
	/** News may still come that belongs to the same message: look again after so many ms. */
	readonly again?: number;
}

const MOST_PARTS = 5;
/** Without files: so many parts, then the rest is named. */
const MOST_PARTS_WITHOUT_FILES = 20;
const NEWS_MS = 2_000;
const NEWS_CHARS = 1_200;

export function deliveries(entries: readonly Entry[], options: DeliverOptions): Delivered {
	const items: OutItem[] = [];
	for (let n = options.from; n < entries.length; n++) {
		const entry = entries[n] as Entry;
		if (entry.t === "notice") {
			const batch = noticesFrom(entries, n);
			const age = options.now - Date.parse(batch.at(-1)?.at ?? "");
			const last = (batch.at(-1)?.n ?? n) + 1 >= entries.length;
			if (last && age >= 0 && age < NEWS_MS) return { items, told: n, again: NEWS_MS - age };
			items.push(...newsItem(batch, options));
			n += batch.length - 1;
		} else items.push(...itemsOf(entry, entries, options));
	}
	return { items, told: entries.length };
}

function itemsOf(entry: Entry, entries: readonly Entry[], options: DeliverOptions): OutItem[] {
	const cause = entries.slice(0, entry.n).findLast(({ t }) => t === "user" || t === "notice");
	if (cause?.t === "user" && cause.by.platform !== options.name) return []; // said in another door, and answered there
	const replyTo = options.chat.kind === "group" && cause?.t === "user" ? cause.by.message : undefined;
	const id = `dlv_${options.conversation}_${entry.n}`;
	if (entry.t === "assistant" && entry.calls.length === 0) return answerItems(id, entry.text, { ...options, rings: true, replyTo });
	if (entry.t === "partial") return answerItems(id, `${entry.text} …`, { ...options, rings: false, replyTo });
	if (entry.t === "stopped") return answerItems(id, entry.text, { ...options, rings: entry.why !== "interrupted", replyTo });
	return [];
}

export interface AnswerOptions extends Pick<DeliverOptions, "chat" | "platform" | "redact"> {
	readonly rings: boolean;
	readonly replyTo?: string | undefined;
}

/** A text in parts, or the beginning of it with all of it as a file. Only the first rings. */
export function answerItems(id: string, text: string, options: AnswerOptions): OutItem[] {
	const { chat, platform, rings, replyTo } = options;
	const { limit, files } = platform.traits;
	const whole = options.redact(text).trim();
	const parts = splitText(whole, { limit: limit.size, measure: (markdown) => platform.measure(markdown) });
	const item = (part: string, n: number, more: Partial<OutItem> = {}): OutItem => ({
		...{ id: `${id}_${n}`, chat, text: part, rings: rings && n === 0 },
		...(n === 0 && replyTo !== undefined ? { replyTo } : {}),
		...more,
	});
	if (parts.length > MOST_PARTS && files) {
		const [first = ""] = splitText(opening(whole, 600), { limit: limit.size, measure: (markdown) => platform.measure(markdown) });
		return [item(first, 0), item("The whole answer is in the file.", 1, { file: { name: "answer.md", type: "text/markdown", text: whole } })];
	}
	if (parts.length <= MOST_PARTS_WITHOUT_FILES) return parts.map((part, n) => item(part, n));
	const cut = parts.slice(0, MOST_PARTS_WITHOUT_FILES);
	return [...cut.map((part, n) => item(part, n)), item(`(${parts.length - cut.length} more parts are in the conversation; ask for them.)`, cut.length)];
}

const noticesFrom = (entries: readonly Entry[], from: number): Extract<Entry, { t: "notice" }>[] => {
	const batch: Extract<Entry, { t: "notice" }>[] = [];
	for (let n = from; n < entries.length; n++) {
		const entry = entries[n];
		if (entry?.t !== "notice") break;
		batch.push(entry);
	}
	return batch;
};

function newsItem(batch: readonly Extract<Entry, { t: "notice" }>[], options: DeliverOptions): OutItem[] {
	const idOf = (n: number): string => `dlv_${options.conversation}_${n}`;
	const shown = batch.filter(({ n, id, text }) => !options.known(idOf(n)) && isWanted(id, text, options.news));
	const [first, ...rest] = shown;
	if (!first) return [];
	const room = Math.floor(NEWS_CHARS / shown.length);
	const text = options.redact(shown.map((notice) => `▸ ${lastLines(notice.text, room)}`).join("\n"));
	const { limit } = options.platform.traits;
	const [fits = ""] = splitText(text, { limit: limit.size, measure: (markdown) => options.platform.measure(markdown) });
	return [{ id: idOf(first.n), also: rest.map(({ n }) => idOf(n)), chat: options.chat, text: fits, rings: false }];
}

/** The core says in the id what kind of news it is. */
function isWanted(id: string, text: string, mode: NewsMode): boolean {
	if (mode === "all" || mode === "off") return mode === "all";
	if (!id.endsWith("-completed")) return false;
	const [first = ""] = text.split("\n", 1);
	return mode === "result" || /^.*\bwith exit code (\d+)/.exec(first)?.[1] !== "0"; // the last one: the command, which comes before it, may say anything
}

/** The first line, which says what happened, and as many of the last ones as there is room for, each whole. */
export function lastLines(text: string, room: number): string {
	const [head = "", ...lines] = text.trim().split("\n");
	const kept: string[] = [];
	let left = room - head.length;
	for (const line of lines.toReversed()) {
		if (line.length + 1 > left) break;
		kept.unshift(line);
		left -= line.length + 1;
	}
	if (kept.length === lines.length) return [head, ...kept].join("\n");
	return [head.length > room ? `${head.slice(0, room)}…` : head, "…", ...kept].join("\n");
}
