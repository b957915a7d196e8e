/** The commands that a sed(1) script runs, and the files that it reads and writes. */
import { SOME, UNKNOWN, type Word } from "./word.js";

export interface SedScript {
	/** Shell text; UNKNOWN where the lines that are read say what runs. */
	readonly runs: readonly string[];
	readonly reads: readonly string[];
	readonly writes: readonly string[];
}

/** Returns the scripts and files of a sed command. `script` is null if it cannot be read. */
export function readSed(args: readonly Word[]): { script: SedScript | null; files: Word[] } {
	const scripts: string[] = [];
	const files: Word[] = [];
	for (let at = 0; at < args.length; at++) {
		const one = args[at] as Word;
		const glued = /^(?:--expression=|-[nrEsuz]*e)(.+)$/s.exec(one.text)?.[1];
		if (glued !== undefined) scripts.push(glued);
		else if (/^(?:-[nrEsuz]*e|--expression)$/.test(one.text)) scripts.push(args[++at]?.text ?? "");
		else if (/^(?:-[nrEsuz]*f|--file|-l|--line-length)$/.test(one.text)) at++;
		else if (!one.text.startsWith("-")) files.push(one);
	}
	const named = args.some(({ text }) => /^(?:-[nrEsuz]*[ef]|--expression|--file)/.test(text));
	if (!named) scripts.push(files.shift()?.text ?? "");
	return { script: scan(scripts.join("\n")), files };
}

const ADDRESS = /^\s*(?:\d+(?:~\d+)?|\$|\/(?:\\[\s\S]|\[\^?\]?[^\]]*\]|[^/\\[])*\/[IM]*|\\([^\\\n])(?:\\[\s\S]|(?!\1)[\s\S])*\1[IM]*)\s*/;
const SECOND = /^,\s*(?:[+~]\d+|\d+|\$|\/(?:\\[\s\S]|\[\^?\]?[^\]]*\]|[^/\\[])*\/[IM]*|\\([^\\\n])(?:\\[\s\S]|(?!\1)[\s\S])*\1[IM]*)\s*/;

function scan(text: string): SedScript | null {
	const [runs, reads, writes]: [string[], string[], string[]] = [[], [], []];
	let rest = text;
	const take = (pattern: RegExp): string | undefined => {
		const match = pattern.exec(rest);
		if (match) rest = rest.slice(match[0].length);
		return match?.[0];
	};
	for (;;) {
		take(/^[\s;}]+/);
		if (rest === "") return { runs, reads, writes };
		if (take(/^#[^\n]*/) !== undefined) continue;
		if (take(ADDRESS) !== undefined) take(SECOND);
		take(/^\s*!?\s*/);
		const command = rest[0];
		rest = rest.slice(1);
		if (command === undefined) return { runs, reads, writes };
		switch (command) {
			case "e":
				runs.push(take(/^[^\n]*/)?.trim() || UNKNOWN);
				break;
			case "w":
			case "W":
				writes.push(take(/^[^\n]*/)?.trim() ?? "");
				break;
			case "r":
			case "R":
				reads.push(take(/^[^\n]*/)?.trim() ?? "");
				break;
			case "s":
			case "y": {
				const parts = delimited(rest);
				if (!parts) return null;
				rest = rest.slice(parts.length);
				if (command === "y") break;
				const flags = take(/^[gpiIemM\d]*/) ?? "";
				if (flags.includes("e")) runs.push(UNKNOWN);
				if (/^w\s/.test(rest))
					writes.push(
						take(/^w[^\n]*/)
							?.slice(1)
							.trim() ?? "",
					);
				break;
			}
			case "a":
			case "i":
			case "c":
				take(/^(?:\\\n|[^\n\\]|\\[\s\S])*/);
				break;
			case "b":
			case "t":
			case "T":
			case ":":
				take(/^[^;\n}]*/);
				break;
			case "{":
				break;
			case "q":
			case "Q":
			case "l":
			case "L":
				take(/^\s*\d*/);
				break;
			default:
				if (!/[dDgGhHnNpPxzF=\0\x01]/.test(command)) return null;
				if (command === UNKNOWN || command === SOME) take(/^[^\n;]*/); // part of it is known only when it runs
		}
	}
}

/** `/a/b/`: how long it is, whatever its delimiter. */
function delimited(text: string): { length: number } | null {
	const mark = text[0];
	if (mark === undefined || mark === "\n" || mark === "\\") return null;
	let seen = 0;
	for (let at = 1; at < text.length; at++) {
		const set = seen === 0 && text[at] === "[" && mark !== "[" ? /^\[\^?\]?[^\]\n]*\]/.exec(text.slice(at, at + 256))?.[0] : undefined;
		if (set !== undefined) at += set.length - 1;
		else if (text[at] === "\\") at++;
		else if (text[at] === mark && ++seen === 2) return { length: at + 1 };
	}
	return null;
}
