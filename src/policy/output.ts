/** The output of a command, where that follows from its words alone; null where it does not. */
import path from "node:path";
import type { FoundCommand } from "./found.js";
import { decodeEscapes, SOME, UNKNOWN, type Word } from "./word.js";

export function outputOf(command: FoundCommand): string | null {
	const texts = command.args.map(({ text }) => text);
	const words = texts.filter((text) => !text.startsWith("-"));
	if (command.prints !== null) return command.prints;
	switch (command.names[0]) {
		case "echo": {
			const flags = /^-[neE]+$/.exec(texts[0] ?? "")?.[0] ?? "";
			const text = command.args
				.slice(flags ? 1 : 0)
				.map(shown)
				.join(" ");
			return flags.includes("e") ? decodeEscapes(text) : text;
		}
		case "printf":
			return printf(command.args.map(shown));
		case "cat":
			return words.length === 0 ? command.input : null;
		case "tee":
			return command.input;
		case "true":
		case "false":
		case ":":
			return "";
		case "git":
			return texts[0] !== "rev-parse" ? null : texts[1] === "--git-dir" ? ".git" : texts[1] === "--git-path" ? `.git/${texts[2] ?? UNKNOWN}` : null;
		case "pwd":
			return command.cwds.length === 1 ? (command.cwds[0] ?? null) : null;
		case "mktemp":
			return `/tmp/tmp.${SOME}`;
		case "which":
		case "command":
			return words[0] ?? null;
		case "basename":
			return words[0] === undefined || words[0].includes(UNKNOWN) ? null : path.basename(words[0], words[1]);
		case "date":
		case "whoami":
		case "hostname":
		case "id":
		case "nproc":
		case "uname":
		case "arch":
		case "wc":
		case "seq":
			return SOME;
		case "base64":
			return texts.some((text) => /^(-d|-D|--decode)$/.test(text)) && command.input !== null && !command.input.includes(UNKNOWN)
				? Buffer.from(command.input, "base64").toString("utf8").replaceAll("\0", UNKNOWN)
				: null;
		case "find":
			return foundBy(command).join("\n");
		default:
			return null;
	}
}

const shown = (word: Word): string => (word.glob ? word.text.replace(/[*?[\]]+/g, SOME) : word.text);

function printf([format = "", ...values]: string[]): string | null {
	if (format.includes(UNKNOWN)) return null;
	const queue = [...values];
	let result = "";
	for (let round = 0; round === 0 || (queue.length > 0 && round < 64); round++) {
		const before = queue.length;
		result += format.replace(/%(?:%|[-+ #0-9.]*([a-zA-Z]))/g, (all, kind: string | undefined) =>
			kind === undefined ? all.slice(1) : converted(kind, queue.shift() ?? ""),
		);
		if (queue.length === before) break;
	}
	return decodeEscapes(result);
}

function converted(kind: string, value: string): string {
	if (kind === "b") return decodeEscapes(value);
	if (kind === "c") return value.slice(0, 1);
	if (!/[oxXdiu]/.test(kind)) return kind === "s" || kind === "q" ? value : UNKNOWN;
	const number = /^['"]./.test(value) ? value.charCodeAt(1) : Number(value || "0");
	if (!Number.isInteger(number)) return UNKNOWN;
	return number.toString(kind === "o" ? 8 : /x/i.test(kind) ? 16 : 10);
}

/** Whether it only prints a file: then that is a script like any other. */
export const printsFile = ({ names, args, reads, remote }: FoundCommand): boolean =>
	!remote &&
	names[0] === "cat" &&
	args.every(({ text }) => !text.includes(UNKNOWN)) &&
	args.length + reads.length > 0 &&
	!reads.some(({ text }) => /^\d+$|\0|^\/dev\//.test(text));

/** The names find(1) can come upon: below its roots when there is a test, the roots too when there is none. */
export function foundBy(command: FoundCommand): string[] {
	const texts = command.args.map(({ text }) => text);
	const end = texts.findIndex((text) => /^[-(!]/.test(text) && !/^-[HLP]$/.test(text));
	const roots = texts.slice(0, end === -1 ? undefined : end).filter((text) => !text.startsWith("-"));
	const name = texts[texts.findIndex((text) => /^-i?name$/.test(text)) + 1] ?? "";
	const last = texts.some((text) => /^-i?name$/.test(text)) && !/[*?[\0]/.test(name) ? name : SOME;
	const tested = texts.some((text) => /^-(i?name|i?path|i?regex|wholename|[acm]?time|[acm]min|newer\w*|empty|size|user|perm)$/.test(text));
	return (roots.length > 0 ? roots : ["."]).map((root) => (tested ? `${root}/${SOME}/${last}` : root));
}
