/** Paths as rules see them: absolute, through symbolic links, with globs and unknown pieces kept in mind. */
import path from "node:path";
import { realPath } from "../base/index.js";
import type { FoundCommand, SymbolicLink } from "./found.js";
import { directoryOption } from "./options.js";
import type { World } from "./scope.js";
import { isKnown, SOME, UNKNOWN, type Word } from "./word.js";

/** Every place a word can mean; null for one that is not known. A pattern that takes everything in a directory means the directory. */
export function placesOf(word: Word, command: Where, world: World): readonly (string | null)[] {
	const known = placed.get(word);
	if (known && known.world === world && known.cwds === command.cwds && known.links === command.links && known.remote === command.remote) return known.places;
	const places = findPlaces(word, command, world);
	placed.set(word, { world, cwds: command.cwds, links: command.links, remote: command.remote, places });
	return places;
}

/** The places of a word, and the names by which it calls them: `~/.bashrc` is read by shells also where it is a link into a directory of dotfiles. */
export function namesOf(word: Word, command: Where, world: World): readonly (string | null)[] {
	const places = placesOf(word, command, world);
	const text = word.glob ? withoutGlobs(word.text) : word.text;
	if (!world.local || command.remote || text.includes(UNKNOWN)) return places;
	const names = (path.isAbsolute(text) ? ["/"] : command.cwds).flatMap((base) => (base === null ? [] : [path.resolve(base, text)]));
	return [...new Set([...places, ...names])];
}

type Where = Pick<FoundCommand, "cwds" | "links" | "remote">;

/** Many rules ask about the same words. */
const placed = new WeakMap<Word, Where & { readonly world: World; readonly places: readonly (string | null)[] }>();

function findPlaces(word: Word, { cwds, links, remote }: Where, world: World): (string | null)[] {
	const text = word.glob ? withoutGlobs(word.text) : word.text;
	if (text.includes(UNKNOWN)) return [null];
	return (path.isAbsolute(text) ? ["/"] : cwds).map((base) => {
		if (base === null) return null;
		if (!world.local || remote) return path.resolve(base, text);
		const followed = links.length > 0 || UP.test(text) ? follow(path.isAbsolute(text) ? text : `${base}/${text}`, links, world) : path.resolve(base, text);
		return followed === null ? null : real(followed, world);
	});
}

const UP = /(?:^|\/)\.\.(?:\/|$)/; // if what is before it is a link, this is not where we are
const HOPS = 8;

/** Step by step, as the kernel does: `..` is above where a link has led, and links are followed that are yet to be made. */
function follow(file: string, links: readonly SymbolicLink[], world: World, hops = 0): string | null {
	if (file.length > LONGEST) return file;
	let at = "/";
	for (const part of file.split("/")) {
		if (part === "" || part === ".") continue;
		const next = part === ".." ? path.dirname(at) : path.join(at, part);
		const link = links.findLast((one) => one.at === next); // also in the place of something that is there
		if (!link) {
			at = real(next, world);
			continue;
		}
		if (link.to === null || hops === HOPS) return null;
		const end = follow(link.to, links, world, hops + 1);
		if (end === null) return null;
		at = end;
	}
	return at;
}

const LONGEST = 4096; // no system takes more

function withoutGlobs(text: string): string {
	const parts = text.split("/");
	const at = parts.findIndex((part) => /[*?[]/.test(part));
	const everything = /^[.*?]+$/.test(parts[at] ?? "") || /^\.?\[[^\]]*\]\*?$/.test(parts[at] ?? "");
	if (everything && parts.slice(at + 1).every((part) => part === "")) return parts.slice(0, at).join("/") || (text.startsWith("/") ? "/" : ".");
	return parts.map((part) => part.replace(/(?:\[[^\]]+\]|[*?[\]])+/g, SOME)).join("/");
}

/** Descriptors of a process are its own affair, and may have changed by the time the command runs. */
const OPEN_FILE = /^\/proc\/\d+\/(?:task\/\d+\/)?fd\/\d+$/;

/** The look-ups for one decision. */
const looked = new WeakMap<World, Map<string, string>>();

/** Through all links, dangling ones too: a redirection makes the file that they name. */
function real(file: string, world: World): string {
	if (file.length > LONGEST || OPEN_FILE.test(file)) return file;
	const known = looked.get(world) ?? new Map<string, string>();
	looked.set(world, known);
	let result = known.get(file);
	if (result === undefined) {
		result = isKnown(file) || file === "/" ? world.looks.at(realPath, file) : path.join(real(path.dirname(file), world), path.basename(file));
		known.set(file, result);
	}
	return result;
}

export const isWithin = (file: string, dir: string): boolean => file === dir || file.startsWith(dir === "/" ? "/" : `${dir}/`);

const TEMPORARY = /^\/(?:tmp|var\/tmp|dev\/shm|private\/tmp|run\/user\/[^/]+)\/[^/]+/;
/** Whether a place that a pattern stands for may be in a directory. */
export function mayBeWithin(file: string, dir: string): boolean {
	const parts = file.split("/");
	return dir.split("/").every((name, at) => parts[at] !== undefined && mayBe(parts[at], name));
}

/** A pattern finds names that begin with a dot only if it begins with one too. */
export function mayBe(pattern: string, name: string): boolean {
	if (!pattern.includes(SOME)) return pattern === name;
	if (name.startsWith(".") && !pattern.startsWith(".")) return false;
	const [head = "", ...rest] = pattern.split(SOME);
	const tail = rest.pop() ?? "";
	if (!name.startsWith(head) || !name.endsWith(tail) || name.length < head.length + tail.length) return false;
	let at = head.length;
	for (const piece of rest) {
		const found = name.indexOf(piece, at);
		if (found === -1 || found + piece.length > name.length - tail.length) return false;
		at = found + piece.length;
	}
	return true;
}

/** In the working directory. What `ssh` or `docker exec` runs has a remote one, even if its name is the same. */
export const isAtWork = (place: string, { remote }: Pick<FoundCommand, "remote">, { cwd }: World): boolean => !remote && isWithin(place, cwd);

/** Returns whether a path is in a temporary directory, where any command may work. If the work itself is in one, other files of that directory do not count. */
export function isTemporary(place: string, { cwd }: World): boolean {
	const bench = TEMPORARY.exec(place)?.[0];
	return bench !== undefined && !bench.endsWith(`/${SOME}`) && TEMPORARY.exec(cwd)?.[0] !== bench;
}

const named = new WeakMap<FoundCommand, Word[]>();

/** Every word that may name a file: arguments, what is behind `=` or `@` in them, redirections; also as seen from the directory of `tar -C`. */
export function fileWords(command: FoundCommand): Word[] {
	let files = named.get(command);
	if (!files) {
		const dir = directoryOption(command.names, command);
		const args = command.args.filter((word) => word !== dir).flatMap(filesIn);
		const moved = dir
			? args.flatMap((word) => (/^[-/~]/.test(word.text) ? [] : [{ ...word, text: `${dir.text}/${word.text}`, glob: word.glob || dir.glob }]))
			: [];
		files = [...args, ...moved, ...command.reads, ...command.writes];
		named.set(command, files);
	}
	return files;
}

/** `--file=x`, `of=x`, `@x`, `f=@x`, `f=<x`: the word, and the file in it. */
function filesIn(word: Word): Word[] {
	const value = /^(?:--?[\w.-]+|[A-Za-z_][\w.-]*)=(.+)$/s.exec(word.text)?.[1];
	const file = /^[@<](.+)$/s.exec(value ?? word.text)?.[1];
	if (value === undefined) return file === undefined ? [word] : [{ ...word, text: file }];
	return [word, { ...word, text: (file ?? value).replace(/;(?:type|filename)=.*$/s, "") }];
}

/** Whether a pattern of a rule and a place that a pattern of the shell stands for (with SOME in it) may be the same. */
export function globsMeet(glob: string, place: string): boolean {
	const meet = ([first, ...rest]: readonly string[], parts: readonly string[]): boolean => {
		if (first === undefined) return parts.length === 0;
		if (first === "**") return meet(rest, parts) || (parts.length > 0 && meet([first, ...rest], parts.slice(1)));
		const [part] = parts;
		return part !== undefined && namesMeet(first, part) && meet(rest, parts.slice(1));
	};
	return meet(glob.split("/"), place.split("/"));
}

/** Their beginnings and ends must fit; what is between is not looked at. */
function namesMeet(glob: string, name: string): boolean {
	if (!name.includes(SOME)) return globMatches(glob, name);
	if (glob.startsWith(".") && name.startsWith(SOME)) return false;
	const begins = (one: string, other: string) => one.startsWith(other) || other.startsWith(one);
	const ends = (one: string, other: string) => one.endsWith(other) || other.endsWith(one);
	const [head = "", tail = ""] = [/^[^*?]*/.exec(glob)?.[0], /[^*?]*$/.exec(glob)?.[0]];
	const isPattern = /[*?]/.test(glob);
	const [start = "", end = ""] = [name.slice(0, name.indexOf(SOME)), name.slice(name.lastIndexOf(SOME) + 1)];
	return isPattern ? begins(head, start) && ends(tail, end) : mayBe(name, glob);
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
