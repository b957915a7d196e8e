/** Paths as rules see them: absolute, through symbolic links, with globs and unknown pieces kept in mind. */
import fs from "node:fs";
import path from "node:path";
import type { Found } from "./found.js";
import type { World } from "./scope.js";
import { isKnown, SOME, UNKNOWN, type Word } from "./word.js";

/** Every place a word can mean; null for one that is not known. A pattern that takes everything in a directory means the directory. */
export function placesOf(word: Word, command: Found, world: World): (string | null)[] {
	const text = word.glob ? withoutGlobs(word.text) : word.text;
	if (text.includes(UNKNOWN)) return [null];
	const bases = path.isAbsolute(text) ? ["/"] : command.cwds;
	return bases.map((base) => (base === null ? null : world.local && !command.remote ? real(path.resolve(base, text), world) : path.resolve(base, text)));
}

function withoutGlobs(text: string): string {
	const parts = text.split("/");
	const at = parts.findIndex((part) => /[*?[]/.test(part));
	const everything = /^[.*?]+$/.test(parts[at] ?? "") || /^\.?\[[^\]]*\]\*?$/.test(parts[at] ?? "");
	if (everything && parts.slice(at + 1).every((part) => part === "")) return parts.slice(0, at).join("/") || (text.startsWith("/") ? "/" : ".");
	return parts.map((part) => part.replace(/[*?[\]]+/g, SOME)).join("/");
}

/** What was looked up for one decision. */
const looked = new WeakMap<World, Map<string, string>>();

/** Through the links of as much of it as is there. */
function real(file: string, world: World): string {
	if (file.length > 4096) return file; // no system takes it
	const known = looked.get(world) ?? new Map<string, string>();
	looked.set(world, known);
	let result = known.get(file);
	if (result === undefined) {
		world.looked.at++;
		result = (isKnown(file) ? realpath(file) : undefined) ?? (file === "/" ? file : path.join(real(path.dirname(file), world), path.basename(file)));
		known.set(file, result);
	}
	return result;
}

function realpath(file: string): string | undefined {
	try {
		return fs.realpathSync.native(file);
	} catch {
		return undefined; // not there, or not readable: its directory may be
	}
}

export const isWithin = (file: string, dir: string): boolean => file === dir || file.startsWith(dir === "/" ? "/" : `${dir}/`);

/** Every word that may name a file: arguments, what is behind `=` in them, redirections. */
export function fileWords(command: Found): Word[] {
	const args = command.args.flatMap((word) => {
		const value = /^(?:--?[\w-]+|[a-z]+)=(.+)$/s.exec(word.text)?.[1];
		if (value !== undefined) return [word, { ...word, text: value }];
		return word.text.startsWith("@") ? [{ ...word, text: word.text.slice(1) }] : [word];
	});
	return [...args, ...command.reads, ...command.writes];
}

const patterns = new Map<string, RegExp>();

/** `*` is anything within a name, `**` anything at all; everything else is itself. */
export function globMatches(glob: string, text: string): boolean {
	let pattern = patterns.get(glob);
	if (!pattern) {
		const source = glob
			.replace(/[.+^${}()|[\]\\]/g, "\\$&")
			.replace(/\/\*\*$|\*\*\/|\*\*|\*|\?/g, (part) => ({ "/**": "(?:/.*)?", "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" })[part] as string);
		pattern = new RegExp(`^${source}$`, "s");
		patterns.set(glob, pattern);
	}
	return pattern.test(text);
}
