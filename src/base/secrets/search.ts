/** Searches a text in one pass, however many rules there are: three characters say which of them to try. */
import { LONGEST_PREFIX } from "./formats.js";
import { type Finding, RULES, type SecretRule } from "./rules.js";
import type { MaskedSpan } from "./view.js";

/** Rules by the last five bits of three characters; so capitals and small letters are the same. */
type Rules = (readonly SecretRule[] | undefined)[];
const PLACES = 2 ** 15;

/** The rules for the forms of secrets, which are the same for all homes: made once, never changed. */
const LOOKS: Rules = new Array(PLACES);
for (const rule of RULES) for (const trigger of rule.triggers) add(LOOKS, rule, trigger);

function add(table: Rules, rule: SecretRule, trigger: string): void {
	const place = hashAt(trigger, 0);
	const list = table[place] ?? [];
	if (!list.includes(rule)) table[place] = [...list, rule];
}

function hashAt(text: string, at: number): number {
	return ((text.charCodeAt(at) & 31) << 10) | ((text.charCodeAt(at + 1) & 31) << 5) | (text.charCodeAt(at + 2) & 31);
}

export class SecretSearch {
	/** A copy of its own from the first rule of its own on. */
	#rules: Rules = LOOKS;
	/** Only for what this program has to keep for itself. */
	#own: Rules | undefined;

	/** Tries a rule where that stands. */
	add(rule: SecretRule, trigger: string, { own = false }: { own?: boolean } = {}): void {
		if (own) this.#own ??= new Array(PLACES);
		else if (this.#rules === LOOKS) this.#rules = LOOKS.slice();
		add(own ? (this.#own as Rules) : this.#rules, rule, trigger);
	}

	/** Returns what is secret in a text, and from where on it may become so with more text behind it. */
	search(text: string, { own = false }: { own?: boolean } = {}): { found: MaskedSpan[]; open: number } {
		if (!own) return searchWith(this.#rules, text);
		return this.#own ? searchWith(this.#own, text) : { found: [], open: text.length };
	}
}

function searchWith(table: Rules, text: string): { found: MaskedSpan[]; open: number } {
	const found: MaskedSpan[] = [];
	let open = text.length;
	let hidden = 0; // where the last secret ends
	let seen = 0;
	for (let at = 0; at < text.length; at++) {
		seen = ((seen << 5) | (text.charCodeAt(at) & 31)) & 0x7fff;
		const here = table[seen];
		if (here === undefined || at < 2) continue;
		const next = tryRules(here, text, at - 2, hidden);
		if (next === undefined) continue;
		if ("hide" in next) {
			found.push(next.hide);
			hidden = Math.max(hidden, next.hide[1]);
		} else if ("open" in next && next.open < open) open = next.open;
		// The next key may follow at once, so that the first of its characters were taken for the last of this one.
		const resume = "hide" in next ? Math.max(next.hide[0], next.hide[1] - LONGEST_PREFIX) : "skip" in next ? next.skip : 0;
		if (resume <= at) continue;
		at = resume - 1;
		seen = hashAt(text, at - 2); // the next trigger may begin with the last two
	}
	if (hidden > open) open = text.length;
	return { found, open };
}

function tryRules(list: readonly SecretRule[], text: string, at: number, hidden: number): Finding {
	let result: Finding;
	for (const rule of list) {
		if (at < hidden && !rule.inside) continue;
		const finding = rule.find(text, at, hidden);
		if (finding === undefined) continue;
		if ("hide" in finding) {
			if (!result || !("hide" in result)) result = finding;
			else result = { hide: [Math.max(result.hide[0], finding.hide[0]), Math.max(result.hide[1], finding.hide[1])] };
		} else if (!result || ("skip" in result && "open" in finding)) result = finding;
	}
	return result;
}
