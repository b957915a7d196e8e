import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { qrCode, qrLines } from "../../src/doors/cli/qr.js";

/** One of each version, by its number of modules. zbarimg 0.23.92 has read the nine codes with these digests. */
test.each([
	[10, 21, "5ee04de30e68917a"],
	[30, 25, "999d63aafae5ce70"],
	[50, 29, "2a4bca8d069b95f1"],
	[75, 33, "cddfa13e1a10e28c"],
	[100, 37, "f25f3759ab721350"],
	[120, 41, "69c04917c99b143c"],
	[150, 45, "df960eb08533f1ce"],
	[190, 49, "70ee9d57cc34cc05"],
	[229, 53, "8e5d60c812feb06f"],
])("a link of %i characters is a code of %i modules", (length, size, digest) => {
	const modules = qrCode(`http://192.168.1.5:4653/#token=${"aB3.".repeat(60)}`.slice(0, length)) ?? [];
	const text = modules.map((row) => row.map(Number).join("")).join("\n");
	expect([modules.length, createHash("sha256").update(text).digest("hex").slice(0, 16)]).toEqual([size, digest]);
});

test("what is too long has no code; lines of text have two rows each, and free space around", () => {
	expect(qrCode("x".repeat(231))).toBeUndefined();
	const modules = qrCode("http://localhost") ?? [];
	const lines = qrLines(modules).map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, ""));
	expect([lines.length, new Set(lines.map((line) => line.length))]).toEqual([Math.ceil((modules.length + 8) / 2), new Set([modules.length + 8])]);
	expect(lines[0]?.trim()).toBe("");
	expect(lines[2]).toMatch(/^ {4}█▀▀▀▀▀█ .* █▀▀▀▀▀█ {4}$/);
});
