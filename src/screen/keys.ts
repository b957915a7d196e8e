/**
 * Encodes keys as people write them, text and `<NAME>` tokens, into the bytes that a terminal sends.
 *
 * A token is `<`, a word of letters and digits, optionally more of them joined by `+` (the last may be any one character, as in `<CTRL+\>`), `>`. An
 * unknown token is refused. Any other `<` is typed as it is ("a < b", "<-", "</p>"), and `<<` types one `<` whatever follows. Modifiers may also be
 * written as in vim and Emacs: `<C-c>`, `<Ctrl-C>`, `<M-x>`.
 */
import { HoldfastError } from "../base/index.js";

/** Terminal modes, set by the program, that change the bytes of a key; see `ScreenView.modes`. */
export interface KeyModes {
	readonly applicationCursor?: boolean;
	readonly bracketedPaste?: boolean;
}

const TOKEN =
	/<<|<([A-Za-z][A-Za-z0-9]*(?:\+[A-Za-z0-9]+)*(?:\+[^\sA-Za-z0-9]?)?|(?:(?:[Cc]trl|[Aa]lt|[Ss]hift|CTRL|ALT|SHIFT|[CMS])-)+(?:[A-Za-z0-9]+|[^\sA-Za-z0-9]))>/gu;

/** Returns the bytes for `text`. Throws INVALID if it has an unknown token. */
export function encodeKeys(text: string, modes: KeyModes = {}): Buffer {
	const parts: string[] = [];
	let plain = "";
	let from = 0;
	for (const match of text.matchAll(TOKEN)) {
		plain += text.slice(from, match.index);
		from = match.index + match[0].length;
		if (match[1] === undefined) plain += "<";
		else {
			parts.push(typed(plain, modes), key(match[1], modes));
			plain = "";
		}
	}
	parts.push(typed(plain + text.slice(from), modes));
	return Buffer.from(parts.join(""), "utf8");
}

/**
 * Encodes text between tokens. Text with line breaks inside is a paste, if the program has asked to be told of pastes, and is sent as terminals do:
 * breaks as CR, and nothing in it that could end the paste early (such a sequence is written out: removing it might form another one). A break at the
 * very end is Enter, typed after the paste: inside, a shell would take it for part of the text and wait.
 */
function typed(text: string, modes: KeyModes): string {
	const [body, end] = splitLastBreak(text);
	if (!modes.bracketedPaste || !/[\r\n]/.test(body)) return text;
	return `\x1b[200~${body.replaceAll("\x1b[201~", "^[[201~").replaceAll(/\r?\n/g, "\r")}\x1b[201~${end}`;
}

function splitLastBreak(text: string): [string, string] {
	const end = /(?:\r\n|\r|\n)$/.exec(text)?.[0] ?? "";
	return [text.slice(0, text.length - end.length), end];
}

const PLAIN: Readonly<Record<string, string>> = { ESC: "\x1b", ENTER: "\r", TAB: "\t", BACKSPACE: "\x7f", SPACE: " " };
/** Cursor keys: CSI letter; ESC O letter in application cursor mode. */
const CURSOR: Readonly<Record<string, string>> = { UP: "A", DOWN: "B", RIGHT: "C", LEFT: "D", HOME: "H", END: "F" };
const FUNCTION: Readonly<Record<string, string>> = { F1: "P", F2: "Q", F3: "R", F4: "S" };
/** Encoded as CSI number ~. The numbers skip 16 and 22, as on the VT220. */
const NUMBERED: Readonly<Record<string, number>> = {
	INSERT: 2,
	DELETE: 3,
	PAGEUP: 5,
	PAGEDOWN: 6,
	...{ F5: 15, F6: 17, F7: 18, F8: 19, F9: 20, F10: 21, F11: 23, F12: 24 },
};
const SHORT: Readonly<Record<string, string>> = { PGUP: "PAGEUP", PGDN: "PAGEDOWN", DEL: "DELETE", INS: "INSERT", RETURN: "ENTER", ESCAPE: "ESC" };
const MODIFIERS: Readonly<Record<string, number>> = { SHIFT: 1, ALT: 2, CTRL: 4, S: 1, M: 2, C: 4 };
const KNOWN =
	"<ESC> <ENTER> <TAB> <BACKSPACE> <SPACE> <UP> <DOWN> <LEFT> <RIGHT> <HOME> <END> <PAGEUP> <PAGEDOWN> <INSERT> <DELETE> <F1> to <F12>, with <CTRL+…>, <ALT+…>, <SHIFT+…> before them or before one character";

function key(token: string, { applicationCursor }: KeyModes): string {
	const [, modifiers = "", last = ""] = /^((?:[^+-]+[+-])*)(.+)$/su.exec(token) ?? [];
	const name = SHORT[last.toUpperCase()] ?? last.toUpperCase();
	let bits = 0;
	for (const word of modifiers.split(/[+-]/).slice(0, -1)) {
		const bit = MODIFIERS[word.toUpperCase()];
		if (bit === undefined || bits & bit) throw unknown(token);
		bits |= bit;
	}
	const cursor = CURSOR[name];
	const pressed = cursor ?? FUNCTION[name];
	if (pressed !== undefined) {
		if (bits > 0) return `\x1b[1;${bits + 1}${pressed}`;
		return cursor === undefined || applicationCursor ? `\x1bO${pressed}` : `\x1b[${pressed}`;
	}
	const number = NUMBERED[name];
	if (number !== undefined) return bits > 0 ? `\x1b[${number};${bits + 1}~` : `\x1b[${number}~`;
	if (name === "TAB" && bits === 1) return "\x1b[Z";
	const bytes = character(PLAIN[name], last, bits);
	if (bytes === undefined) throw unknown(token);
	return bits & 2 ? `\x1b${bytes}` : bytes; // Alt is ESC before the key
}

/** Encodes one character with or without Control or Shift; undefined if terminals have no byte for it. */
function character(plain: string | undefined, last: string, bits: number): string | undefined {
	const text = plain ?? ([...last].length === 1 && bits > 0 ? last : undefined);
	if (text === undefined) return undefined;
	if (bits & 4) return bits & 1 ? undefined : control(text);
	if (bits & 1) return plain === undefined ? text.toUpperCase() : plain === " " ? " " : undefined;
	return text;
}

function control(text: string): string | undefined {
	if (/^[@-_a-z]$/.test(text)) return String.fromCharCode(text.toUpperCase().charCodeAt(0) & 0x1f);
	return { " ": "\0", "/": "\x1f", "?": "\x7f", "\x7f": "\b" }[text];
}

const unknown = (token: string): HoldfastError =>
	new HoldfastError("INVALID", `<${token}> is not a key, so nothing was sent; known: ${KNOWN}. To type it as text write <<${token}>`);
