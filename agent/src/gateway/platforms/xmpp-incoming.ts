/** Reads messages of people over XMPP, directly and in rooms. */

import { randomBytes } from "node:crypto";
import type { XmlElement } from "@xmpp/client";
import { cleanName } from "./names.js";
import type { Incoming } from "./platform.js";

const SID = "urn:xmpp:sid:0";

export const bareOf = (jid: string): string => (jid.split("/")[0] ?? "").toLowerCase();
const resourceOf = (jid: string): string => jid.slice(jid.indexOf("/") + 1);

/** How we are called in rooms, and our own address. */
export interface XmppSelf {
	readonly bare: string;
	readonly nick: string;
}

/** Returns undefined for what is no message of a person. `archived` is its id and time in the archive, if it comes out of it. */
export function xmppIncoming(message: XmlElement, self: XmppSelf, archived?: { readonly id: string; readonly at: number }): Incoming | undefined {
	const { from = "", type = "normal", id } = message.attrs;
	const text = message.getChildText("body")?.trim();
	const room = type === "groupchat";
	const bare = bareOf(from);
	if (!message.is("message") || !text || type === "error" || type === "headline" || bare === self.bare) return undefined;
	const delay = message.getChild("delay", "urn:xmpp:delay");
	if (room && (!from.includes("/") || resourceOf(from) === self.nick || delay)) return undefined; // the topic, our own, and what was said before we came
	const stored = message.getChildren("stanza-id", SID).find(({ attrs }) => bareOf(attrs.by ?? "") === (room ? bare : self.bare));
	const replied = message.getChild("reply", "urn:xmpp:reply:0")?.attrs.id;
	const said = room ? spokenTo(text, self.nick) : { text, spoken: true };
	const name = cleanName(room ? resourceOf(from) : bare.split("@")[0]);
	return {
		id: archived?.id ?? stored?.attrs.id ?? `${bare}/${id ?? randomBytes(9).toString("base64url")}`,
		chat: { id: bare, kind: room ? "group" : "direct", ...(room ? {} : name ? { name } : {}) },
		// In a room the address is hidden from most members; its nick is all that is known.
		person: { id: room ? from : bare, ...(name ? { name } : {}) },
		text: said.text,
		at: archived?.at ?? (Date.parse(delay?.attrs.stamp ?? "") || Date.now()),
		...(replied ? { replyTo: replied } : {}),
		addressed: said.spoken,
		files: [],
	};
}

function spokenTo(text: string, nick: string): { readonly text: string; readonly spoken: boolean } {
	const lower = text.toLowerCase();
	const lead = new RegExp(`^@?${nick.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}[:,]?\\s+`).exec(lower);
	if (lead) return { text: text.slice(lead[0].length), spoken: true };
	return { text, spoken: lower.split(/[\s,.:;!?()"'@]+/).includes(nick.toLowerCase()) };
}
