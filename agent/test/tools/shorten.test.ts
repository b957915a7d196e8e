import { expect, it } from "vitest";
import { SHORT, shorten } from "../../src/tools/shorten.js";

const where = ({ line, lines }: { line: number; lines: number }): string => `read(${line}, ${lines})`;
const cut = (text: string, most = 12_000) => shorten([{ line: 0, text }], { most, where });
const line = (index: number): string => `word${String.fromCharCode(97 + (index % 26))} ${"abcdefghij".slice(index % 7)} ${index}x${index * 7}y`;

/** Puts the text together again from what is shown and the lines that its gaps name. */
function whole(shown: string, original: string): string {
	const lines = original.split("\n");
	const back: string[] = [];
	for (const one of shown.split("\n")) {
		const same = /^\[the line above (?:once|([\d,]+) times) more\]$/.exec(one);
		const gap = /^\[[\d,]+ lines?(?: like these)? left out; read\((\d+), (\d+)\) shows them\]$/.exec(one);
		if (same) back.push(...Array.from({ length: Number((same[1] ?? "1").replaceAll(",", "")) }, () => back.at(-1) as string));
		else if (gap) back.push(...lines.slice(Number(gap[1]), Number(gap[1]) + Number(gap[2])));
		else back.push(one);
	}
	return back.join("\n");
}

it("leaves a short text as it is, whatever is in it", () => {
	const text = `${"same\n".repeat(100)}10%\r20%\r30%\r40%\r50%\n`;
	expect(text.length).toBeLessThan(SHORT);
	expect(cut(text)).toEqual({ text, cut: false });
});

it("leaves a long text as it is that fits and does not repeat itself", () => {
	const text = Array.from({ length: 150 }, (_, index) => `${index} ${"abcdefghijklmnop".slice(index % 13)} ${"qwertz".slice(index % 5)}`).join("\n");
	expect(text.length).toBeGreaterThan(SHORT);
	expect(cut(text)).toEqual({ text, cut: false });
});

it("counts equal lines instead of showing them, and loses nothing", () => {
	const text = `start\n${"waiting for the database\n".repeat(500)}ready\n`;
	const { text: shown } = cut(text);
	expect(shown).toBe("start\nwaiting for the database\n[the line above 499 times more]\nready\n");
	expect(whole(shown, text)).toBe(text);
});

it("leaves out lines that differ only in numbers, and names the call that shows them", () => {
	const text = `begin\n${Array.from({ length: 400 }, (_, index) => `Downloading layer 3f${index.toString(16).padStart(8, "0")}: ${index}/400 MB [====>    ]`).join("\n")}\nend\n`;
	const { text: shown } = cut(text);
	expect(shown).toContain("[397 lines like these left out; read(3, 397) shows them]");
	expect(whole(shown, text)).toBe(text);
});

it("keeps lines of numbers in a text of moderate size: they may be the data that was asked for", () => {
	const text = Array.from({ length: 500 }, (_, index) => `${index},${index * 3}`).join("\n");
	expect(cut(text)).toEqual({ text, cut: false });
});

it("never takes a line that tells of a failure for one like the others", () => {
	const lines = Array.from({ length: 1_000 }, (_, index) => `test number ${index} took ${index * 3} ms`);
	lines[500] = "test number 500 failed after 1500 ms";
	const { text: shown } = cut(lines.join("\n"));
	expect(shown).toContain("test number 500 failed after 1500 ms");
	expect(whole(shown, lines.join("\n"))).toBe(lines.join("\n"));
});

it("shows a line that was drawn again and again as it was at the end", () => {
	const bar = Array.from({ length: 300 }, (_, index) => `${index + 1}/300 [${"=".repeat(index % 20)}]`).join("\r");
	expect(cut(`fetch\n${bar}\ndone\n`).text).toBe("fetch\n300/300 [===================] [drawn 300 times; read(1, 1) shows all]\ndone\n");
});

it("leaves line ends of other systems alone", () => {
	const text = Array.from({ length: 100 }, (_, index) => `${line(index)}\r\n`).join("");
	expect(cut(text)).toEqual({ text, cut: false });
});

it("leaves out the middle of what is too long, and the named lines are exactly the missing ones", () => {
	const text = Array.from({ length: 20_000 }, (_, index) => (index % 2 ? line(index) : line(index).toUpperCase())).join("\n");
	const { text: shown, cut: isCut } = cut(text);
	expect(isCut).toBe(true);
	expect(shown.length).toBeLessThanOrEqual(12_200);
	expect(shown.startsWith(text.slice(0, 4_000))).toBe(true);
	expect(shown.endsWith(text.slice(-6_000))).toBe(true);
	expect(whole(shown, text)).toBe(text);
});

it("cuts one endless line without breaking a character", () => {
	const text = "😀x".repeat(20_000);
	const { text: shown } = cut(text);
	expect(shown).toContain("characters of this line left out; read(0, 1) shows it]");
	expect(shown.length).toBeLessThan(3_000);
	expect(Buffer.from(shown).toString()).toBe(shown);
});

it("does not say 'the line above' of a line that is not there", () => {
	const text = Array.from({ length: 300 }, (_, index) => `${"x".repeat(index % 40)}${index}\n${`same ${index} abc\n`.repeat(4)}`).join("");
	for (let most = 3_000; most < 3_100; most++) {
		const { text: shown } = cut(text, most);
		expect(shown).not.toMatch(/shows them\]\n\[the line above/);
		expect(whole(shown, text)).toBe(text);
	}
});

it("joins the known parts of a longer text by a gap between them", () => {
	const [head, tail] = ["a\nb\n", "y\nz\n"];
	const { text, cut: isCut } = shorten(
		[
			{ line: 0, text: head },
			{ line: 998, text: tail },
		],
		{ most: 12_000, where },
	);
	expect({ text, isCut }).toEqual({ text: "a\nb\n[996 lines left out; read(2, 996) shows them]\ny\nz\n", isCut: true });
});
