/**
 * The redactor of a home: between what is stored, which stays as it is, and every text that leaves. Two steps, so that code that cuts text
 * to size can do so in between: `hide` puts a character that stands for nothing in the place of each secret one, so that every
 * position stays what it was; `reveal` turns a run of those into a mark that people and models understand.
 */
import { CallScope } from "../call-scope.js";
import { isDistinct, KnownValues } from "./known.js";
import type { SecretRule } from "./rules.js";
import { SecretSearch } from "./search.js";
import { type MaskedSpan, type MaskView, viewOf } from "./view.js";

export { secretName } from "./names.js";
export { redactScreen } from "./screen.js";

/** Unicode has it for use inside of programs: no text has it. */
const HIDDEN = "\ufdd0";
const HIDDEN_RUN = /\ufdd0+(?:\r?\n\ufdd0+)*/g;
const MARK = "…[redacted]";
const MARKED = /…(?:\[redacted\]|\*{3})/;
const LONGEST_OPEN = 4096;

/** How much text around a piece of a log says whether there is a secret at its borders. */
export const CONTEXT_BYTES = 16 * 1024;

/** Short texts in which nothing was found are remembered: the same ids, words and directories are in one result after the other. */
const CLEAN_CHARS = 200;
const CLEAN_MOST = 500;

export interface Around {
	/** The text before and behind it: a secret may cross the border. */
	readonly before?: string;
	readonly after?: string;
}

/** The values that are secret for one home, beside what looks like a secret by itself. */
export class Redactor {
	readonly #known = new KnownValues();
	readonly #knownRule: SecretRule = { triggers: [], inside: true, find: (text, at) => this.#known.find(text, at) };
	/** The values of this program itself, not of a task. */
	readonly #own = new KnownValues();
	readonly #ownRule: SecretRule = { triggers: [], inside: true, find: (text, at) => this.#own.find(text, at) };
	readonly #search = new SecretSearch();
	readonly #clean = new Set<string>();
	/** Whether masking is off for the call under way. */
	readonly #unmasked = new CallScope<{ off: boolean }>();

	/** Runs `act` with masking off, for results of a place whose secrets are the task's own: only secrets of this program are masked. */
	withoutMasking<T>(act: () => T): T {
		return this.#unmasked.run({ off: true }, act);
	}

	/** The rest of the call is about something else: it is masked as usual. */
	maskAgain(): void {
		const scope = this.#unmasked.get();
		if (scope) scope.off = false;
	}

	/** Runs `act` with masking on, for texts that are masked in any case: the audit, questions to a person. */
	withMasking<T>(act: () => T): T {
		return this.#isOff() ? this.#unmasked.run({ off: false }, act) : act();
	}

	#isOff(): boolean {
		return this.#unmasked.get()?.off === true;
	}

	/** From now on this text is masked wherever it stands; unless it is too short or too common to be told from other text. `sure`: it is a password for certain. `task`: it belongs to this task; default: to this program. */
	know(value: string, options: { sure?: boolean; task?: string | undefined } = {}): void {
		if (!isDistinct(value, options.sure === true)) return;
		const forms = this.#known.add(value, options.task);
		if (forms.length > 0) this.#clean.clear();
		for (const form of forms) this.#search.add(this.#knownRule, form);
		if (options.task === undefined) for (const form of this.#own.add(value, undefined)) this.#search.add(this.#ownRule, form, { own: true });
	}

	/** A task has ended: values that were only its own may be forgotten when many newer ones have come. */
	forget(task: string): void {
		this.#known.forget(task);
	}

	/** More values are secret than can be remembered, so some may be shown. */
	get overflows(): boolean {
		return this.#known.full;
	}

	/** The same text, as long as it was, with nothing to be read where there are secrets. */
	hide(text: string, around: Around = {}): string {
		return this.hideLive(text, around).text;
	}

	/** Masks a text that still grows. `open`: so many characters at its end may be the beginning of a secret. */
	hideLive(given: string, { before = "", after = "" }: Around = {}): { text: string; open: number } {
		const text = given.includes(HIDDEN) ? given.replaceAll(HIDDEN, "\ufffd") : given; // else it would pass for a secret
		if (text === "") return { text, open: 0 };
		const all = before === "" && after === "" ? text : before + text + after;
		const view = viewOf(all);
		const { found, open } = this.#find(view.text);
		const from = before.length;
		const to = from + text.length;
		let out = "";
		let at = from;
		for (const [start, end] of found.length === 0 && view.titles.length === 0 ? [] : this.#inOrder(view, found)) {
			if (end <= at || start >= to) continue;
			const first = Math.max(start, at);
			const last = Math.min(end, to);
			out += all.slice(at, first) + all.slice(first, last).replace(/[^\r\n]/g, HIDDEN);
			at = last;
		}
		const rest = view.text.length - open;
		const held = Math.max(rest > 0 && rest <= LONGEST_OPEN ? all.length - view.place(open) : 0, this.#openTitle(view, all.length));
		return { text: at === from ? text : out + all.slice(at, to), open: after === "" ? held : 0 };
	}

	/** A text that is all there is. `cut`: its end has been cut off, so that a secret may have been. */
	redact(text: string, options: { cut?: boolean } = {}): string {
		if (!options.cut && this.#clean.has(text)) return text;
		const { text: hidden, open } = this.hideLive(text);
		const whole = options.cut && open > 0 ? hidden.slice(0, -open) + HIDDEN.repeat(open) : hidden;
		const shown = reveal(whole);
		if (!options.cut && !this.#isOff() && shown === text && text.length <= CLEAN_CHARS) {
			if (this.#clean.size >= CLEAN_MOST) this.#clean.clear();
			this.#clean.add(text);
		}
		return shown;
	}

	/** Every text in a value, however deep. */
	redactAll<T>(value: T): T {
		if (typeof value === "string") return this.redact(value) as T;
		if (Array.isArray(value)) return value.map((item) => this.redactAll(item)) as T;
		if (typeof value !== "object" || value === null) return value;
		return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, this.redactAll(field)])) as T;
	}

	#find(text: string): { found: MaskedSpan[]; open: number } {
		return this.#search.search(text, { own: this.#isOff() });
	}

	/** How much of a title at the very end may be the beginning of a secret. */
	#openTitle({ titles }: MaskView, end: number): number {
		const last = titles.at(-1);
		return last && last.from + last.text.length === end && last.text.length <= LONGEST_OPEN ? last.text.length - this.#find(last.text).open : 0;
	}

	/** In the text, and in what it sets titles to. */
	#inOrder(view: MaskView, found: readonly MaskedSpan[]): MaskedSpan[] {
		const titles = view.titles.flatMap(({ from, text }) => this.#find(text).found.map(([start, end]): MaskedSpan => [from + start, from + end]));
		return [...view.places(found), ...titles].sort(([a], [b]) => a - b);
	}
}

/** Returns the mark in place of a hidden value, never longer than the value. */
export function reveal(text: string): string {
	return text.includes(HIDDEN) ? text.replace(HIDDEN_RUN, (run) => (run.length >= MARK.length ? MARK : short(run.length))) : text;
}

/** The same, without anything changing its place: for a screen. */
export const revealInPlace = (text: string): string =>
	text.includes(HIDDEN) ? text.replace(/\ufdd0+/g, (run) => (run.length >= MARK.length ? MARK.padEnd(run.length, "*") : short(run.length))) : text;

/** The same, for bytes of a terminal: a star for each character, and nothing that has to be encoded. */
export const starred = (text: string): string => (text.includes(HIDDEN) ? text.replaceAll(HIDDEN, "*") : text);

const short = (length: number): string => `…${"*".repeat(length - 1)}`;

/** Something in it was masked. */
export function isMasked(value: unknown): boolean {
	if (typeof value === "string") return MARKED.test(value);
	return typeof value === "object" && value !== null && Object.values(value).some(isMasked);
}
