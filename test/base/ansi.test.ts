import { describe, expect, test } from "vitest";
import { HarmlessText } from "../../src/base/ansi.js";

/** In pieces of every length, since a sequence may be cut anywhere. */
function shown(text: string): string {
	const results = new Set<string>();
	for (let size = 1; size <= text.length; size++) {
		const harmless = new HarmlessText();
		let out = "";
		for (let at = 0; at < text.length; at += size) out += harmless.push(text.slice(at, at + size));
		results.add(out + harmless.end());
	}
	expect([...results], JSON.stringify(text)).toHaveLength(1);
	return [...results][0] as string;
}

describe("output for a person's terminal", () => {
	test.each([
		["text, tabs, line ends and returns", "a\tb\r\nü€😀\b!", "a\tb\r\nü€😀\b!"],
		["colours, which end with the output", "\x1b[1;31mred\x1b[m plain \x1b[38:5:2mgreen", "\x1b[1;31mred\x1b[m plain \x1b[38:5:2mgreen\x1b[0m"],
	])("lets %s through", (_, text, expected) => expect(shown(text)).toBe(expected));

	test.each([
		["questions that the terminal would answer", "a\x1b[c\x1b[6n\x1b[>q\x1bZb", "ab"],
		["titles, clipboards and other strings", "a\x1b]0;evil\x07b\x1b]52;c;ZXZpbA==\x1b\\c\x1bPq#0\x1b\\d", "abcd"],
		["modes, cursor movements and erasures", "a\x1b[?1049h\x1b[2J\x1b[H\x1b[?25lb\x1bc", "ab"],
		["control characters of eight bits", "a\x9b6nb\x90x\x9cc", "abxc"],
		["bells and shifts", "a\x07\x0e\x0f\x00\x7fb", "ab"],
		["a string without an end, up to the end of its line", "a\x1b]0;never\nb", "a\nb"],
		["an escape without its sequence", "a\x1b[3\x1b[31mb", "a3\x1b[31mb\x1b[0m"],
	])("leaves out %s", (_, text, expected) => expect(shown(text)).toBe(expected));

	test("does not hold back without end what never ends", () => {
		const harmless = new HarmlessText();
		harmless.push(`\x1b]0;${"x".repeat(10_000)}`);
		expect(harmless.push("\nback")).toContain("back");
	});
});
