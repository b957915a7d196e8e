/** Keeps the key out of everything that leaves this room: an endpoint may echo what it was sent, in an error or in an answer. */
import type { Answer, Piece } from "./model.js";

const MASK = "[key]";
/** Shorter ones are placeholders ("ollama", "none"), and words of other texts. */
const SHORTEST = 12;

export function masked(source: string, key: string): string {
	if (key.length < SHORTEST) return source;
	for (const form of new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)])) source = source.replaceAll(form, MASK);
	return source;
}

/** In every text of it, however deep. */
export function maskedAnswer(answer: Answer, key: string): Answer {
	if (key.length < SHORTEST || !JSON.stringify(answer).includes(key)) return answer;
	return maskDeep(answer, key) as Answer;
}

function maskDeep(value: unknown, key: string): unknown {
	if (typeof value === "string") return masked(value, key);
	if (Array.isArray(value)) return value.map((inner) => maskDeep(inner, key));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskDeep(inner, key)]));
}

/** Pieces arrive cut anywhere: what may be the beginning of the key waits for what comes next. */
export class PieceMask {
	readonly #key: string;
	readonly #held = { text: "", reasoning: "" };

	constructor(key: string) {
		this.#key = key.length < SHORTEST ? "" : key;
	}

	*take(piece: Piece): Generator<Piece> {
		if (this.#key === "" || (piece.type !== "text" && piece.type !== "reasoning")) return yield piece;
		const { type } = piece;
		const all = masked(this.#held[type] + piece.text, this.#key);
		const keep = overlap(all, this.#key);
		this.#held[type] = all.slice(all.length - keep);
		if (all.length > keep) yield { type, text: all.slice(0, all.length - keep) };
	}

	*rest(): Generator<Piece> {
		for (const type of ["reasoning", "text"] as const) if (this.#held[type] !== "") yield { type, text: this.#held[type] };
	}
}

/** How many characters at the end of the text are a beginning of the key. */
function overlap(source: string, key: string): number {
	for (let length = Math.min(key.length - 1, source.length); length > 0; length--) if (source.endsWith(key.slice(0, length))) return length;
	return 0;
}
