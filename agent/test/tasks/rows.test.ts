import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { type LoadOptions, loadTasks } from "../../src/tasks/index.js";
import { folder } from "./support.js";

function load(text: string | Uint8Array, options?: LoadOptions) {
	const file = path.join(folder(), "rows.jsonl");
	fs.writeFileSync(file, text);
	return loadTasks(file, options);
}
const SWE = { instance_id: "a__b-1", repo: "a/b", image: "swe:1", base_commit: "c0ffee", problem_statement: "It fails.", FAIL_TO_PASS: '["t1", "t2"]' };

it("prompts keep their order; the same prompt twice is two items with one digest", () => {
	const { items } = load(
		'{"prompt":"x","image":"debian:12"}\r\n\n{"prompt":"x","image":"debian:12"}\n{"prompt":"y","id":"mine","toolsets":["terminal"]}\n{"prompt":"z","id":"mine"}\n',
	);
	expect(items.map(({ key }) => key)).toEqual(["1", "3", "mine", "mine~2"]);
	expect(items[0]?.digest).toBe(items[1]?.digest);
});

it("a row that cannot be used is named by its line and column; the others are there", () => {
	const { items, problems } = load('{"prompt":"x"}\n{"prompt":\n[]\n{"prompt":""}\n{"text":"y"}\n');
	expect(items).toHaveLength(1);
	expect(problems.map(({ at, key, text }) => `${at.split(":").at(-1)} ${key ?? ""} ${text.split(":")[0]}`)).toEqual([
		"2  is no JSON",
		"3  is no object",
		"4 prompt cannot be used",
		"5 prompt cannot be used",
	]);
});

it("a toolset that there is not is named by its line, and a column that there is not once", () => {
	const { items, problems, warnings } = load(
		'{"prompt":"x","toolsets":["terminal"],"imge":"debian"}\n{"prompt":"x","toolsets":["termnal"],"imge":"debian"}\n{"prompt":"x","toolsets":[]}\n',
		{ toolsets: new Set(["terminal", "file"]) },
	);
	expect(items).toHaveLength(1);
	const said = [...problems, ...warnings].map(({ at, key, text }) => `${at.split(":").at(-1)} ${key} ${text}`);
	expect(said).toEqual([
		'2 toolsets cannot be used: there is no toolset "termnal"; there are terminal, file',
		expect.stringMatching(/^3 toolsets cannot be used: /),
		"1 imge is not a column of prompts; it is ignored",
	]);
});

it("a name that a terminal would act on is no name", () => {
	const { items, problems } = load(
		["\u001b[31mred", "two\nlines", "\u202eback", "caf\u00e9 \u{1f600} a/b"].map((id) => `${JSON.stringify({ prompt: "x", id })}\n`).join(""),
	);
	expect(items.map(({ key }) => key)).toEqual(["caf\u00e9 \u{1f600} a/b"]);
	expect(problems.map(({ at, key }) => `${at.split(":").at(-1)} ${key}`)).toEqual(["1 id", "2 id", "3 id"]);
});

it("bytes that are not UTF-8 are said", () => {
	expect(load(Buffer.from([0x7b, 0xff, 0x7d, 0x0a])).problems[0]?.text).toBe("is not UTF-8");
});

it("SWE-bench rows have names of tests from lists and from JSON in text", () => {
	const { items, problems } = load(
		[SWE, { ...SWE, instance_id: "c", FAIL_TO_PASS: ["t3"] }, { ...SWE, FAIL_TO_PASS: "t1" }, { ...SWE, instance_id: "../x" }]
			.map((row) => JSON.stringify(row))
			.join("\n"),
	);
	expect(items.map((item) => item.kind === "swe" && item.row.FAIL_TO_PASS)).toEqual([["t1", "t2"], ["t3"]]);
	expect(problems.map(({ at, key }) => `${at.split(":").at(-1)} ${key}`)).toEqual(["3 FAIL_TO_PASS", "4 instance_id"]);
});
