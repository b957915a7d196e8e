/** A conversation as far as it can be read: for exports, which keep what a damaged file still has and say what is wrong with the rest. */
import fs from "node:fs";
import { errno } from "../base/index.js";
import type { Entry } from "./entry.js";
import { asEntry } from "./entry-schema.js";
import { Sequence } from "./sequence.js";

export interface ReadableLog {
	readonly entries: readonly Entry[];
	/** Why there is no more; undefined: it is whole. */
	readonly problem?: string;
}

/** Never throws for what is in the file. A torn last line is left out without a word, as everywhere. */
export function readableLog(file: string): ReadableLog {
	let text: string;
	try {
		text = fs.readFileSync(file, "utf8");
	} catch (error) {
		return { entries: [], problem: errno(error) === "ENOENT" ? "its conversation is missing" : `its conversation cannot be read (${errno(error)})` };
	}
	const entries: Entry[] = [];
	const rules = new Sequence();
	const lines = text.split("\n");
	for (const [at, line] of lines.slice(0, -1).entries()) {
		const entry = entryIn(line);
		const problem = typeof entry === "string" ? entry : rules.check(entry);
		if (typeof entry === "string" || problem !== undefined) return { entries, problem: `line ${at + 1} of its conversation is damaged: ${problem}` };
		rules.advance(entry);
		entries.push(entry);
	}
	return { entries };
}

function entryIn(line: string): Entry | string {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null ? asEntry(value) : "is no object";
	} catch {
		return "is no JSON";
	}
}
