import fs from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { positionOf, stripAnsi, wholeSequences } from "../../src/tools/ansi.js";
import { Excerpt } from "../../src/tools/excerpt.js";
import { Lines } from "../../src/tools/lines.js";
import { type OutputOptions, readOutput } from "../../src/tools/output.js";
import { ringSettles, tempDir, testRuntime } from "../support/home.js";
import type { Process, Runtime } from "../support/internal.js";

/** A process that has printed exactly this and ended. */
async function printed(runtime: Runtime, bytes: string | Buffer, options: { limit?: number } = {}): Promise<Process> {
	const file = `${tempDir("text")}/text`;
	fs.writeFileSync(file, bytes);
	const process = await runtime.spawn({ command: ["cat", file], ...(options.limit ? { log: { limit: options.limit } } : {}) });
	await process.wait();
	return process;
}

const ALL: OutputOptions = { from: 0, maxChars: 1_000_000, keep: "ends", raw: false, final: true };

describe("escape sequences", () => {
	test.each([
		["\x1b[31mred\x1b[0m", "red"],
		["\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"],
		["\x1bP1$r\x1b\\a\x1b(Bb\x1b7c\x1b=d", "abcd"],
		["a\x1b[?2004hb\x1b[1;2;3;4mc\x1b[38:5:1md", "abcd"],
		["tab\tbell\x07 \r\n", "tab\tbell\x07 \r\n"],
		["no end \x1b[31", "no end 31"],
		["\x1b]0;never over\nnext", "\nnext"],
	])("%j", (text, plain) => expect(stripAnsi(text)).toBe(plain));

	test("a sequence that is not over is left for later, a claim of endless ones is not believed", () => {
		for (const [whole, rest] of [
			["a", "\x1b"],
			["a", "\x1b["],
			["a", "\x1b[1;3"],
			["a", "\x1b]0;ti"],
			["a", "\x1b]0;x\x1b"],
			["a", "\x1b("],
		] as const)
			expect(wholeSequences(Buffer.from(whole + rest))).toBe(whole.length);
		expect(wholeSequences(Buffer.from("a\x1b[31mb"))).toBe(7);
		const endless = Buffer.from(`a\x1b]${"x".repeat(10_000)}`);
		expect(wholeSequences(endless)).toBe(endless.length);
	});

	test("positions in the text behind those in the stripped one", () => {
		const text = "\x1b[1mab\x1b[0mcd";
		expect([0, 1, 2, 3, 4].map((count) => text.slice(0, positionOf(text, count)).replaceAll(/\x1b\[\dm/g, ""))).toEqual(["", "a", "ab", "abc", "abcd"]);
	});
});

describe("an excerpt", () => {
	test("keeps both ends of what comes in pieces, never half a character, and counts", () => {
		for (const size of [1, 2, 3, 7, 100]) {
			const text = "😀".repeat(20);
			const excerpt = new Excerpt({ head: 5, tail: 7 });
			for (let at = 0; at < text.length; at += size * 2) excerpt.push(text.slice(at, at + size * 2));
			expect([excerpt.head, excerpt.tail, excerpt.total]).toEqual(["😀😀", "😀😀😀", 40]);
		}
	});
});

describe("a stretch of a log", () => {
	test("across pieces no character and no sequence is torn", async () => {
		const process = await printed(await testRuntime(), "\x1b[31m€😀x\x1b[0m".repeat(60_000)); // 1 MB: borders fall everywhere
		const { text, next } = await readOutput(process, ALL);
		expect(text).toBe("€😀x".repeat(60_000));
		expect(next).toBe(60_000 * 17);
	});

	test("half a character, and half a sequence, at the end: left for later, or part of it", async () => {
		const process = await printed(await testRuntime(), Buffer.from([97, 0xe2, 0x82]));
		expect(await readOutput(process, { ...ALL, final: false })).toMatchObject({ text: "a", next: 1 });
		expect(await readOutput(process, ALL)).toMatchObject({ text: "a\ufffd", next: 3 });
		expect(await readOutput(process, { ...ALL, from: 1, final: false })).toMatchObject({ text: "", offset: 1, next: 1 });
	});

	test("is never longer than it may be, whatever the length of the text", async () => {
		const runtime = await testRuntime();
		for (const length of [199, 200, 201, 360, 361, 400, 5_000]) {
			const process = await printed(runtime, "x".repeat(length));
			const { text, truncated } = await readOutput(process, { ...ALL, maxChars: 200 });
			expect(text.length).toBeLessThanOrEqual(200);
			expect(truncated === undefined).toBe(length <= 200);
		}
	});

	test("what comes behind it counts and is shown", async () => {
		const process = await printed(await testRuntime(), "x".repeat(1_000));
		expect((await readOutput(process, { ...ALL, after: "bye" })).text).toMatch(/xbye$/);
		expect(await readOutput(process, { ...ALL, after: "bye", maxChars: 300 })).toMatchObject({
			text: expect.stringMatching(/xbye$/),
			truncated: { total_chars: 1003 },
		});
	});

	test("a ring that drops some while it is read: what was dropped is counted, and it says from where the rest is there", async () => {
		const process = await printed(await testRuntime(), "0123456789abcde\n".repeat(65_536));
		const read = process.read.bind(process);
		const DROPPED = [262_144, 524_288] as const; // between two pieces, as by a remover that comes then
		vi.spyOn(process, "read").mockImplementation((at, max) => read(at >= DROPPED[0] && at < DROPPED[1] ? DROPPED[1] : at, max));
		expect(await readOutput(process, { ...ALL, maxChars: 1000 })).toMatchObject({
			offset: DROPPED[1],
			next: 1_048_576,
			truncated: { total_chars: 1_048_576 },
			text: expect.stringMatching(/^0123456789abcde\n[\s\S]*abcde\n$/),
		});
	});

	test("a ring that has dropped the beginning: it says where it starts, and how much of what is left out is still there", async () => {
		const process = await printed(await testRuntime(), "0123456789abcde\n".repeat(20_000), { limit: 64 * 1024 });
		await ringSettles(process, 64 * 1024);
		const { first, end } = process.log.bounds();
		expect(first).toBeGreaterThan(0);
		expect(await readOutput(process, ALL)).toMatchObject({ offset: first, next: end, text: expect.stringMatching(/abcde\n$/) });
		const cut = await readOutput(process, { ...ALL, keep: "end", maxChars: 1_000 });
		expect(cut).toMatchObject({ leftOut: end - first - 1_000, truncated: { omitted_chars: end - 1_000 } });
	});
});

describe("lines", () => {
	test.each([
		["", 0],
		["a", 1],
		["a\n", 1],
		["a\nb", 2],
		["\n\n", 2],
	])("%j has %i", async (text, total) => {
		const lines = new Lines(await printed(await testRuntime(), text));
		expect((await lines.count()).total).toBe(total);
	});

	test("are found where they begin, in a log of many pieces, also when counted again while it grows", async () => {
		const runtime = await testRuntime();
		const process = await runtime.spawn({ command: "seq 1 100000; read -r x; seq 100001 200000; cat" });
		await process.wait({ until: { pattern: "^100000$" } });
		const lines = new Lines(process);
		expect((await lines.count()).total).toBe(100_000);
		await process.write("\n");
		await process.wait({ until: { pattern: "^200000$" } });
		const counted = await lines.count();
		expect(counted.total).toBe(200_000);
		const at = async (line: number) =>
			process
				.read(await lines.startOf(line, counted), 20)
				.bytes.toString()
				.split("\n")[0];
		expect(await Promise.all([0, 1, 99_999, 100_000, 150_000, 199_999].map(at))).toEqual(["1", "2", "100000", "100001", "150001", "200000"]);
		expect(await lines.startOf(200_000, counted)).toBe(counted.end);
		expect(await lines.startOf(999_999, counted)).toBe(counted.end);
	});

	test("what was counted is not read again", async () => {
		const process = await printed(await testRuntime(), "0123456789abcde\n".repeat(200_000));
		const lines = new Lines(process);
		await lines.count();
		let bytes = 0;
		const read = process.read.bind(process);
		process.read = (offset, max) => {
			const slice = read(offset, max);
			bytes += slice.bytes.length;
			return slice;
		};
		expect((await lines.count()).total).toBe(200_000);
		expect(bytes).toBeLessThan(300_000); // of 3.2 MB
	});

	test("stay right when a ring drops the oldest", async () => {
		const process = await (await testRuntime()).spawn({ command: "while read -r n; do seq -f '%015g' $n; done", log: { limit: 1024 * 1024 } });
		const lines = new Lines(process);
		for (let round = 0; round < 8; round++) {
			const before = process.log.bounds().end;
			await process.write("20000\n");
			await process.wait({ until: { pattern: "^000000000020000$" }, from: before });
			const { total, first, end } = await lines.count();
			expect(total).toBe(Math.ceil((end - first) / 16));
		}
		expect(process.log.bounds().first).toBeGreaterThan(0);
	});
});
