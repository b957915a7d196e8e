/**
 * Words of a command while the shell's expansions are done on them.
 *
 * A character that was quoted is kept as a lone surrogate (U+DC00 and its code), which text cannot contain by itself, so that braces,
 * blanks, globs and tildes that were not quoted can still be told from those that were. Two more stand for what is not known before it runs.
 */

/** Any text at all, with blanks and slashes. */
export const UNKNOWN = "\0";
/** One harmless piece of a name: a date, a number, what a glob or find(1) finds. Never "..", never a slash. */
export const SOME = "\x01";

export interface Word {
	readonly text: string;
	/** Something in it is a pattern that the shell replaces by names of files. */
	readonly glob: boolean;
	/** The redirection appends: the content of the file stays. */
	readonly appends?: true;
}

export const word = (text: string): Word => ({ text, glob: false });

export const isKnown = (text: string): boolean => !text.includes(UNKNOWN) && !text.includes(SOME);

const SPECIAL = /[ \t\n{},*?[\]~\\]/g;
const EMPTY = "\udc80";

/** Encodes text as inside quotes: no character of it has a meaning. */
export const quote = (text: string): string => (text === "" ? EMPTY : text.replace(SPECIAL, hide));
/** Encodes the value of an unquoted variable: blanks split it and globs are looked up, but braces and backslashes are only characters. */
export const fromVariable = (text: string): string => text.replace(/[{},\\~]/g, hide);
const hide = (char: string): string => String.fromCharCode(0xdc00 + char.charCodeAt(0));

/** Every mark off again. */
export const plain = (encoded: string): string =>
	encoded.replace(/(?<![\ud800-\udbff])[\udc00-\udc80]/g, (char) => (char === EMPTY ? "" : String.fromCharCode(char.charCodeAt(0) - 0xdc00)));

/** An unquoted word as it stands in the text: backslashes quote. */
export const unescapeWord = (text: string): string =>
	text.replace(/\\(\n|[\s\S])|\\$/g, (_, char: string | undefined) => (char === "\n" ? "" : quote(char ?? "\\")));

/** Text between double quotes: a backslash quotes only these. */
export const unescapeInQuotes = (text: string): string => text.replace(/\\([$`"\\\n])/g, (_, char: string) => (char === "\n" ? "" : char));

/** Returns the words that one word expands to: several by braces and blanks, none if nothing is left. */
export function words(encoded: string, scope: Parameters<typeof tilde>[1]): Word[] {
	const result: Word[] = [];
	for (const one of braces(encoded)) {
		for (const field of one.split(/[ \t\n]+/)) {
			if (field === "") continue;
			result.push({ text: plain(tilde(field, scope)), glob: /[*?[]/.test(field) });
			if (result.length > MAX_WORDS) return result;
		}
	}
	return result;
}

const MAX_WORDS = 4096;

/** `~` at the beginning, also of a value that looks like it is assigned: `dd of=~/x`. `~+` is the working directory. */
export function tilde(field: string, { world, cwds }: { readonly world: { readonly home: string }; readonly cwds: readonly (string | null)[] }): string {
	const match = /^([A-Za-z_]\w*=)?~([+-]|[a-z_][\w-]*)?(?=[/:]|$)/.exec(field);
	if (!match) return field;
	const [all, before = "", user] = match;
	const here = cwds.length === 1 ? (cwds[0] ?? UNKNOWN) : UNKNOWN;
	const dir = user === undefined ? world.home : user === "+" ? here : user === "-" ? UNKNOWN : user === "root" ? "/root" : `/home/${user}`;
	return before + dir + field.slice(all.length);
}

/** `a{b,c}` is `ab ac`. Ranges stand for numbers or letters. */
function braces(text: string, depth = 0): string[] {
	const open = text.indexOf("{");
	if (open === -1 || depth > 8) return [text];
	const parts: string[] = [];
	let level = 0;
	let from = open + 1;
	for (let at = open; at < text.length; at++) {
		const char = text[at];
		if (char === "{") level++;
		else if (char === "," && level === 1) {
			parts.push(text.slice(from, at));
			from = at + 1;
		} else if (char === "}" && --level === 0) {
			const last = text.slice(from, at);
			const rest = braces(text.slice(at + 1), depth + 1);
			const middle = parts.length > 0 ? [...parts, last] : /^[\w-]+\.\.[\w-]+/.test(last) ? [SOME] : null;
			if (!middle) return [`${text.slice(0, open)}${quote("{")}${last}${quote("}")}`].flatMap((head) => rest.map((tail) => head + tail));
			const result: string[] = [];
			for (const part of middle.flatMap((one) => braces(one, depth + 1)))
				for (const tail of rest) if (result.length < MAX_WORDS) result.push(text.slice(0, open) + part + tail);
			return result;
		}
	}
	return [text];
}

const ESCAPES: Record<string, string> = { a: "\x07", b: "\b", e: "\x1b", E: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** The escapes of `$'…'`, `echo -e` and printf(1). */
export function decodeEscapes(text: string): string {
	return text.replace(
		/\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|c([\s\S])|([\s\S]))/g,
		(all, x, u, U, octal, control, other) => {
			const hex = x ?? u ?? U;
			if (hex !== undefined) return codePoint(Number.parseInt(hex, 16));
			if (octal !== undefined) return codePoint(Number.parseInt(octal, 8) & 0xff);
			if (control !== undefined) return codePoint(control.charCodeAt(0) & 0x1f);
			return ESCAPES[other] ?? (/[\\'"?]/.test(other) ? other : all);
		},
	);
}

const codePoint = (code: number): string => (code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? UNKNOWN : String.fromCodePoint(code));

/** Unknown pieces inside text that is read as shell text again. */
export const asText = (text: string): string => text.replaceAll(UNKNOWN, "${_unknown_}").replaceAll(SOME, "${RANDOM}");
