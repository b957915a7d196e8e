/** Completes words on Tab: names of commands after `/`, their words, and paths. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

export interface Completion {
	/** The start of the completed word in the text. */
	readonly from: number;
	/** Whole words, in order. */
	readonly options: readonly string[];
}

export interface CompletionSources {
	readonly commands: readonly string[];
	/** Words that may follow a command; undefined: none are known. */
	words(command: string): readonly string[] | undefined;
	/** The directory of relative paths; undefined: the place is not this machine. */
	readonly directory: string | undefined;
}

const MOST = 200;

export function complete(before: string, sources: CompletionSources): Completion | undefined {
	const command = /^\/(\S*)$/.exec(before);
	if (command) return options(1, command[1] as string, sources.commands);
	const [, name, word] = /^\/(\S+)\s+(\S*)$/.exec(before) ?? [];
	const words = name === undefined ? undefined : sources.words(name);
	if (word !== undefined && words) return options(before.length - word.length, word, words);
	const last = /(?:[^\s\\]|\\.)*$/.exec(before)?.[0] ?? "";
	const isPath = before.startsWith("!") || /^(?:~?\/|\.{1,2}\/)|.\//.test(last);
	const bare = last.replace(/^!+/, "");
	if (!isPath || sources.directory === undefined || bare === "") return undefined;
	return paths(before.length - bare.length, bare, sources.directory);
}

function options(from: number, word: string, known: readonly string[]): Completion | undefined {
	const found = known.filter((one) => one.startsWith(word));
	return found.length > 0 ? { from, options: found } : undefined;
}

function paths(from: number, word: string, directory: string): Completion | undefined {
	const plain = word.replace(/\\(.)/g, "$1");
	const at = plain.lastIndexOf("/") + 1;
	const [dir, start] = [plain.slice(0, at), plain.slice(at)];
	const real = path.resolve(directory, dir.replace(/^~(?=\/)/, os.homedir()));
	let entries: fs.Dirent[];
	try {
		entries = fs.readdirSync(real, { withFileTypes: true });
	} catch {
		return undefined; // no such directory
	}
	const found = entries
		.filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")) && !/[\u0000-\u001f\u007f]/.test(name))
		.slice(0, MOST)
		.map((entry) => `${dir}${entry.name}`.replace(/[\s\\'"$&();<>|*?[\]`#!]/g, "\\$&") + (isDirectory(entry, real) ? "/" : ""))
		.sort();
	return found.length > 0 ? { from, options: found } : undefined;
}

function isDirectory(entry: fs.Dirent, dir: string): boolean {
	if (!entry.isSymbolicLink()) return entry.isDirectory();
	try {
		return fs.statSync(path.join(dir, entry.name)).isDirectory();
	} catch {
		return false; // a link that leads nowhere, or round in a circle
	}
}

export function commonStart(words: readonly string[]): string {
	return words.reduce((start, word) => {
		let same = 0;
		while (same < start.length && start[same] === word[same]) same++;
		return start.slice(0, same);
	});
}
