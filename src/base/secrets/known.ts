/** Values that are known to be secret, in every form in which they may stand in a text. */
import fs from "node:fs";
import { escapeHtml, escapesOf, percentEncodings } from "./encodings.js";
import type { Finding } from "./rules.js";

const LEAST = 8;
const LEAST_ENCODED = 12;
const LEAST_FORM = 6;
const LEAST_OPEN = 4; // so many characters at the end of a text may be the beginning of one
const MOST = 16 * 1024;
const TRIVIAL = /^(?:[a-z-]{1,15}|\d{1,11}|[a-z]+:\/\/[^@]*)$/i;

/** Characters of all forms together: about 40,000 keys. */
const MOST_CHARS = 16 * 1024 * 1024;
/** Values of tasks that have ended stay masked until so many newer ones have come: their logs can still be read. */
const MOST_LEFT = 1_000;

/** Whether text with it can be told from text without: a word or a number would be found everywhere. `sure`: it is a password, not only called one. */
export function isDistinct(value: string, sure: boolean): boolean {
	if (value.length > MOST || value.length < (sure ? 6 : LEAST)) return false;
	if (TRIVIAL.test(value)) return sure && value.length >= LEAST && !/^\d+$/.test(value);
	return !(value.startsWith("/") && fs.existsSync(value));
}

/** Returns a value as it is, and as JSON, source code, a URL, HTML or base64 would have it. */
export function formsOf(value: string): string[] {
	const forms = new Set([value, ...escapesOf(value), ...percentEncodings(value), ...escapeHtml(value), Buffer.from(value).toString("latin1")]);
	if (value.length >= LEAST_ENCODED) for (const text of base64Of(value)) forms.add(text).add(text.replaceAll("+", "-").replaceAll("/", "_"));
	return [...forms].filter((form) => form.length >= LEAST_FORM);
}

/** In base64 a text looks different depending on what is before it; of each way, the part that does not depend on its neighbours. */
function base64Of(value: string): string[] {
	const bytes = Buffer.from(value);
	return [0, 1, 2].map((shift) => {
		const text = Buffer.concat([Buffer.alloc(shift), bytes])
			.toString("base64")
			.replace(/=+$/, "");
		const whole = (bytes.length + shift) % 3 === 0;
		return text.slice(Math.ceil((shift * 4) / 3), whole ? undefined : -1);
	});
}

interface Value {
	readonly forms: readonly string[];
	/** The tasks that it belongs to; undefined: this program. */
	readonly owners: Set<string | undefined>;
}

/** Forms that begin alike. Found by their length, so that it does not matter how many there are. */
interface Alike {
	/** How many values have each form, by the length of the form. */
	readonly byLength: Map<number, Map<string, number>>;
	/** In order, for the search by a beginning; made when needed. */
	sorted: string[] | undefined;
}

export class KnownValues {
	readonly #values = new Map<string, Value>();
	/** Values whose tasks have all ended, oldest first. */
	readonly #left = new Set<string>();
	readonly #index = new Map<string, Alike>();
	#chars = 0;
	/** Some value could not be remembered, so it may be shown. */
	full = false;

	/** Returns its forms if it is new. */
	add(value: string, owner: string | undefined): readonly string[] {
		const known = this.#values.get(value);
		if (known) {
			known.owners.add(owner);
			this.#left.delete(value);
			return [];
		}
		const forms = formsOf(value);
		const chars = charsOf(forms);
		for (const old of this.#left) {
			if (this.#chars + chars <= MOST_CHARS) break;
			this.#drop(old);
		}
		this.full ||= this.#chars + chars > MOST_CHARS;
		if (this.#chars + chars > MOST_CHARS) return [];
		this.#chars += chars;
		this.#values.set(value, { forms, owners: new Set([owner]) });
		for (const form of forms) this.#count(form, 1);
		return forms;
	}

	/** A task has ended: what was only its own may go when there are many newer ones. */
	forget(owner: string): void {
		for (const [value, { owners }] of this.#values) {
			if (!owners.delete(owner) || owners.size > 0) continue;
			this.#left.add(value);
		}
		for (const old of this.#left) {
			if (this.#left.size <= MOST_LEFT) break;
			this.#drop(old);
		}
	}

	/** The longest that stands there; or whether the text ends in what may be the beginning of one. */
	find(text: string, at: number): Finding {
		const alike = this.#index.get(text.slice(at, at + LEAST_OPEN));
		if (!alike) return undefined;
		let longest = 0;
		for (const [length, forms] of alike.byLength) if (length > longest && forms.has(text.slice(at, at + length))) longest = length;
		if (longest > 0) return { hide: [at, at + longest] };
		return this.#mayBecome(alike, text, at) ? { open: at } : undefined;
	}

	#mayBecome(alike: Alike, text: string, at: number): boolean {
		const left = text.length - at;
		if (![...alike.byLength.keys()].some((length) => length > left)) return false;
		alike.sorted ??= [...alike.byLength.values()].flatMap((forms) => [...forms.keys()]).sort(byCode);
		const rest = text.slice(at);
		let [low, high] = [0, alike.sorted.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (byCode(alike.sorted[middle] as string, rest) < 0) low = middle + 1;
			else high = middle;
		}
		return alike.sorted[low]?.startsWith(rest) ?? false;
	}

	#drop(value: string): void {
		const forms = this.#values.get(value)?.forms ?? [];
		this.#values.delete(value);
		this.#left.delete(value);
		this.#chars -= charsOf(forms);
		for (const form of forms) this.#count(form, -1);
	}

	/** Two values may have a form in common. */
	#count(form: string, by: number): void {
		const key = form.slice(0, LEAST_OPEN);
		const alike = this.#index.get(key) ?? { byLength: new Map(), sorted: undefined };
		const forms = alike.byLength.get(form.length) ?? new Map<string, number>();
		const count = (forms.get(form) ?? 0) + by;
		if (count > 0) forms.set(form, count);
		else forms.delete(form);
		if (forms.size > 0) alike.byLength.set(form.length, forms);
		else alike.byLength.delete(form.length);
		alike.sorted = undefined;
		if (alike.byLength.size > 0) this.#index.set(key, alike);
		else this.#index.delete(key);
	}
}

const charsOf = (forms: readonly string[]): number => forms.reduce((sum, form) => sum + form.length, 0);
const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
