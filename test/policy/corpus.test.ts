import { beforeAll, expect, test } from "vitest";
import { concerns } from "../../src/policy/decide.js";
import { DEFAULTS, FLOOR } from "../../src/policy/defaults.js";
import { decide, loadParser } from "../../src/policy/index.js";
import { type Entry, project, readCorpus, SOMEONE } from "./corpus.js";

beforeAll(loadParser);

const judged = (entries: readonly Entry[], cwd: string) => entries.map((entry) => ({ ...entry, got: decide(entry.command, { cwd, env: SOMEONE }) }));
const shown = ({ line, command, got }: ReturnType<typeof judged>[number]) => `corpus.txt:${line} ${got.decision} by ${got.rule}: ${command}`;

test("nothing dangerous in the corpus is missed, and the floor holds", () => {
	const dangerous = readCorpus().filter(({ decision }) => decision !== "allow");
	expect(dangerous.length).toBeGreaterThan(300);
	expect(
		judged(dangerous, project())
			.filter(({ decision, got }) => decision !== got.decision)
			.map(shown),
	).toEqual([]);
});

test("a week of development passes without a question", () => {
	const everyday = readCorpus().filter(({ decision }) => decision === "allow");
	expect(everyday.length).toBeGreaterThan(250);
	expect(
		judged(everyday, project())
			.filter(({ got }) => got.decision !== "allow")
			.map(shown),
	).toEqual([]);
});

test("every part that is named is in the command, byte for byte", () => {
	const cwd = project();
	for (const { command, line } of readCorpus()) {
		const bytes = Buffer.from(command);
		for (const { start, end, text } of decide(command, { cwd, env: SOMEONE }).parts)
			expect({ line, text: bytes.subarray(start, end).toString() }).toEqual({ line, text });
	}
});

test.each([...FLOOR, ...DEFAULTS])("rule $id does what its examples say", (rule) => {
	const cwd = project();
	expect(rule.examples.match.filter((example) => !concerns(rule, example, { cwd, env: SOMEONE }))).toEqual([]);
	expect(rule.examples.not.filter((example) => concerns(rule, example, { cwd, env: SOMEONE }))).toEqual([]);
});
