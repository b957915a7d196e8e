/** How wide text is on a terminal. */
import { expect, test } from "vitest";
import { columnsOf, fitted } from "../../src/base/columns.js";

test("wide characters and pictures take two columns, marks and joiners none", () => {
	const table: [string, number][] = [
		["plain", 5],
		["日本語", 6],
		["한글", 4],
		["ｆｕｌｌ", 8],
		["e\u0301te\u0301", 3],
		["🎉 done", 7],
		["a\u200db", 2],
		["𠀋", 2],
		["", 0],
	];
	expect(table.map(([text]) => columnsOf(text))).toEqual(table.map(([, columns]) => columns));
});

test("a text that is cut is never wider than its room, and no character is cut in two", () => {
	expect(fitted("日本語です", 7)).toBe("日本語…");
	expect(fitted("日本語です", 6)).toBe("日本…");
	expect(fitted("a🎉b", 3)).toBe("a…");
	expect(fitted("a🎉b", 4)).toBe("a🎉b");
	expect(fitted("plain text", 6)).toBe("plain…");
	for (let room = 1; room < 12; room++) expect(columnsOf(fitted("日a本🎉b語", room))).toBeLessThanOrEqual(room);
});
