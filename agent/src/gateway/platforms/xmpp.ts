/**
 * XMPP. Messages carry our id (origin id, XEP-0359), and the archive of the server (XEP-0313) tells whether it has one; the same archive has what came while no
 * gateway ran. A message counts as sent when the server has answered a ping behind it.
 */
import type { XmlElement } from "@xmpp/client";
import { z } from "zod";
import { later, wordsOf } from "./failures.js";
import { styledText } from "./format/plain.js";
import { loadPackage } from "./optional.js";
import { Backoff, InOrder, type Pace, USUAL_PACE } from "./pace.js";
import {
	type ChatRef,
	type LastSeen,
	type Outgoing,
	type Platform,
	type PlatformAccount,
	PlatformError,
	type PlatformEvents,
	type PlatformTraits,
} from "./platform.js";
import { Presence } from "./presence.js";
import { archivedAfter, findArchived } from "./xmpp-archive.js";
import { type Xmpp, XmppConnection, type XmppLogin } from "./xmpp-connection.js";
import { bareOf, xmppIncoming } from "./xmpp-incoming.js";

const address = z.string().regex(/^[^@/\s]+@[^@/\s]+$/, "an address: name@server");

export const xmppSettings = z.strictObject({
	/** The account of the bot. */
	jid: address,
	/** `xmpp://host:port` or `xmpps://host:port`, if the server is not found by its domain. */
	service: z
		.string()
		.regex(/^xmpps?:\/\//, "xmpp://host:port or xmpps://host:port")
		.optional(),
	resource: z.string().min(1).max(60).default("holdfast"),
	/** Rooms that are joined. */
	rooms: z.array(address).default([]),
	/** The name in rooms; that of the account, if not given. */
	nick: z.string().min(1).max(60).optional(),
});
export type XmppSettings = z.infer<typeof xmppSettings>;

const TRAITS: PlatformTraits = {
	limit: { size: 10_000, unit: "characters" },
	certainty: "lookup",
	edits: false,
	buttons: false,
	files: false,
	typing: true,
	silent: false,
};
/** The outbox keeps a message for a day. */
const LOOK_BACK_MS = 25 * 60 * 60 * 1000;
const REMEMBERED = 2000;
const ALIVE_MS = 60_000;
const SID = "urn:xmpp:sid:0";
const STATES = "http://jabber.org/protocol/chatstates";

export async function openXmpp(settings: XmppSettings, secrets: { readonly password?: string }, pace: Pace = USUAL_PACE): Promise<Platform> {
	const lib = await loadPackage("XMPP", ["@xmpp/client"], () => import("@xmpp/client"));
	return new XmppPlatform(lib, settings, secrets.password ?? "", pace);
}

class XmppPlatform implements Platform {
	readonly name = "xmpp";
	readonly traits = TRAITS;
	readonly #lib: Xmpp;
	readonly #settings: XmppSettings;
	readonly #login: XmppLogin;
	readonly #pace: Pace;
	readonly #nick: string;
	readonly #line = new Presence<XmppConnection>("the XMPP server");

	constructor(lib: Xmpp, settings: XmppSettings, password: string, pace: Pace) {
		const [username = "", domain = ""] = settings.jid.split("@");
		this.#lib = lib;
		this.#settings = settings;
		this.#pace = pace;
		this.#nick = settings.nick ?? username;
		this.#login = { service: settings.service ?? `xmpp://${domain}`, domain, username, password, resource: settings.resource };
	}

	async account(signal: AbortSignal): Promise<PlatformAccount> {
		const connection = new XmppConnection(this.#lib, { ...this.#login, resource: `${this.#login.resource}-setup` });
		await connection.open(signal);
		await connection.end();
		return { id: this.#settings.jid, name: this.#login.username, address: `xmpp:${this.#settings.jid}` };
	}

	async run(on: PlatformEvents, signal: AbortSignal, seen: readonly LastSeen[] = []): Promise<void> {
		const [backoff, queue, told] = [new Backoff(this.#pace), new InOrder(on, this.#pace, signal), new Set<string>()];
		const direct = seen.filter(({ chat }) => chat.kind === "direct").sort((a, b) => b.at - a.at)[0];
		let last = direct && { id: direct.message, at: direct.at };
		const hear = (message: XmlElement, archived?: { id: string; at: number }): void => {
			const incoming = xmppIncoming(message, { bare: this.#settings.jid.toLowerCase(), nick: this.#nick }, archived);
			if (!incoming || told.has(incoming.id)) return;
			told.add(incoming.id);
			if (told.size > REMEMBERED) for (const old of told) if (told.delete(old)) break;
			void queue.message(incoming).then((stored) => {
				if (stored && incoming.chat.kind === "direct") last = { id: incoming.id, at: incoming.at };
			});
		};
		const catchUp = async (connection: XmppConnection): Promise<void> => {
			if (last) for await (const { id, at, message } of archivedAfter(connection, last)) hear(message, { id, at });
		};
		while (!signal.aborted) {
			const connection = new XmppConnection(this.#lib, this.#login);
			try {
				await connection.open(signal);
				// A server whose archive was asked does not send what it kept for us when we appear. So the archive is asked again then, for what was said
				// between the first answer and our presence; what comes live meanwhile is younger and waits.
				await catchUp(connection);
				const live: XmlElement[] = [];
				const stop = connection.listen((stanza) => live.push(stanza));
				await this.#appear(connection);
				await catchUp(connection);
				stop();
				connection.listen((stanza) => hear(stanza));
				for (const stanza of live) hear(stanza);
				this.#line.came(connection);
				on.connection({ up: true });
				backoff.reset();
				const quit = (): void => void connection.end();
				signal.addEventListener("abort", quit);
				const alive = setInterval(() => void this.#ping(connection).catch(() => connection.client.socket?.destroy?.()), ALIVE_MS);
				const error = await connection.closed;
				clearInterval(alive);
				signal.removeEventListener("abort", quit);
				throw error;
			} catch (error) {
				this.#line.went();
				await connection.end();
				if (signal.aborted) return;
				if (error instanceof PlatformError && (error.kind === "key" || error.kind === "taken")) throw this.#line.failed(error);
				on.connection({ up: false, why: wordsOf(error) });
			}
			await backoff.wait(signal);
		}
	}

	async #appear(connection: XmppConnection): Promise<void> {
		const { xml } = this.#lib;
		await connection.send(xml("presence"));
		for (const room of this.#settings.rooms) {
			const muc = xml("x", { xmlns: "http://jabber.org/protocol/muc" }, xml("history", { maxstanzas: "0" }));
			await connection.send(xml("presence", { to: `${room}/${this.#nick}` }, muc));
		}
	}

	/** Resolves when the server has read everything up to here. */
	async #ping(connection: XmppConnection): Promise<void> {
		const { xml } = this.#lib;
		await connection.request(xml("iq", { type: "get", to: this.#login.domain }, xml("ping", { xmlns: "urn:xmpp:ping" }))).catch(unlessAnswered);
	}

	async send(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string }> {
		const { xml } = this.#lib;
		const connection = await this.#line.up(signal);
		const text = styledText(out.text);
		if (text === "") throw new PlatformError("refused", "XMPP takes no empty message");
		let failure: PlatformError | undefined;
		const stop = connection.listen((stanza) => {
			if (stanza.is("message") && stanza.attrs.type === "error" && stanza.attrs.id === out.id) failure ??= failureOf(stanza);
		});
		const reply = out.replyTo ? [xml("reply", { xmlns: "urn:xmpp:reply:0", id: out.replyTo, to: out.chat.id })] : [];
		const parts = [xml("body", {}, text), xml("origin-id", { xmlns: SID, id: out.id }), xml("active", { xmlns: STATES }), ...reply];
		try {
			await connection.send(xml("message", { to: out.chat.id, type: typeOf(out.chat), id: out.id }, ...parts));
			await this.#ping(connection);
		} finally {
			stop();
		}
		if (failure) throw failure;
		return { id: out.id };
	}

	async find(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string } | undefined> {
		const connection = await this.#line.up(signal);
		const where = out.chat.kind === "group" ? { of: out.chat.id } : { with: out.chat.id };
		const ours = (message: XmlElement): boolean => message.getChild("origin-id", SID)?.attrs.id === out.id || message.attrs.id === out.id;
		try {
			return (await findArchived(connection, where, Date.now() - LOOK_BACK_MS, ours)) ? { id: out.id } : undefined;
		} catch (error) {
			if (error instanceof PlatformError) throw error;
			throw new PlatformError("unsure", `the XMPP server has no archive that can be asked (${wordsOf(error)}); turn on message archiving (XEP-0313)`, {
				cause: error,
			});
		}
	}

	async typing(chat: ChatRef, signal: AbortSignal): Promise<void> {
		const { xml } = this.#lib;
		await (await this.#line.up(signal)).send(xml("message", { to: chat.id, type: typeOf(chat) }, xml("composing", { xmlns: STATES })));
	}

	measure(markdown: string): number {
		return styledText(markdown).length;
	}
}

const typeOf = ({ kind }: ChatRef): string => (kind === "group" ? "groupchat" : "chat");

/** A server without pings answers with an error: that is an answer. */
function unlessAnswered(error: unknown): void {
	if (error instanceof PlatformError) throw error;
}

const REFUSED = new Set(["not-acceptable", "policy-violation", "bad-request", "jid-malformed", "not-allowed"]);

function failureOf(stanza: XmlElement): PlatformError {
	const error = stanza.getChild("error");
	const names = (error?.children ?? []).flatMap((child) => (typeof child === "string" ? [] : [child.name]));
	const [condition = "error"] = names.filter((name) => name !== "text");
	const words = `${bareOf(stanza.attrs.from ?? "")}: ${error?.getChildText("text") || condition}`;
	if (condition === "resource-constraint" || error?.attrs.type === "wait") return later("the XMPP server", 60);
	return new PlatformError(REFUSED.has(condition) ? "refused" : "dead", words);
}
