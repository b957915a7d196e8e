/** Changes of a configuration file, as `diff -u` shows them, without possible secrets of other programs. */
import { diffLines } from "../../base/index.js";

const MAX_WIDTH = 300;

/** `visible`: strings that may be seen; all others show as "…". */
export const maskedDiff = (before: string, after: string, visible: ReadonlySet<string>): string[] => diffLines(before, after, (line) => mask(line, visible));

const STRINGS = /"(?:[^"\\]|\\.)*"|(?<=[=[,]\s*)'[^']*'/g;
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;

function mask(line: string, visible: ReadonlySet<string>): string {
	const header = /^\s*\[[^,=]*\]\s*$/.test(line); // of a TOML table
	const masked = line.replace(STRINGS, (string, at: number) =>
		header || /^\s*[:=]/.test(line.slice(at + string.length)) || visible.has(plain(string)) ? string : `${string[0]}…${string[0]}`,
	);
	return clip(masked.replace(CONTROLS, "\ufffd"));
}

/** A file may be one line: then the part that matters. */
function clip(line: string): string {
	if (line.length <= MAX_WIDTH) return line;
	const start = Math.max(0, line.indexOf('"holdfast"') - 40);
	return `${start > 0 ? "…" : ""}${line.slice(start, start + MAX_WIDTH)}${start + MAX_WIDTH < line.length ? "…" : ""}`;
}

function plain(string: string): string {
	try {
		return string.startsWith('"') ? (JSON.parse(string) as string) : string.slice(1, -1);
	} catch {
		return string; // an escape that only TOML knows
	}
}
