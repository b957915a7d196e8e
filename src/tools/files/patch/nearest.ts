/** Finds the lines most similar to a text that the file does not contain, so that the caller can correct the call. */
import { HoldfastError } from "../../../base/index.js";
import { hasMask } from "../mask.js";
import { likeness } from "../similar.js";
import { shownText } from "../text.js";

const LINES = 20_000; // compared at most
const SHOWN = 3;
const EACH = 6;
const CHARS = 200;

export function lineAt(text: string, at: number): number {
	let line = 1;
	for (let next = text.indexOf("\n"); next >= 0 && next < at; next = text.indexOf("\n", next + 1)) line++;
	return line;
}

export function nearest(text: string, old: string, fresh: string, file: string): HoldfastError {
	const head = `old_string is not in ${file}, also not with other whitespace; nothing was changed.`;
	if (hasMask(shownText(old)))
		return new HoldfastError(
			"INVALID",
			`${head} It contains "…[redacted]", which stands for a secret that you were not shown: take text around it instead, without the masked part`,
		);
	if (/^ *\d+\t/m.test(old))
		return new HoldfastError("INVALID", `${head} It seems to have the line numbers of read_file in it; leave out each number and the tab after it`);
	const already = fresh.trim() === "" ? -1 : text.indexOf(fresh);
	const there = already >= 0 ? ` new_string is there already, at line ${lineAt(text, already)}: perhaps this was done before.` : "";
	const lines = text.split("\n").slice(0, LINES);
	const wanted = old.split("\n").map((line) => line.trim());
	const first = wanted.findIndex((line) => line !== "");
	const scores = lines
		.map((line, at) => ({ at, score: likeness(line.trim().slice(0, 500), (wanted[first] ?? "").slice(0, 500)) }))
		.filter(({ score }) => score > 0.4)
		.sort((a, b) => b.score - a.score)
		.slice(0, SHOWN);
	if (scores.length === 0) return new HoldfastError("INVALID", `${head}${there} Nothing in it is like it; read it again with read_file`);
	const height = Math.min(EACH, wanted.length);
	const shown = scores.map(({ at }) =>
		lines
			.slice(Math.max(0, at - first), Math.max(0, at - first) + height)
			.map((line, below) => `${String(Math.max(0, at - first) + below + 1).padStart(6)}\t${shownText(line).slice(0, CHARS)}`)
			.join("\n"),
	);
	return new HoldfastError("INVALID", `${head}${there} The lines nearest to it are\n${shown.join("\n   ---\n")}\nTake old_string from there, exactly`);
}
