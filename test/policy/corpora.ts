import fs from "node:fs";
import path from "node:path";

export interface CorpusEntry {
	file: string;
	/** Line of the file on which the command begins, counted from 1. */
	line: number;
	command: string;
}

/**
 * Reads the `.txt` files of a folder beside this module. Entries are separated by lines that are exactly `---`; lines before the first entry that begin
 * with `#! ` describe the family.
 */
export function readCorpora(folder: string): CorpusEntry[] {
	const directory = path.join(import.meta.dirname, folder);
	const names = fs.readdirSync(directory).filter((name) => name.endsWith(".txt"));
	return names.sort().flatMap((name) => entriesOf(`${folder}/${name}`, fs.readFileSync(path.join(directory, name), "utf8")));
}

function entriesOf(file: string, text: string): CorpusEntry[] {
	const lines = text.replace(/\n$/, "").split("\n");
	let start = 0;
	while (lines[start]?.startsWith("#! ")) start++;
	const entries: CorpusEntry[] = [];
	for (let end = start; end <= lines.length; end++) {
		if (end < lines.length && lines[end] !== "---") continue;
		entries.push({ file, line: start + 1, command: lines.slice(start, end).join("\n") });
		start = end + 1;
	}
	return entries;
}
