import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { type CorpusEntry, readCorpora } from "./corpora.js";

const attacks = readCorpora("attacks");
const everyday = readCorpora("everyday");
const files = new Map<string, CorpusEntry[]>();
for (const entry of [...attacks, ...everyday]) files.set(entry.file, [...(files.get(entry.file) ?? []), entry]);

describe("the corpora of commands", () => {
	test("are as large as they are meant to be", () => {
		expect(attacks.length).toBeGreaterThanOrEqual(600);
		expect(files.get("everyday/agent.txt")?.length).toBeGreaterThanOrEqual(350);
		expect(files.get("everyday/oneliners.txt")?.length).toBeGreaterThanOrEqual(600);
	});

	test("hold no empty command and none twice, neither in one corpus nor in both", () => {
		const first = new Map<string, CorpusEntry>();
		const wrong: string[] = [];
		for (const entry of [...attacks, ...everyday]) {
			const command = entry.command.trim();
			const earlier = first.get(command);
			if (command === "") wrong.push(`${at(entry)} is empty`);
			else if (earlier) wrong.push(`${at(entry)} repeats ${at(earlier)}`);
			else first.set(command, entry);
		}
		expect(wrong).toEqual([]);
	});

	test.each([...files])("%s is valid bash throughout", (_file, entries) => {
		if (complaints(entries) === "") return; // one shell for a whole file; one for each entry only to name the wrong ones
		expect(entries.filter((entry) => complaints([entry]) !== "").map(at)).toEqual([]);
		expect(complaints(entries)).toBe("");
	});
});

function at({ file, line }: CorpusEntry): string {
	return `${file}:${line}`;
}

/** Parses the entries, each a group of its own so that none can complete another, and runs none of them. */
function complaints(entries: CorpusEntry[]): string {
	const script = entries.map(({ command }) => `{\n${command}\n}\n`).join("");
	return spawnSync("bash", ["-n", "-O", "extglob"], { input: script, encoding: "utf8", env: { LC_ALL: "C" } }).stderr;
}
