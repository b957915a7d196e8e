/** The state that a shell writes after each command: see `__hf_snap` in rc.bash. */
import path from "node:path";
import { readIfThere, shellQuote, statIfThere } from "../base/index.js";

/** Written in turn. */
export const SNAPSHOTS = ["snap.0", "snap.1"];
/** The same, by their names in the directory of the process. */
export const STATE_FILES = SNAPSHOTS.map((name) => `shell/${name}`);
const MOST_BYTES = 256 * 1024 * 1024; // any process in a sandbox can write there, as much as it likes

export interface ShellState {
	/** The id of the command after which it was written; empty at the birth of the shell. */
	readonly command: string;
	readonly exported: Readonly<Record<string, string>>;
	/** The names of its functions and aliases. */
	readonly names: ReadonlySet<string>;
	/** Shell text that defines the exported ones of its functions; empty when there are none. */
	readonly functions: string;
	/** The shell's options, of `set` and of `shopt`. */
	readonly options: ReadonlySet<string>;
	/** The shell has traps, by which any command may do more than it says. */
	readonly trapped: boolean;
}

/** The newest whole state in a shell's directory; undefined before the first. */
export function readState(dir: string): ShellState | undefined {
	let newest: { number: number; command: string; text: string } | undefined;
	for (const name of SNAPSHOTS) {
		const file = path.join(dir, name);
		const text = (statIfThere(file)?.size ?? 0) > MOST_BYTES ? "" : (readIfThere(file) ?? "");
		const head = /^#hf (\d+) (\S*)\n/.exec(text);
		if (!head) continue;
		const end = text.indexOf(`\n#hf-end ${head[1]}\n`);
		const number = Number(head[1]);
		if (end >= 0 && number > (newest?.number ?? 0)) newest = { number, command: head[2] ?? "", text: text.slice(head[0].length, end + 1) };
	}
	if (!newest) return undefined;
	const { command, text, number } = newest;
	return {
		command,
		exported: exportedIn(text),
		names: namesOf(text),
		functions: functionsIn(text, number),
		options: optionsOf(text),
		trapped: /^(?:trap -- (?!'__hf_)|#hf-traps$)/m.test(text),
	};
}

const namesOf = (text: string): Set<string> =>
	new Set([...text.matchAll(/^(?:(\S+) \(\) $|alias (?:-- )?([^=]+)=)/gm)].map(([, name, alias]) => name ?? alias ?? ""));

const optionsOf = (text: string): Set<string> => new Set(/^__hf_so=(\S*) __hf_bo=(\S*)\n/.exec(text)?.slice(1).join(":").split(":"));

/** All functions as bash prints them, less those that are not exported. */
function functionsIn(text: string, number: number): string {
	const begin = text.indexOf(`#hf-functions ${number}\n`);
	const all = begin < 0 ? "" : text.slice(text.indexOf("\n", begin) + 1, text.indexOf(`#hf-functions-end ${number}\n`));
	const attributes = /^declare -f(\w*) (\S+)\n/gm;
	const exported = new Set([...all.matchAll(attributes)].filter(([, flags]) => flags?.includes("x")).map(([, , name]) => name as string));
	if (exported.size === 0) return "";
	const others = [...all.matchAll(/^(\S+) \(\) $/gm)].map(([, name]) => name as string).filter((name) => !exported.has(name));
	const lines = [...others.map((name) => `unset -f -- ${shellQuote(name)}`), ...[...exported].map((name) => `export -f -- ${shellQuote(name)}`), ""];
	return all.replaceAll(attributes, "") + lines.join("\n"); // without attributes: of those that are read-only ours would stay
}

/** The exported variables in what `declare -p` prints. Values are read as bash quotes them; nothing is ever executed. */
export function exportedIn(text: string): Record<string, string> {
	const found: Record<string, string> = {};
	const lines = /^declare -(\S+) ([A-Za-z_]\w*)(=?)/gm;
	for (let line = lines.exec(text); line; line = lines.exec(text)) {
		const [, flags = "", name = "", equals] = line;
		if (!equals || /[aA]/.test(flags)) continue;
		const value = quoted(text, lines.lastIndex);
		if (!value) continue;
		lines.lastIndex = value.end; // a value of several lines is no declaration
		if (flags.includes("x")) found[name] = value.text;
	}
	return found;
}

const ANSI: Readonly<Record<string, string>> = { a: "\x07", b: "\b", e: "\x1b", E: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** A word in double quotes or in $'…', at an offset of a text. */
function quoted(text: string, from: number): { text: string; end: number } | undefined {
	const ansi = text.startsWith("$'", from);
	if (!ansi && text[from] !== '"') return undefined;
	const bytes: Buffer[] = [];
	for (let at = from + (ansi ? 2 : 1); at < text.length; at++) {
		const char = text[at] as string;
		if (char === (ansi ? "'" : '"')) return { text: Buffer.concat(bytes).toString("utf8"), end: at + 1 };
		if (char !== "\\") {
			const code = text.codePointAt(at) as number;
			if (code > 0xffff) at++;
			bytes.push(Buffer.from(String.fromCodePoint(code)));
			continue;
		}
		const next = text[++at] ?? "";
		const octal = ansi && /^[0-7]{1,3}/.exec(text.slice(at, at + 3))?.[0];
		if (octal) {
			bytes.push(Buffer.from([Number.parseInt(octal, 8)])); // a byte; several may make one character
			at += octal.length - 1;
		} else if (ansi) bytes.push(Buffer.from(ANSI[next] ?? next));
		else bytes.push(Buffer.from(/["\\$`]/.test(next) ? next : `\\${next}`));
	}
	return undefined;
}
