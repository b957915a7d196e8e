/**
 * One command can be read in more than one way, and the strictest counts:
 * as it stands; with its continued lines joined, as the shell does before anything else (the grammar takes them for blanks);
 * with each default of a variable (`${X:-default}`) in place of the variable, whose value is not known;
 * and with letters that only look like Latin ones replaced, which no shell does but a person who approves would.
 */
export interface Reading {
	readonly text: string;
	/** The position in the command of each character of `text`; null if `text` is the command. */
	readonly offsets: readonly number[] | null;
	/** A reading no shell has: what it finds counts only where a rule names it, not where something is unknown. */
	readonly pretended: boolean;
}

export function readings(command: string): Reading[] {
	const asIs: Reading = { text: command, offsets: null, pretended: false };
	const joined = SPELLED.test(command) ? rewrite(asIs, SPELLED_ALL, spell) : asIs;
	const defaults = withDefaults(joined);
	const latin = /[^\x00-\x7f]/.test(command) ? rewrite(joined, /[^\x00-\x7f]/gu, lookAlike) : joined;
	const others = [joined, defaults].filter((one, at, all) => one.text !== command && all[at - 1]?.text !== one.text);
	return [asIs, ...others, ...(latin.text === joined.text ? [] : [{ ...latin, pretended: true }])];
}

// Besides continued lines (one between two blanks is a blank anyway), what the grammar cannot read where it stands, or loses:
// `$IFS/`, `{rm,-rf,x}` as a command, empty substitutions, `-` before a here-document.
const SPELLED = /\S\\\n\S|\$IFS\b|(?:^|[;&|(\n])\s*\{[^\s{}]+,|\$\(\s*\)|``|\s-\s*<</;
const SPELLED_ALL = /\\[\s\S]|\$(?:\d|[A-Za-z_]\w*)|(?<=^|[;&|(\n]\s*)\{[^\s{}]+,[^\s{}]*\}|\$\(\s*\)|``|(?<=\s)-(?=\s*<<)/g;

function spell(text: string): string {
	if (text === "\\\n") return "";
	if (text === "-") return '"-"';
	if (text === "``" || /^\$\(\s*\)$/.test(text)) return "";
	if (text.startsWith("$")) return `\${${text.slice(1)}}`;
	return text.startsWith("{") ? text.replace(/[{},]/g, " ") : text;
}

const DEFAULT = /\$\{(\w+):?[-=]((?:[^{}]|\$\{\w+\})*)\}/g;
const NESTED = 3;

/** A variable that the text sets, or whose value is always known, keeps its value. */
function withDefaults(from: Reading): Reading {
	const keeps = (name: string) => /^(?:HOME|PWD|TMPDIR|IFS)$/.test(name) || new RegExp(`\\b${name}=`).test(from.text);
	let to = from;
	for (let level = 0; level < NESTED && to.text.includes("${"); level++) {
		const next = rewrite(to, DEFAULT, (text) => {
			const [, name = "", value = ""] = new RegExp(DEFAULT.source).exec(text) ?? [];
			return keeps(name) ? text : value;
		});
		if (next.text === to.text) break;
		to = next;
	}
	return to;
}

function rewrite(from: Reading, pattern: RegExp, change: (match: string) => string): Reading {
	let text = "";
	const offsets: number[] = [];
	const push = (piece: string, start: number, step: 0 | 1) => {
		for (let unit = 0; unit < piece.length; unit++) offsets.push(from.offsets?.[start + unit * step] ?? start + unit * step);
		text += piece;
	};
	let at = 0;
	for (const match of from.text.matchAll(pattern)) {
		push(from.text.slice(at, match.index), at, 1);
		push(change(match[0]), match.index, 0);
		at = match.index + match[0].length;
	}
	push(from.text.slice(at), at, 1);
	offsets.push(from.offsets?.at(-1) ?? from.text.length);
	return { text, offsets, pretended: false };
}

// Letters of other alphabets that look like these.
const TWINS = new Map(
	Object.entries({
		a: "аα",
		c: "сϲ",
		d: "ԁ",
		e: "еҽ",
		h: "һ",
		i: "іι",
		j: "ј",
		k: "кκ",
		l: "ӏ",
		m: "мⅿ",
		n: "ոη",
		o: "оοօ",
		p: "рρ",
		r: "гⲅ",
		s: "ѕ",
		t: "тτ",
		u: "υս",
		v: "ѵν",
		w: "ԝ",
		x: "хχ",
		y: "уγ",
	}).flatMap(([letter, twins]) => [...twins].map((twin): [string, string] => [twin, letter])),
);

function lookAlike(char: string): string {
	if (/\p{Cf}/u.test(char)) return ""; // zero-width and other invisible ones
	const plain = char.normalize("NFKC");
	if (/^[\w ./~*=$-]+$/.test(plain)) return plain;
	if (/^[‐-―−⁄∕⧸]$/u.test(char)) return "⁄∕⧸".includes(char) ? "/" : "-";
	return TWINS.get(char) ?? char;
}
