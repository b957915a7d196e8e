import { expect, test } from "vitest";
import { maskedDiff } from "../../src/doors/setup/diff.js";

const lines = (...numbers: (number | string)[]) => numbers.map((number) => `${number}\n`).join("");
const upTo = (end: number) => Array.from({ length: end }, (_, at) => at + 1);

test("changed lines are shown with three lines around them, and where they are", () => {
	const before = lines(...upTo(20));
	const after = lines(1, "new", ...upTo(20).slice(1, 14), "fifteen", ...upTo(20).slice(15));
	expect(maskedDiff(before, after, new Set())).toEqual([
		"@@ -1,4 +1,5 @@",
		...[" 1", "+new", " 2", " 3", " 4"],
		"@@ -12,7 +13,7 @@",
		...[" 12", " 13", " 14", "-15", "+fifteen", " 16", " 17", " 18"],
	]);
	expect(maskedDiff("", "a\n", new Set())).toEqual(["@@ -0,0 +1,1 @@", "+a"]);
	expect(maskedDiff("a\n", "", new Set())).toEqual(["@@ -1,1 +0,0 @@", "-a"]);
	expect(maskedDiff(before, before, new Set())).toEqual([]);
});

test("texts that have nothing in common, and are long, are shown one after the other", () => {
	const shown = maskedDiff(lines(...upTo(2000)), lines(...upTo(2000).map((number) => `x${number}`)), new Set());
	expect([shown.length, shown[1], shown[2001]]).toEqual([4001, "-1", "+x1"]);
});

test("values that are not ours do not show, keys and tables do", () => {
	const after = ['"env": { "TOKEN": "s1", "n": 5 }, // it\'s', '["s2", "mine"]', "a = 's3' # c", '"b c" = "s4"', '[servers."d e"]', 'e = ["s\\"5"]'].join("\n");
	expect(maskedDiff("", after, new Set(["mine"])).slice(1)).toEqual([
		'+"env": { "TOKEN": "…", "n": 5 }, // it\'s',
		'+["…", "mine"]',
		"+a = '…' # c",
		'+"b c" = "…"',
		'+[servers."d e"]',
		'+e = ["…"]',
	]);
});

test("nothing in a file reaches the terminal as a control sequence, and a long line shows the part that matters", () => {
	expect(maskedDiff("", "# \u001b]0;x\u0007\tz", new Set()).at(-1)).toBe("+# \ufffd]0;x\ufffd\tz");
	const line = `{${'"a":1,'.repeat(1000)}"holdfast": {}${',"b":2'.repeat(1000)}}`;
	const shown = maskedDiff("", line, new Set()).at(-1) as string;
	expect(shown).toMatch(/^\+….*"holdfast": \{\}.*…$/);
	expect(shown.length).toBeLessThan(310);
});
