import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Look, MarkdownStream, renderMarkdown, width } from "../../src/chat/index.js";
import { settledLength } from "../../src/chat/render/settled.js";
import { wrapLaidOut } from "../../src/chat/render/wrap.js";

const plain = (columns = 80): Look => ({ columns, colour: false });
const stream = (look: Look) => new MarkdownStream(() => look);
const inPieces = (pieces: readonly string[], look: Look): string[] => {
	const markdown = stream(look);
	return [...pieces.flatMap((piece) => markdown.push(piece)), ...markdown.end()];
};

const SAMPLE = `# Title with \`code\`

A paragraph with **bold**, *italic*, ~~gone~~ and [a link](https://example.org/x_y_z).
Its second line, with snake_case_names and 2 * 3 = 6.

- one
- two with a rather long text that has to be broken at forty columns
  - nested
    1. deeper
- [x] done

1. first

2. second, loose

| name | size | what it is |
|:-----|-----:|:----------:|
| a.ts | 12 | the first file of the room |
| bb.ts | 1,200 | 漢字 and 🙂 |

> quoted **text**
> over two lines

\`\`\`ts
const x = 1;

if (x) {
	run();
}
\`\`\`

---

Last words &amp; <b>tags</b>.`;

describe("markdown", () => {
	it("is readable without colour: marks that carry meaning stay", () => {
		expect(renderMarkdown(SAMPLE, plain()).join("\n")).toMatchInlineSnapshot(`
			"# Title with \`code\`

			A paragraph with **bold**, *italic*, ~~gone~~ and a link
			(https://example.org/x_y_z).
			Its second line, with snake_case_names and 2 * 3 = 6.

			• one
			• two with a rather long text that has to be broken at forty columns
			  • nested
			    1. deeper
			• [x] done

			1. first

			2. second, loose

			name  │  size │         what it is
			──────┼───────┼───────────────────────────
			a.ts  │    12 │ the first file of the room
			bb.ts │ 1,200 │        漢字 and 🙂

			> quoted **text**
			> over two lines

			\`\`\`ts
			const x = 1;

			if (x) {
			    run();
			}
			\`\`\`

			────────────────────────────────────────

			Last words & <b>tags</b>."
		`);
	});

	it("breaks prose and tables at 40 columns, and code not at all", () => {
		const lines = renderMarkdown(`${SAMPLE}\n\n\`\`\`\n${"x".repeat(90)}\n\`\`\`\n`, plain(40));
		expect(lines.filter((line) => width(line) > 40)).toEqual(["x".repeat(90)]);
		expect(lines.join("\n")).toMatchInlineSnapshot(`
			"# Title with \`code\`

			A paragraph with **bold**, *italic*,
			~~gone~~ and a link
			(https://example.org/x_y_z).
			Its second line, with snake_case_names
			and 2 * 3 = 6.

			• one
			• two with a rather long text that has
			  to be broken at forty columns
			  • nested
			    1. deeper
			• [x] done

			1. first

			2. second, loose

			name  │  size │        what it is
			──────┼───────┼─────────────────────────
			a.ts  │    12 │  the first file of the
			      │       │           room
			bb.ts │ 1,200 │       漢字 and 🙂

			> quoted **text**
			> over two lines

			\`\`\`ts
			const x = 1;

			if (x) {
			    run();
			}
			\`\`\`

			────────────────────────────────────────

			Last words & <b>tags</b>.

			\`\`\`
			xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
			\`\`\`"
		`);
	});

	it("keeps prose below 100 columns on a terminal of 200, and gives a table the room it needs", () => {
		const text = `${"word ".repeat(60)}\n\n| a | b |\n|---|---|\n| ${"x".repeat(90)} | ${"y".repeat(90)} |`;
		const lines = renderMarkdown(text, plain(200));
		expect(lines.map(width)).toEqual([99, 99, 99, 0, 94, 183, 183].map((size, at) => (at === 4 ? 94 : size)));
	});

	it("makes a list of a table that has no room for its columns", () => {
		const text = "| one | two | three | four |\n|---|---|---|---|\n| the first cell | the second cell | the third cell | the fourth cell |\n| 1 | 2 | 3 | 4 |";
		expect(renderMarkdown(text, plain(24))).toEqual([
			...["one: the first cell", "two: the second cell", "three: the third cell", "four: the fourth cell", ""],
			...["one: 1", "two: 2", "three: 3", "four: 4"],
		]);
	});

	it("uses colours and indents instead of marks on a terminal that has them", () => {
		const lines = renderMarkdown("## Head\n\n**bold** `code` [x](http://y)\n\n```js\nlet a;\n```", { columns: 80, colour: true });
		expect(lines).toEqual([
			"\u001b[1mHead\u001b[22m",
			"",
			"\u001b[1mbold\u001b[22m \u001b[36mcode\u001b[39m \u001b[4mx\u001b[24m\u001b[2m (http://y)\u001b[22m",
			"",
			"  \u001b[36mlet a;\u001b[39m",
		]);
	});
});

describe("a stream of markdown", () => {
	it("gives out the same lines wherever its pieces end", () => {
		const pieces = fc.array(fc.nat(SAMPLE.length), { maxLength: 30 }).map((cuts) => {
			const at = [0, ...cuts.sort((a, b) => a - b), SAMPLE.length];
			return at.slice(1).map((end, index) => SAMPLE.slice(at[index], end));
		});
		const whole = renderMarkdown(SAMPLE, plain(60));
		fc.assert(
			fc.property(pieces, (parts) => {
				expect(inPieces(parts, plain(60))).toEqual(whole);
			}),
		);
		expect(inPieces([...SAMPLE], plain(60))).toEqual(whole);
	});

	it("loses no word of a text made of marks, in pieces of any size", () => {
		const mark = fc.constantFrom(
			"word",
			"two",
			" ",
			"\n",
			"\n\n",
			"*",
			"**",
			"`",
			"```\n",
			"- ",
			"1. ",
			"# ",
			"[",
			"](",
			")",
			"|",
			"> ",
			"    ",
			"_",
			"~~",
			"<",
			"\\",
			"---\n",
		);
		const text = fc.array(mark, { maxLength: 60 }).map((parts) => parts.join(""));
		const words = (lines: readonly string[]) => (lines.join("\n").match(/word|two/g) ?? []).length;
		fc.assert(
			fc.property(text, fc.nat(10), (source, size) => {
				const pieces = source.match(new RegExp(`[^]{1,${size + 1}}`, "g")) ?? [];
				const lines = inPieces(pieces, plain(30));
				expect(lines).toEqual(renderMarkdown(source, plain(30)));
				expect(words(lines)).toBeGreaterThanOrEqual((source.match(/word|two/g) ?? []).length);
			}),
			{ numRuns: 500 },
		);
	});

	it("shows a long paragraph line by line, and holds back what an open mark may change", () => {
		const markdown = stream(plain(30));
		expect(markdown.push("The first line of this text is over, the second is not ")).toEqual(["The first line of this text is"]);
		expect(markdown.push("**bold that is not closed and goes on for quite a while ")).toEqual([]);
		expect(markdown.push("until here** and more words ")).not.toEqual([]);
		expect(markdown.end().join(" ")).toContain("and more words");
	});

	it.each([
		["plain words and mo", "plain words and"],
		["a **bold text", "a"],
		["a **bold** text", "a **bold**"],
		["a `code span", "a"],
		["a ``x ` y`` z", "a ``x ` y``"],
		["see [the link text", "see"],
		["see [the link](http://x y", "see"],
		["see [the link](http://x) now", "see [the link](http://x)"],
		["an <http://example and", "an"],
		["2 * 3 and snake_case_name here", "2 * 3 and snake_case_name"],
		["an \\* escaped star", "an \\* escaped"],
		["~~gone for now", ""],
	])("knows that of %j only %j cannot change any more", (text, settled) => {
		expect(text.slice(0, settledLength(text))).toBe(settled);
	});

	it("shows code by the line and lists by the item", () => {
		const markdown = stream(plain());
		expect(markdown.push("```sh\nmake\n")).toEqual(["```sh", "make"]);
		expect(markdown.push("make test\n```\n")).toEqual(["make test", "```"]);
		expect(markdown.push("- one\n- two")).toEqual([]);
		expect(markdown.push("\n- three\n")).toEqual(["", "• one", "• two"]);
		expect(markdown.end()).toEqual(["• three"]);
	});

	it("takes escape sequences, controls and marks of direction out, also when they are cut in two", () => {
		expect(inPieces(["red \u001b[3", "1mtext\u001b]0;title\u0007 \u202Eabc\u0000 bell\u0007\r", "\nnext"], plain())).toEqual(["red text abc bell", "next"]);
	});

	it("takes time in proportion to its length, whatever is in it", () => {
		for (const text of [
			"a".repeat(30_000),
			"*a ".repeat(3_000),
			"- ".repeat(3_000),
			`| a |\n|---|\n${"| x |\n".repeat(1_500)}`,
			"[".repeat(3_000),
			"**a*b ".repeat(3_000),
			"> ".repeat(3_000),
		]) {
			const lines = renderMarkdown(text, plain());
			expect(lines.length).toBeGreaterThan(0);
		}
	});
});

describe("text that is laid out", () => {
	it("is broken under its second column where that leaves room, else below its first", () => {
		const text = "  /stop   stop the turn; what runs in the background goes on";
		expect(wrapLaidOut(text, plain(80))).toEqual([text]);
		expect(wrapLaidOut(text, plain(40))).toEqual(["  /stop   stop the turn; what runs in", "          the background goes on"]);
		expect(wrapLaidOut(text, plain(18))).toEqual(["  /stop", "      stop the", "      turn; what", "      runs in the", "      background", "      goes on"]);
	});
});
