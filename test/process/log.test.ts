import { expect, test } from "vitest";
import { Utf8Stream, wholeCharacters } from "../../src/base/text.js";
import { testRuntime, textOf } from "../support/home.js";

test("every line of a long output is there, in order, in any chunk size", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "seq 1 200000" });
	await process.wait({ timeout: 100_000 });
	const truth = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join("");
	for (const size of [1000, 65_536, 10_000_000]) {
		let text = "";
		for (let offset = 0; ; ) {
			const slice = process.read(offset, size);
			if (slice.bytes.length === 0) break;
			expect(slice.offset).toBe(offset);
			expect(slice.bytes.length).toBeLessThanOrEqual(size);
			text += slice.bytes.toString("latin1");
			offset = slice.next;
			if (size === 1000 && offset > 100_000) break;
		}
		expect(text).toBe(truth.slice(0, text.length));
		if (size !== 1000) expect(text.length).toBe(truth.length);
	}
	expect(process.read(truth.length + 5).bytes.length).toBe(0);
});

test("following shows output as it is written, not in one burst at the end", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: 'while read -r line; do echo "got $line"; done' });
	const seen = process.follow();
	for (const word of ["one", "two", "three"]) {
		await process.write(`${word}\n`);
		const { value } = await seen.next();
		expect(value?.bytes.toString()).toBe(`got ${word}\n`);
	}
	await process.closeStdin();
	expect((await seen.next()).done).toBe(true);
});

test("two readers at different offsets see the same bytes", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "for i in $(seq 1 500); do echo line $i; done" });
	const collect = async (from: number) => {
		const parts: Buffer[] = [];
		for await (const slice of process.follow({ from })) parts.push(slice.bytes);
		return Buffer.concat(parts).toString();
	};
	const [all, some] = await Promise.all([collect(0), collect(14)]);
	expect(all).toBe(textOf(process));
	expect(some).toBe(all.slice(14));
});

test("a follower that is aborted stops at once and leaves the process alone", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "cat" });
	const stop = new AbortController();
	const seen = process.follow({ signal: stop.signal }).next();
	stop.abort();
	expect((await seen).done).toBe(true);
	expect(process.status().status).toBe("running");
});

test("stdout and stderr are one stream in the order written", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done" });
	await process.wait({ timeout: 100_000 });
	expect(textOf(process)).toBe([1, 2, 3, 4, 5].map((i) => `out ${i}\nerr ${i}\n`).join(""));
});

test("bytes stay as they are, NULs and bad UTF-8 included", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "printf 'a\\377\\376b\\0c'" });
	await process.wait({ timeout: 100_000 });
	expect([...process.read(0).bytes]).toEqual([0x61, 0xff, 0xfe, 0x62, 0, 0x63]);
});

test("text is decoded across chunk borders; only what is really bad becomes U+FFFD", () => {
	const bytes = Buffer.from("x€😀é");
	for (let size = 1; size <= bytes.length; size++) {
		const stream = new Utf8Stream();
		let text = "";
		for (let at = 0; at < bytes.length; at += size) text += stream.push(bytes.subarray(at, at + size));
		expect(text + stream.end()).toBe("x€😀é");
	}
	const cut = new Utf8Stream();
	expect(cut.push(Buffer.from([0xf0, 0x9f, 0x98])) + cut.end()).toBe("\ufffd");
	expect(new Utf8Stream().push(Buffer.from([0x61, 0xff, 0xfe, 0x62]))).toBe("a\ufffd\ufffdb");
});

test("a read can stop at a whole character and go on from there", () => {
	const bytes = Buffer.from("a😀");
	expect([1, 2, 3, 4, 5].map((length) => wholeCharacters(bytes.subarray(0, length)))).toEqual([1, 1, 1, 1, 5]);
	expect(wholeCharacters(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(4); // never a character: nothing to wait for
	expect(wholeCharacters(Buffer.alloc(0))).toBe(0);
});
