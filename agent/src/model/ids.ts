/** Ids of calls: made for those that come without a usable one, and rewritten for endpoints that would refuse them. */
import { createHash, randomBytes } from "node:crypto";
import type { Message } from "./model.js";

/** Ids that every format takes. OpenAI refuses more than 40 characters, Anthropic everything but these. */
const LEGAL = /^[A-Za-z0-9_-]{1,40}$/;
/** Mistral wants exactly this. */
const NINE = /^[A-Za-z0-9]{9}$/;

export type IdRule = "any" | "nine";

export const isLegalId = (id: string): boolean => LEGAL.test(id);
export const newCallId = (): string => `call_${randomBytes(12).toString("hex")}`;

/** Maps the ids of a conversation to those on the wire: the endpoint's own where it wrote them, else the same if it is legal, else a short one made of it. */
export function wireIds(messages: readonly Message[], from: string, rule: IdRule): (id: string) => string {
	const ids = new Map<string, string>();
	const taken = new Set<string>();
	for (const message of messages) {
		if (message.role !== "assistant") continue;
		for (const { id, wire } of message.calls) {
			if (ids.has(id)) continue; // check.ts finds it
			const own = wire?.from === from && wire.id !== undefined && !taken.has(wire.id) ? wire.id : undefined;
			const on = own ?? (fits(id, rule) && !taken.has(id) ? id : rewritten(id, rule, taken));
			ids.set(id, on);
			taken.add(on);
		}
	}
	return (id) => ids.get(id) ?? id;
}

const fits = (id: string, rule: IdRule): boolean => (rule === "nine" ? NINE : LEGAL).test(id);

/** The same every time, so that what the endpoint has cached stays valid. */
function rewritten(id: string, rule: IdRule, taken: ReadonlySet<string>): string {
	for (let round = 0; ; round++) {
		const hash = createHash("sha256").update(`${round} ${id}`).digest("hex");
		const made = rule === "nine" ? hash.slice(0, 9) : `${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 24)}_${hash.slice(0, 15)}`;
		if (!taken.has(made)) return made;
	}
}

/** All ids that calls of this conversation have or had, also on the wire. */
export function usedIds(messages: readonly Message[], more: ReadonlySet<string> = new Set()): Set<string> {
	const used = new Set(more);
	for (const message of messages)
		if (message.role === "assistant")
			for (const { id, wire } of message.calls) {
				used.add(id);
				if (wire?.id !== undefined) used.add(wire.id);
			}
	return used;
}

/** Ids that this endpoint wrote itself, and so takes back whatever they look like. */
export const idsFrom = (messages: readonly Message[], from: string): Set<string> =>
	new Set(
		messages
			.flatMap((message) => (message.role === "assistant" ? message.calls : []))
			.flatMap(({ wire }) => (wire?.from === from && wire.id !== undefined ? [wire.id] : [])),
	);

/** A model may call a tool that there is not, by a name that no endpoint takes back: on the wire it has one that they take. Its result says what it called. */
export const wireName = (name: string): string => (/^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64));
