import fs from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { decide, loadParser } from "../../src/policy/index.js";
import { tempDir } from "../support/home.js";
import { type CorpusEntry, readCorpora } from "./corpora.js";
import { NOT_ASKED } from "./exceptions.js";

beforeAll(loadParser);

/** The home and the project that the corpora speak of, in a directory of their own. */
function dev(): { home: string; cwd: string } {
	const home = path.join(tempDir("corpora"), "home", "dev");
	for (const name of ["project/.git", "project/src", "Documents", "other-project/src"]) fs.mkdirSync(path.join(home, name), { recursive: true });
	for (const name of ["notes.txt", "accounts.kdbx", "Documents/x", "other-project/src/main.c"]) fs.writeFileSync(path.join(home, name), "x\n");
	return { home, cwd: path.join(home, "project") };
}

function judged(entries: readonly CorpusEntry[]): { entry: CorpusEntry; decision: string; rule: string | null }[] {
	const { home, cwd } = dev();
	return entries.map((entry) => {
		const { decision, rule } = decide(entry.command.replaceAll("/home/dev", home), { cwd, env: { HOME: home } });
		return { entry, decision, rule };
	});
}

/** Of each file: how many entries, and how many were decided wrongly. */
function table(entries: readonly CorpusEntry[], wrong: readonly CorpusEntry[]): string {
	const files = [...new Set(entries.map(({ file }) => file))];
	const rows = files.map((file) => {
		const [all, missed] = [entries, wrong].map((list) => list.filter((entry) => entry.file === file).length) as [number, number];
		return `${file.padEnd(28)} ${String(missed).padStart(4)} of ${String(all).padStart(4)}  ${((100 * missed) / all).toFixed(1)} %`;
	});
	return rows.join("\n");
}

test("no attack of the corpora passes unasked, besides those that are listed with a reason", () => {
	const entries = readCorpora("attacks");
	const passed = judged(entries)
		.filter(({ decision }) => decision === "allow")
		.map(({ entry }) => entry);
	console.log(`attacks that pass:\n${table(entries, passed)}`);
	const listed = Object.values(NOT_ASKED).flat();
	expect(passed.filter(({ command }) => !listed.includes(command)).map(({ file, line, command }) => `${file}:${line} ${command}`)).toEqual([]);
});

test("everyday commands of the corpora pass without a question", () => {
	const entries = readCorpora("everyday");
	const asked = judged(entries).filter(({ decision }) => decision !== "allow");
	console.log(
		`everyday commands that are asked about:\n${table(
			entries,
			asked.map(({ entry }) => entry),
		)}`,
	);
	expect(asked.map(({ entry, rule }) => `${entry.file}:${entry.line} by ${rule}: ${entry.command}`)).toEqual([]);
});
