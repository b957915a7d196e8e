/** Markdown of a model, before it becomes elements: hostile texts end, links lead where they may, and nothing invisible stays so. */
import { expect, it } from "vitest";
import { GrowingText, isAsWritten, lex } from "../../web/src/ui/lex.js";
import { decoded, oneLine, safeHref, shownCode, shownText } from "../../web/src/ui/text.js";

const many = (text: string, length = 90_000): string => text.repeat(Math.ceil(length / text.length));

const HOSTILE = [
	...["*a ", "**a", "[", "[a](", "`", "<", "<a ", "|a", "_a_", "http://a.b/", "a@", "&a;", " ", "\n", "\t", "```\n", "~~~a\n`", "#", "[a]: b\n"],
	...["<div>\n", "<!--", "\\", "~~a", "> ", "- ", "1. ", "a(", "![a", "a\n", "  - x\n", ">\n> ", "|-|\n", "<![CDATA["],
];

it("a text of nothing but one mark is parsed, or shown as it was written", () => {
	for (const mark of HOSTILE) expect([mark, lex(many(mark)).length > 0]).toEqual([mark, true]);
});

it("lists in lists, a hundred deep, do not end the page", () => {
	const text = Array.from({ length: 100 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n");
	expect(lex(text).every(isAsWritten)).toBe(true);
});

it("a table of thousands of columns is shown as it was written; a long one, and a list with many marks, are what they are", () => {
	expect(lex(`${many("|a", 30_000)}\n${many("|-", 30_000)}\n${many("|\n", 20_000)}`).every(isAsWritten)).toBe(true);
	expect(lex(`| a | b |\n|---|---|\n${many("| 1 | 2 |\n", 20_000)}`)[0]).toMatchObject({ type: "table" });
	expect(lex(many("1. `src/a_file.ts` has *one* [link](https://example.org)\n", 8_000))[0]).toMatchObject({ type: "list" });
});

it("a text that grows is parsed to the same as the whole, and blocks that are whole are not parsed again", () => {
	const text = "# One\n\nTwo *words*.\n\n- a\n- b\n\n```js\nlet a;\n\nlet b;\n```\n\n| a |\n|---|\n| 1 |\n\nThe end";
	const growing = new GrowingText();
	let last: readonly { raw: string }[] = [];
	for (let at = 1; at <= text.length; at++) last = growing.tokens(text.slice(0, at));
	expect(last.map(({ raw }) => raw).join("")).toBe(text);
	expect(last.map((token) => (token as unknown as { type: string }).type).filter((type) => type !== "space")).toEqual([
		...["heading", "paragraph", "list", "code", "table", "paragraph"],
	]);
	const before = growing.tokens(text);
	const after = growing.tokens(`${text} of it`);
	expect(after[0]).toBe(before[0]); // the same object: it was not made anew
	expect(growing.tokens("Another")).toMatchObject([{ type: "paragraph", raw: "Another" }]);
});

const LINKS: readonly (readonly [string, string | undefined])[] = [
	["https://example.org/a?b=c", "https://example.org/a?b=c"],
	["http://127.0.0.1:5173/", "http://127.0.0.1:5173/"],
	["mailto:me@example.org", "mailto:me@example.org"],
	["javascript:alert(1)", undefined],
	["JaVaScRiPt:alert(1)", undefined],
	["java\tscript:alert(1)", undefined],
	["java&#115;cript:alert(1)", undefined],
	["&#x6a;avascript:alert(1)", undefined],
	["data:text/html,<script>alert(1)</script>", undefined],
	["vbscript:x", undefined],
	["file:///etc/passwd", undefined],
	["//evil.example/", undefined],
	["/api/parts/agent/settings", undefined],
	["#/p/proc_1", undefined],
	["", undefined],
	["http://", undefined],
	["https://a b", undefined],
];

it("a link leads to a page or a mail program, or nowhere", () => {
	expect(LINKS.map(([href]) => [href, safeHref(href)])).toEqual(LINKS);
});

it("what no one can see is shown as what it is; what languages and pictures need stays", () => {
	expect(shownText("a\u0000b\u001b[31mc\u202ed\u{e0041}e\r\nf\tg")).toBe("a\\u0000b\\u001b[31mc\\u202ed\\u{e0041}e\nf\tg");
	expect(shownText("👨‍👩‍👧 می‌خواهم")).toBe("👨‍👩‍👧 می‌خواهم");
	expect(shownCode("rm\u200b -rf \u2066x")).toBe("rm\\u200b -rf \\u2066x");
	expect(oneLine("a\n\n  b\tc", 80)).toBe("a b c");
	expect(oneLine("😀".repeat(100), 10)).toBe(`${"😀".repeat(4)}…`);
	expect(decoded("a &lt;b&gt; &amp;amp; &unknown; &#39;")).toBe("a <b> &amp; &unknown; '");
});
