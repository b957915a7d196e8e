/** Parses a unified diff leniently: models get line numbers wrong, and omit the space before an empty line. */
import { HoldfastError } from "../../../base/index.js";

export interface Hunk {
	/** The first line in the old file according to the hunk header; 0 if it has none. */
	readonly at: number;
	readonly lines: readonly { readonly sign: " " | "-" | "+"; readonly text: string }[];
	/** True if the old or the new side ends without a newline. */
	readonly bare: { readonly old: boolean; readonly fresh: boolean };
}

export interface FileDiff {
	/** null: no old or no new file. Undefined: the diff does not say. */
	readonly from: string | null | undefined;
	readonly to: string | null | undefined;
	readonly hunks: readonly Hunk[];
}

export function parseDiff(diff: string): FileDiff[] {
	const files: { from: string | null | undefined; to: string | null | undefined; hunks: Hunk[] }[] = [];
	const lines = diff.replaceAll("\r\n", "\n").split("\n");
	if (lines.at(-1) === "") lines.pop();
	let current: (typeof files)[number] | undefined;
	const open = () => {
		current = { from: undefined, to: undefined, hunks: [] };
		files.push(current);
		return current;
	};
	for (let at = 0; at < lines.length; ) {
		const line = lines[at] as string;
		if (/^(?:GIT binary patch|Binary files )/.test(line)) throw bad("it has changes of binary files in it, which only git can apply");
		if (/^(?:rename|copy) (?:from|to) /.test(line))
			throw bad("it renames or copies a file; do that with a command (git mv, cp) and send a diff of what else changes");
		if (line.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ")) {
			const file = open();
			file.from = nameIn(line.slice(4));
			file.to = nameIn((lines[at + 1] as string).slice(4));
			stripPrefixes(file);
			at += 2;
		} else if (line.startsWith("@@")) {
			const { hunk, next } = parseHunk(lines, at);
			(current ?? open()).hunks.push(hunk);
			at = next;
		} else if (line.startsWith("diff --git ")) {
			current = undefined;
			at++;
		} else at++;
	}
	const found = files.filter(({ hunks, from, to }) => hunks.length > 0 || from === null || to === null);
	if (found.length === 0) throw bad('there is no hunk in it; each begins with a line such as "@@ -1,3 +1,4 @@"');
	return found;
}

function nameIn(text: string): string | null {
	const name = text
		.replace(/\t.*$/, "")
		.trim()
		.replace(/^"(.*)"$/, "$1");
	return name === "/dev/null" ? null : name;
}

/** Strips git's `a/` and `b/`. */
function stripPrefixes(file: { from: string | null | undefined; to: string | null | undefined }): void {
	const { from, to } = file;
	if ((from === null || from?.startsWith("a/")) && (to === null || to?.startsWith("b/"))) {
		file.from = from === null ? null : from?.slice(2);
		file.to = to === null ? null : to?.slice(2);
	}
}

function parseHunk(lines: readonly string[], start: number): { hunk: Hunk; next: number } {
	const head = /^@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[start] as string);
	const found: Hunk["lines"][number][] = [];
	const bare = { old: false, fresh: false };
	// Takes as many lines as the header says, and following lines that can only belong to the hunk.
	let [old, fresh] = head ? [Number(head[2] ?? 1), Number(head[4] ?? 1)] : [0, 0];
	let next = start + 1;
	for (; next < lines.length; next++) {
		const line = lines[next] as string;
		if (line.startsWith("\\")) {
			const last = found.at(-1)?.sign;
			if (last !== "+") bare.old = true;
			if (last !== "-") bare.fresh = true;
			continue;
		}
		const complete = old <= 0 && fresh <= 0;
		if (line.startsWith("@@") || line.startsWith("diff --git ")) break;
		if (line.startsWith("--- ") && lines[next + 1]?.startsWith("+++ ") && (complete || lines[next + 2]?.startsWith("@@"))) break;
		const sign = line === "" ? " " : line[0];
		if (sign !== " " && sign !== "-" && sign !== "+") {
			if (complete) break;
			throw bad(`line ${next + 1} of it begins with neither a space, - nor +: ${line.slice(0, 80)}`);
		}
		if (line === "" && complete) break;
		if (sign !== "+") old--;
		if (sign !== "-") fresh--;
		found.push({ sign, text: line.slice(1) });
	}
	if (found.every(({ sign }) => sign === " ")) throw bad(`the hunk at line ${start + 1} of it changes nothing`);
	return { hunk: { at: Number(head?.[1] ?? 0), lines: found, bare }, next };
}

const bad = (why: string): HoldfastError => new HoldfastError("INVALID", `the diff cannot be used: ${why}; nothing was changed`);
