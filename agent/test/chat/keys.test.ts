import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Key, KeyDecoder } from "../../src/chat/line/keys.js";

const decoded = (...chunks: string[]): Key[] => {
	const keys = new KeyDecoder();
	return [...chunks.flatMap((chunk) => keys.push(chunk)), ...keys.flush()];
};
const names = (...chunks: string[]) => decoded(...chunks).map(({ name, text }) => (name === "text" ? text : name));

describe("keys", () => {
	it("tells text, controls, arrows and what is held with them", () => {
		expect(names("hé\u0001\u0003\r\n\t\u007f")).toEqual(["hé", "ctrl+a", "ctrl+c", "enter", "ctrl+j", "tab", "backspace"]);
		expect(names("\u001b[A\u001bOB\u001b[1;5C\u001b[1;3D\u001b[H\u001b[4~\u001b[3~\u001b[Z")).toEqual([
			...["up", "down", "ctrl+right", "alt+left", "home", "end", "delete", "shift+tab"],
		]);
		expect(names("\u001b\r", "\u001bb", "\u001b\u007f", "\u001b[13;2u", "\u001b[27;3;13~")).toEqual([
			...["alt+enter", "alt+b", "alt+backspace", "shift+enter", "alt+enter"],
		]);
	});

	it("knows Escape from the beginning of a sequence only by the silence after it", () => {
		const keys = new KeyDecoder();
		expect(keys.push("\u001b")).toEqual([]);
		expect(keys.waits).toBe(true);
		expect(keys.flush()).toEqual([{ name: "escape" }]);
		expect(keys.push("\u001b")).toEqual([]);
		expect(keys.push("[")).toEqual([]);
		expect(keys.push("A")).toEqual([{ name: "up" }]);
		expect(keys.waits).toBe(false);
		expect(names("\u001b\u001b[A")).toEqual(["escape", "up"]);
	});

	it("takes a paste as one key, with Enters and escape sequences in it, wherever its bytes are cut", () => {
		const text = "one\ntwo \u001b[31m \u001b[20 three\n";
		const sent = `a\u001b[200~${text.replaceAll("\n", "\r")}\u001b[201~b`;
		const expected = [
			{ name: "text", text: "a" },
			{ name: "paste", text },
			{ name: "text", text: "b" },
		];
		fc.assert(
			fc.property(fc.array(fc.nat(sent.length), { maxLength: 6 }), (cuts) => {
				const at = [0, ...cuts.sort((a, b) => a - b), sent.length];
				expect(decoded(...at.slice(1).map((end, index) => sent.slice(at[index], end)))).toEqual(expected);
			}),
		);
	});

	it("takes 10 MB in small pieces", () => {
		const piece = "x".repeat(4_095);
		const keys = new KeyDecoder();
		const got = ["\u001b[200~", ...Array.from({ length: 2_560 }, () => piece), "\u001b[201~"].flatMap((chunk) => keys.push(chunk));
		expect(got.map(({ name, text }) => [name, text?.length])).toEqual([["paste", 2_560 * 4_095]]);
	});
});
