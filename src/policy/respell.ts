/**
 * A second spelling for text that the grammar cannot read although bash can: here-documents as here-strings, `$A` as `${A}`, patterns such as `!(a|b)`
 * as `*`, `<>` as `>`, `> file <<< text` as `<<< text > file`, without substitutions of nothing. It means the same, or more. Null where that is not certain: then the text stays unreadable.
 */
export interface Respelled {
	readonly text: string;
	/** The position of each character in the given text. */
	readonly offsets: readonly number[];
}

interface Piece {
	text: string;
	readonly at: number;
	readonly moves: boolean;
}

interface HereDocument {
	readonly piece: Piece;
	readonly end: string;
	readonly literal: boolean;
	readonly tabs: boolean;
}

type Inside = ")" | '"' | "`";

export function respell(text: string): Respelled | null {
	// A pattern of `case` closes a parenthesis that it has not opened; here-documents within those are left alone.
	if (/\bcase\b/.test(text) && /\$\(|`/.test(text) && text.includes("<<")) return null;
	const pieces: Piece[] = [];
	const inside: Inside[] = [];
	const waiting: HereDocument[] = [];
	let at = 0;
	const copy = (length: number) => {
		pieces.push({ text: text.slice(at, at + length), at, moves: true });
		at += length;
	};
	const replace = (length: number, by: string): Piece => {
		const piece = { text: by, at, moves: false };
		pieces.push(piece);
		at += length;
		return piece;
	};
	while (at < text.length) {
		const char = text[at] as string;
		const rest = text.slice(at, at + LOOK_AHEAD);
		const top = inside.at(-1);
		const quoted = top === '"';
		if (char === "\\") copy(2);
		else if (rest.startsWith("``")) replace(2, "");
		else if (char === "`") {
			if (top === "`") inside.pop();
			else inside.push("`");
			copy(1);
		} else if (char === '"') {
			if (quoted) inside.pop();
			else inside.push('"');
			copy(1);
		} else if (char === "$") {
			const length = dollar(text, at);
			if (length === null) return null;
			const name = /^\$([A-Za-z_]\w*)/.exec(rest);
			const empty = /^\$\(\s*\)/.exec(rest);
			if (name) replace(name[0].length, `\${${name[1]}}`);
			else if (empty) replace(empty[0].length, "");
			else if (length > 0 && !(quoted && rest[1] === "'")) copy(length);
			else if (rest[1] === "(") {
				inside.push(")");
				copy(2);
			} else replace(1, quoted && rest[1] === "'" ? "$" : "\\$");
		} else if (quoted) copy(1);
		else if (char === "'") {
			const end = text.indexOf("'", at + 1);
			if (end === -1) return null;
			copy(end + 1 - at);
		} else if (char === "#" && /^$|[\s;&|(]/.test(text[at - 1] ?? "")) copy((/^[^\n]*/.exec(text.slice(at)) as RegExpExecArray)[0].length);
		else if (/^[?*+@!]\(/.test(rest) && !(char === "!" && /(?:^|[;&|({\n]|\b(?:then|do|else|if|while|until))\s*$/.test(text.slice(Math.max(0, at - 16), at)))) {
			const pattern = /^.\((?:[^()'"`$\\\n]|\([^()'"`$\\\n]*\))*\)/.exec(rest)?.[0];
			if (pattern === undefined) return null;
			replace(pattern.length, "*");
		} else if (rest.startsWith("((")) {
			const length = arithmetic(text, at);
			if (length === null) return null;
			copy(length);
		} else if (char === "(" || /^[<>]\(/.test(rest)) {
			inside.push(")");
			copy(char === "(" ? 1 : 2);
		} else if (char === ")") {
			if (top === ")") inside.pop();
			copy(1);
		} else if (char === ">" && /[\s;&|(]/.test(text[at - 1] ?? "") && BEFORE_STRING.test(rest)) {
			const [all, file, string] = BEFORE_STRING.exec(rest) as RegExpExecArray;
			replace(all.length, `${string} ${file}`);
		} else if (rest.startsWith("<<<")) copy(3);
		else if (rest.startsWith("<>")) replace(2, ">");
		else if (rest.startsWith("<<")) {
			const [all, dash, word] = /^<<(-?)[ \t]*((?:\\.|'[^'\n]*'|"[^"\n]*"|[^\s;&|<>()'"\\`$])+)/.exec(rest) ?? [];
			if (all === undefined || word === undefined) return null;
			waiting.push({ piece: replace(all.length, ""), end: word.replace(/\\(.)|['"]/g, "$1"), literal: /['"\\]/.test(word), tabs: dash === "-" });
		} else if (char === "\n" && waiting.length > 0) {
			copy(1);
			for (const document of waiting.splice(0)) {
				const length = fill(document, text.slice(at));
				if (length === null) return null;
				at += length;
			}
		} else copy(1);
	}
	return waiting.length > 0 || inside.length > 0 ? null : joined(pieces, text.length);
}

const LOOK_AHEAD = 512;
/** A file for the output, then a here-string: both plain words, so that their order means nothing. */
const BEFORE_STRING = /^(>[>|]?[ \t]*[\w./~-]+)[ \t]+(<<<[ \t]*(?:'[^']*'|"[^"$`\\]*"|[\w./-]+)(?=[\s;&|)]|$))/;

/** How long it is that may be copied as it stands behind a `$`; 0 if nothing is, null if it has no end. */
function dollar(text: string, at: number): number | null {
	const next = text[at + 1] ?? "";
	if (/[\d?#$!@*-]/.test(next)) return 2;
	if (next === "'") return /^\$'(?:\\[\s\S]|[^'\\])*'/.exec(text.slice(at))?.[0].length ?? null;
	if (next === '"') return 1;
	if (text.startsWith("$((", at)) {
		const length = arithmetic(text, at + 1);
		return length === null ? null : length + 1;
	}
	if (next !== "{") return 0;
	const end = /^\$\{[^{}`'"$\n]*\}/.exec(text.slice(at, at + LOOK_AHEAD))?.[0].length;
	return end ?? 2; // what is in it is gone through like the rest
}

/** From `((` to the `))` that ends it. */
function arithmetic(text: string, at: number): number | null {
	let depth = 0;
	for (let end = at; end < text.length; end++) {
		if (/['"`\\]/.test(text[end] as string)) return null;
		if (text[end] === "(") depth++;
		else if (text[end] === ")" && --depth === 0) return text[end - 1] === ")" ? end + 1 - at : null;
	}
	return null;
}

/** Puts what the here-document holds in its place. Gives how much text that was. */
function fill({ piece, end, literal, tabs }: HereDocument, text: string): number | null {
	let length = 0;
	const lines: string[] = [];
	for (const line of text.split("\n")) {
		const own = tabs ? line.replace(/^\t+/, "") : line;
		length += line.length + 1;
		if (own === end) {
			const body = lines.map((one) => `${one}\n`).join("");
			piece.text = literal
				? `<<< '${body.replaceAll("'", "'\\''")}'`
				: `<<< "${body.replace(/\\[\\$`\n]|\\|"/g, (part) => (part === '"' ? '\\"' : part === "\\" ? "\\\\" : part))}"`;
			return Math.min(length, text.length);
		}
		lines.push(own);
	}
	return null;
}

function joined(pieces: readonly Piece[], end: number): Respelled {
	const offsets: number[] = [];
	for (const { text, at, moves } of pieces) for (let unit = 0; unit < text.length; unit++) offsets.push(at + (moves ? unit : 0));
	offsets.push(end);
	return { text: pieces.map(({ text }) => text).join(""), offsets };
}
