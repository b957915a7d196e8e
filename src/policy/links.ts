/** Links that a command would make, by which a later one of the same text reaches what it does not name. */
import fs from "node:fs";
import path from "node:path";
import { hasFlag, is } from "./flags.js";
import type { FoundCommand, SymbolicLink } from "./found.js";
import { placesOf } from "./paths.js";
import type { World } from "./scope.js";
import { UNKNOWN, type Word, word } from "./word.js";

export function linksOf(command: FoundCommand, world: World): SymbolicLink[] {
	const bound = is(command, "mount") && hasFlag(command, "-B|-R|--bind|--rbind");
	if (!(is(command, "ln", "link") || (is(command, "cp") && hasFlag(command, "-s|-l|--symbolic-link|--link")) || bound) || command.remote) return [];
	const { into, words } = split(command);
	const [last] = into ? [into] : words.slice(-1);
	if (!last) return [];
	const sources = into || words.length === 1 ? words : words.slice(0, -1);
	// The target of a symbolic link is seen from where the link is.
	const symbolic = hasFlag(command, "-s|--symbolic") || hasFlag(command, "--symbolic-link") || is(command, "cp");
	const make = (source: Word, name: string): SymbolicLink[] =>
		placesOf(word(path.dirname(name)), command, world).flatMap((dir) => {
			if (dir === null) return [];
			const targets = source.text.includes(UNKNOWN) ? [null] : placesOf(source, symbolic ? { ...command, cwds: [dir] } : command, world);
			return targets.map((to) => ({ at: path.join(dir, path.basename(name)), to }));
		});
	const inside = (source: Word): SymbolicLink[] => {
		const base = path.basename(source.text);
		return /^\.{0,2}$/.test(base) ? [] : make(source, path.join(last.text, base));
	};
	if (words.length === 1 && !into) return is(command, "ln") ? make(last, path.basename(last.text)) : [];
	// Its last word is a name for the link, or a directory to make it in, which the same text may have to make first.
	const alone = !into && sources.length === 1 && !isDirectory(last, command, world);
	return sources.flatMap((source) => [...(alone || bound ? make(source, last.text) : []), ...(bound ? [] : inside(source))]);
}

function split({ args }: FoundCommand): { into: Word | undefined; words: Word[] } {
	let into: Word | undefined;
	const words: Word[] = [];
	for (const [at, one] of args.entries()) {
		const before = args[at - 1]?.text ?? "";
		if (/^(?:-[a-zA-Z]*t|--target-directory)$/.test(before)) into = one;
		else if (/^--target-directory=/.test(one.text)) into = { ...one, text: one.text.slice("--target-directory=".length) };
		else if (!one.text.startsWith("-") && !/^(?:-[a-zA-Z]*S|--suffix|-o|--options)$/.test(before)) words.push(one);
	}
	return { into, words };
}

function isDirectory(one: Word, command: FoundCommand, world: World): boolean {
	if (hasFlag(command, "-n|-T|--no-dereference|--no-target-directory")) return false;
	if (!world.local) return false;
	return placesOf(one, command, world).some((place) => place !== null && world.looks.at(fs.existsSync, `${place}/.`)); // never throws
}
