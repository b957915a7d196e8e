/** A mail into a message: who wrote it and whether that is proved, the thread, the words without what they quote. */
import type { FetchMessageObject, MessageStructureObject } from "imapflow";
import { cleanFileName, cleanName } from "./names.js";
import type { Incoming, IncomingFile } from "./platform.js";

/** Headers that are asked for beside the envelope. */
export const HEADERS = [
	"references",
	"in-reply-to",
	"auto-submitted",
	"precedence",
	"list-id",
	"x-autoreply",
	"x-auto-response-suppress",
	"authentication-results",
];

export interface MailParts {
	/** The text part, decoded. */
	readonly text: string;
	readonly files: readonly IncomingFile[];
}

/** Names and bodies of headers in the order in which they stand: the topmost was added last. */
export function headersOf(raw: Buffer | undefined): { name: string; value: string }[] {
	const lines = (raw?.toString("utf8") ?? "").replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
	return lines.flatMap((line) => {
		const at = line.indexOf(":");
		return at > 0 ? [{ name: line.slice(0, at).toLowerCase(), value: line.slice(at + 1).trim() }] : [];
	});
}

type Headers = ReturnType<typeof headersOf>;
const headerIn = (headers: Headers, name: string): string => headers.find((one) => one.name === name)?.value ?? "";
export const bareId = (id: string | undefined): string => (id ?? "").replace(/[<>\s]/g, "");
const idsIn = (value: string): string[] => (value.match(/<[^<>\s]+>/g) ?? []).map(bareId);

export const senderOf = (mail: FetchMessageObject): string => (mail.envelope?.from?.[0]?.address ?? "").toLowerCase();

/** Mail of programs: never answered, as two that answer each other do not stop. */
export function isAutomatic(mail: FetchMessageObject, headers: Headers): boolean {
	const submitted = headerIn(headers, "auto-submitted").toLowerCase();
	if (submitted !== "" && submitted !== "no") return true;
	if (/^(?:bulk|junk|list|auto_reply)$/i.test(headerIn(headers, "precedence")) || headerIn(headers, "list-id") || headerIn(headers, "x-autoreply")) return true;
	return senderOf(mail) === "" || /^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply)@/.test(senderOf(mail));
}

/**
 * Anyone can write any address as the sender. The name counts as proved if the server named `trusted` says in the topmost result that DMARC has passed, or a
 * signature or SPF of the same domain.
 */
export function isProved(sender: string, headers: Headers, trusted: string | undefined): boolean {
	const [server = "", ...results] = headerIn(headers, "authentication-results").toLowerCase().split(";");
	if (trusted === undefined || server.trim().split(/\s/)[0] !== trusted.toLowerCase()) return false;
	const domain = sender.split("@")[1] ?? "";
	const own = (name: string | undefined): boolean => name !== undefined && (name === domain || domain.endsWith(`.${name}`)) && name.includes(".");
	return results.some((result) => {
		const [, method, verdict] = /^\s*(dmarc|dkim|spf)=(\w+)/.exec(result) ?? [];
		if (verdict !== "pass") return false;
		if (method === "dmarc") return /header\.from=([^\s;]+)/.exec(result)?.[1] === domain;
		const [, named] = (method === "dkim" ? /header\.(?:d|i)=@?([^\s;]+)/ : /smtp\.mailfrom=(?:[^\s;]*@)?([^\s;]+)/).exec(result) ?? [];
		return own(named);
	});
}

export function mailIncoming(mail: FetchMessageObject, headers: Headers, parts: MailParts, trusted: string | undefined): Incoming | undefined {
	const sender = senderOf(mail);
	const id = bareId(mail.envelope?.messageId) || `uid:${mail.uid}`;
	const [answered] = [...idsIn(headerIn(headers, "in-reply-to")), ...idsIn(headerIn(headers, "references")).reverse()];
	const [root = answered ?? id] = idsIn(headerIn(headers, "references"));
	const subject = cleanName(mail.envelope?.subject) ?? "";
	const text = withoutQuote(parts.text) || (parts.files.length === 0 ? subject : "");
	if (text === "" && parts.files.length === 0) return undefined;
	const name = cleanName(mail.envelope?.from?.[0]?.name ?? sender);
	return {
		id,
		chat: { id: sender, kind: "direct", thread: root, ...(subject ? { name: subject } : {}) },
		person: { id: isProved(sender, headers, trusted) ? sender : `unproved:${sender}`, ...(name ? { name } : {}) },
		text,
		at: new Date(mail.internalDate ?? Date.now()).getTime(),
		...(answered ? { replyTo: answered } : {}),
		addressed: true,
		files: parts.files,
	};
}

/** The words of the person: without the quote at the end, the line above it, and the signature. */
export function withoutQuote(text: string): string {
	const lines = text.replaceAll("\r\n", "\n").split("\n");
	const cut = lines.findIndex(
		(line, at) =>
			/^-{2,}\s*Original Message\s*-{2,}$/i.test(line.trim()) || line === "-- " || (/:\s*$/.test(line) && quoteFrom(lines, at + 1)) || quoteFrom(lines, at),
	);
	return (cut < 0 ? lines : lines.slice(0, cut)).join("\n").trim();
}

/** Whether everything from a line on is quoted, and something is. */
function quoteFrom(lines: readonly string[], at: number): boolean {
	const rest = lines.slice(at).filter((line) => line.trim() !== "");
	return rest.length > 0 && lines[at]?.startsWith(">") === true && rest.every((line) => line.startsWith(">"));
}

/** The first part with plain text, else with HTML, and the attachments. */
export function structureOf(root: MessageStructureObject | undefined): { text?: MessageStructureObject; files: MessageStructureObject[] } {
	const all: MessageStructureObject[] = [];
	const walk = (node: MessageStructureObject): void => {
		if (node.childNodes) node.childNodes.forEach(walk);
		else all.push(node);
	};
	if (root) walk(root);
	const isFile = (node: MessageStructureObject): boolean => node.disposition === "attachment" || fileNameOf(node) !== undefined;
	const texts = all.filter((node) => !isFile(node));
	const text = texts.find(({ type }) => type === "text/plain") ?? texts.find(({ type }) => type === "text/html");
	return { ...(text ? { text } : {}), files: all.filter(isFile) };
}

export const fileNameOf = (node: MessageStructureObject): string | undefined => {
	const given = node.dispositionParameters?.filename ?? node.parameters?.name;
	return given === undefined ? undefined : cleanFileName(given);
};

/** Words of a mail that has no plain text. */
export const fromHtml = (html: string): string =>
	html
		.replace(/<(style|script|head)[\s\S]*?<\/\1>/gi, "")
		.replace(/<(?:br|\/p|\/div|\/li|\/tr)[^>]*>/gi, "\n")
		.replace(/<[^>]+>/g, "")
		.replaceAll("&nbsp;", " ")
		.replaceAll("&lt;", "<")
		.replaceAll("&gt;", ">")
		.replaceAll("&quot;", '"')
		.replaceAll("&amp;", "&")
		.replace(/\n{3,}/g, "\n\n");
