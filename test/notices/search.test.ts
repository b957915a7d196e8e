import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { Redactor } from "../../src/base/secrets/index.js";
import { LineSearch } from "../../src/notices/search.js";
import { Log } from "../../src/process/log.js";
import { atEnd, tempDir } from "../support/home.js";

const START = { offset: 0, midline: false, missed: 0 };

/** A log that the test writes. */
function logOf(content: string): { dir: string; append: (text: string) => number } {
	const dir = tempDir("log");
	const file = path.join(dir, "out.000000000000000");
	const append = (text: string) => {
		fs.appendFileSync(file, text);
		return fs.statSync(file).size;
	};
	append(content);
	return { dir, append };
}

function searchOf(dir: string, patterns: string[], from = START): LineSearch {
	const search = new LineSearch({ log: new Log(dir), secrets: new Redactor() }, patterns, from);
	atEnd(() => search.close());
	return search;
}

const TEXT = "one ✓ hit\nnothing\r\nhit \x1b[1mtwo\x1b[0m\rhalf a h\nit\n\nhit three";

test.each([1, 2, 3, 7, 64])("lines are found alike when the log is read in pieces of %i bytes", async (size) => {
	const search = searchOf(logOf(TEXT).dir, ["hit", "one"]);
	const length = Buffer.byteLength(TEXT);
	for (let end = 0; end < length + size; end += size) await search.readOn(Math.min(end, length), false);
	expect(search.found).toEqual({ count: 2, lines: ["one ✓ hit", "hit two"], patterns: ["hit"], offset: 0 });
	expect(search.undecided).toBe(true); // the last line has no end
	await search.readOn(length, true);
	expect(search.found.lines).toEqual(["one ✓ hit", "hit two", "hit three"]);
	expect(search.position).toEqual({ offset: length, midline: true, missed: 0 });
});

test.each([1, 5, 64])("a search that is stopped and goes on from its position finds each line once, in pieces of %i bytes", async (size) => {
	const { dir } = logOf(TEXT);
	const length = Buffer.byteLength(TEXT);
	const lines: string[] = [];
	let from = START;
	for (let end = 0; end < length + size; end += size) {
		const search = new LineSearch({ log: new Log(dir), secrets: new Redactor() }, ["hit"], from);
		await search.readOn(Math.min(end, length), end >= length);
		lines.push(...search.found.lines);
		from = search.position;
		search.close();
	}
	expect(lines).toEqual(["one ✓ hit", "hit two", "hit three"]);
});

test("a match that comes in two halves, at the end of a line longer than is kept, is found, and its line only once", async () => {
	const { dir, append } = logOf(`${"c".repeat(100_000)}NEE`);
	const search = searchOf(dir, ["NEEDLE"]);
	await search.readOn(100_003, false);
	expect(search.found.count).toBe(0);
	await search.readOn(append(`DLE${"d".repeat(100_000)}`), false);
	await search.readOn(append("NEEDLE again\nNEEDLE\n"), false);
	expect(search.found).toMatchObject({ count: 2, lines: [expect.stringMatching(/^…c+NEEDLEd+…$/), "NEEDLE"] });
});

test("a line that was reported before it ended is not reported again, also by the next search", async () => {
	const { dir, append } = logOf("hit?");
	const search = searchOf(dir, ["hit"]);
	await search.readOn(4, true);
	expect(search.found.count).toBe(1);
	const end = append(" hit\nmiss\n");
	const next = searchOf(dir, ["hit"], search.position);
	await next.readOn(end, true);
	expect(next.found.count).toBe(0);
});

test("of two patterns in a line the first that was given is named", async () => {
	const search = searchOf(logOf("b and a\nb\n").dir, ["a", "b"]);
	await search.readOn(10, false);
	expect(search.found).toMatchObject({ count: 2, patterns: ["a", "b"] });
});
