/** The archive of messages that the server keeps (XEP-0313): what came while no gateway ran, and whether a message of ours is there. */

import { randomBytes } from "node:crypto";
import type { XmlElement } from "@xmpp/client";
import type { XmppConnection } from "./xmpp-connection.js";

const MAM = "urn:xmpp:mam:2";
const RSM = "http://jabber.org/protocol/rsm";
const PAGE = 50;

export interface Archived {
	readonly id: string;
	readonly at: number;
	readonly message: XmlElement;
}

interface Wish {
	/** The archive of a room, if not our own. */
	readonly of?: string;
	readonly with?: string;
	readonly start?: number;
	readonly after?: string;
	/** Pages go back in time from here; empty for the end. */
	readonly before?: string;
}

const NO_ARCHIVE = new Set(["service-unavailable", "feature-not-implemented", "not-allowed", "forbidden"]);

/** Messages behind an id, oldest first; if the archive does not know it any more, those since `at`. None if the server has no archive for us. */
export async function* archivedAfter(connection: XmppConnection, last: { readonly id: string; readonly at: number }): AsyncGenerator<Archived> {
	let wish: Wish = { after: last.id };
	for (;;) {
		const page: { found: Archived[]; complete: boolean } = await pageOf(connection, wish).catch((error: Error & { readonly condition?: string }) => {
			if (NO_ARCHIVE.has(error.condition ?? "")) return { found: [], complete: true };
			if (error.condition !== "item-not-found" || wish.start !== undefined) throw error;
			wish = { start: last.at };
			return pageOf(connection, wish);
		});
		yield* page.found;
		const end = page.found.at(-1);
		if (page.complete || !end) return;
		wish = { ...wish, after: end.id };
	}
}

/** Looks back through the archive, not further than `since`. */
export async function findArchived(
	connection: XmppConnection,
	where: Pick<Wish, "of" | "with">,
	since: number,
	fits: (message: XmlElement) => boolean,
): Promise<boolean> {
	for (let before = ""; ; ) {
		const { found, complete } = await pageOf(connection, { ...where, before });
		if (found.some(({ message }) => fits(message))) return true;
		const [first] = found;
		if (complete || !first || first.at < since) return false;
		before = first.id;
	}
}

async function pageOf(connection: XmppConnection, wish: Wish): Promise<{ found: Archived[]; complete: boolean }> {
	const { xml } = connection.lib;
	const queryid = randomBytes(6).toString("hex");
	const field = (name: string, value: string): XmlElement => xml("field", { var: name }, xml("value", {}, value));
	const fields = [
		xml("field", { var: "FORM_TYPE", type: "hidden" }, xml("value", {}, MAM)),
		...(wish.with ? [field("with", wish.with)] : []),
		...(wish.start ? [field("start", new Date(wish.start).toISOString())] : []),
	];
	const paging = [
		xml("max", {}, String(PAGE)),
		...(wish.after ? [xml("after", {}, wish.after)] : []),
		...(wish.before === undefined ? [] : [xml("before", {}, ...(wish.before ? [wish.before] : []))]),
	];
	const found: Archived[] = [];
	const stop = connection.listen((stanza) => {
		const result = stanza.getChild("result", MAM);
		const forwarded = result?.getChild("forwarded", "urn:xmpp:forward:0");
		const message = forwarded?.getChild("message");
		if (!result || result.attrs.queryid !== queryid || !message) return;
		found.push({ id: result.attrs.id ?? "", at: Date.parse(forwarded?.getChild("delay", "urn:xmpp:delay")?.attrs.stamp ?? "") || 0, message });
	});
	try {
		const form = xml("x", { xmlns: "jabber:x:data", type: "submit" }, ...fields);
		const query = xml("query", { xmlns: MAM, queryid }, form, xml("set", { xmlns: RSM }, ...paging));
		const answer = await connection.request(xml("iq", { type: "set", to: wish.of }, query));
		return { found, complete: answer.getChild("fin", MAM)?.attrs.complete === "true" };
	} finally {
		stop();
	}
}
