import path from "node:path";
import type { Simple } from "./lex.js";

/** Programs that run the command that follows, possibly after their own options. */
const WRAPPERS = new Set(["sudo", "env", "command", "builtin", "exec", "time", "nice", "ionice", "stdbuf", "doas", "npx", "bunx", "uvx"]);
/** Shell keywords before a command. */
const KEYWORDS = new Set(["then", "do", "else", "elif", "if", "while", "until", "!", "time"]);

export interface ProgramCall {
	readonly name: string;
	readonly args: readonly string[];
}

/** Returns the program of a simple command, without leading assignments and wrappers; undefined if unclear. */
export function programOf({ words }: Simple): ProgramCall | undefined {
	let at = 0;
	for (; at < words.length; at++) {
		const { text, quoted } = words[at] as Simple["words"][number];
		const passed = /^[A-Za-z_]\w*=/.test(text) || (!quoted && (KEYWORDS.has(text) || WRAPPERS.has(text)));
		const option = at > 0 && WRAPPERS.has(words[at - 1]?.text ?? "") && text.startsWith("-");
		if (!passed && !option) break;
	}
	const name = words[at]?.text;
	if (!name || /\s/.test(name)) return undefined;
	const args = words.slice(at + 1).map((word) => word.text);
	const redirect = args.findIndex((arg) => /^\d*[<>]/.test(arg) || arg === "&>");
	return { name: path.basename(name), args: redirect < 0 ? args : args.slice(0, redirect) };
}
