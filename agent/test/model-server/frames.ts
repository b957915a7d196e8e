/** An answer as a list of events. The format's file makes them; `send.ts` sends them up to the place of a fault. */
import type { Place, Step } from "./step.js";
import type { TokenMode } from "./token-ids.js";

export interface Frame {
	/** What has been said once this event is out. */
	readonly place: Place;
	readonly event?: string;
	readonly data: unknown;
}

/** What a format needs to know of the request that it answers. */
export interface Asked {
	readonly model: string;
	/** Counts requests of this server, from 1: ids are made of it. */
	readonly n: number;
	readonly body: Readonly<Record<string, unknown>>;
	/** Which token ids it gives to those who ask for them. */
	readonly tokens?: TokenMode;
}

/** Pieces of `size` UTF-16 units: also through the middle of a surrogate pair, which JSON escapes. */
export function pieces(text: string, size = 6): string[] {
	const all: string[] = [];
	for (let at = 0; at < text.length; at += size) all.push(text.slice(at, at + size));
	return all;
}

/** The calls with their ids and the text of their arguments. */
export function callsOf(step: Step, prefix: string, n: number): { id: string | null; name: string; text: string; odd?: string }[] {
	return (step.calls ?? []).map((call, index) => {
		const text = typeof call.args === "string" ? call.args : JSON.stringify(call.args);
		const written = call.odd === "doubled" ? text + text : call.odd === "quoted" ? JSON.stringify(text) : text;
		return { id: call.id === undefined ? `${prefix}${n}_${index}` : call.id, name: call.name, text: written, odd: call.odd };
	});
}

/** Chunks of arguments, the last of which is at the place "whole arguments". A text of one chunk is sent in two, so that "arguments" lies inside it. */
export function argumentPieces(text: string, size = 6): { part: string; place: Place }[] {
	const parts = text.length > size ? pieces(text, size) : text.length > 1 ? pieces(text, Math.ceil(text.length / 2)) : [text];
	return parts.map((part, index) => ({ part, place: index === parts.length - 1 ? "whole arguments" : "arguments" }));
}
