/**
 * One command can be read in more than one way, and the strictest counts:
 * as it stands; with its continued lines joined, as the shell does before anything else (the grammar takes them for spaces);
 * and with letters that only look like Latin ones replaced, which no shell does but a person who approves would.
 */
export interface Reading {
	readonly text: string;
	/** Where each character of `text` is in the command; null when it is the command. */
	readonly offsets: readonly number[] | null;
	/** A reading no shell has: what it finds counts only where a rule names it, not where something is unknown. */
	readonly pretended: boolean;
}

export function readings(command: string): Reading[] {
	const found: Reading[] = [{ text: command, offsets: null, pretended: false }];
	if (CONTINUED.test(command)) found.push(rewrite(command, (char, next) => (char === "\\" && next === "\n" ? null : char), false));
	if (/[^\x00-\x7f]/.test(command)) {
		const plain = rewrite(command, (char, next) => (char === "\\" && next === "\n" ? null : lookAlike(char)), true);
		if (plain.text !== command) found.push(plain);
	}
	return found;
}

/** A continuation between two spaces is a space anyway. */
const CONTINUED = /\S\\\n\S/;

/** `change` gives what stands for a character; null drops it and the one behind it. */
function rewrite(command: string, change: (char: string, next: string | undefined) => string | null, pretended: boolean): Reading {
	let text = "";
	const offsets: number[] = [];
	let at = 0;
	const push = (piece: string) => {
		for (let unit = 0; unit < piece.length; unit++) offsets.push(at);
		text += piece;
	};
	while (at < command.length) {
		const char = String.fromCodePoint(command.codePointAt(at) as number);
		const next = command[at + char.length];
		const changed = change(char, next);
		if (changed === null) {
			at += char.length + 1;
			continue;
		}
		// A backslash keeps the character behind it from being anything but itself.
		push(changed);
		at += char.length;
		if (char === "\\" && next === "\\") {
			push(next);
			at++;
		}
	}
	offsets.push(at);
	return { text, offsets, pretended };
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
	if (char <= "\x7f") return char;
	if (/\p{Cf}/u.test(char)) return ""; // zero-width and other invisible ones
	const plain = char.normalize("NFKC");
	if (/^[\w ./~*=$-]+$/.test(plain)) return plain;
	if (/^[‐-―−⁄∕⧸]$/u.test(char)) return "⁄∕⧸".includes(char) ? "/" : "-";
	return TWINS.get(char) ?? char;
}
