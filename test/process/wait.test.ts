import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { atRealLineEnds, PatternSearch } from "../../src/process/until.js";
import { atEnd, testRuntime } from "../support/home.js";

test("a grandchild that holds the output does not keep the wait or the status from ending", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "echo x; sleep 600 & exit 5" });
	const { status, matched } = await process.wait({ timeout: 100_000 });
	expect(matched).toBe("exit");
	expect(status).toMatchObject({ status: "exited", exitCode: 5 });
	expect(process.read(0).bytes.toString()).toBe("x\n");
	expect(await process.leftovers()).toHaveLength(1);
});

test("a process that closed its output is running until it exits", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "exec >&- 2>&-; read line; exit 5" });
	expect((await process.wait({ until: { silence: 0.2 }, timeout: 100_000 })).matched).toBe("silence");
	expect(process.status().status).toBe("running");
	await process.write("\n");
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 5 });
});

test("a timeout leaves the process alone and is not an exit", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "sleep 600" });
	const result = await process.wait({ timeout: 30 });
	expect(result).toMatchObject({ matched: null, timedOut: true, status: { status: "running" } });
});

test("an aborted wait says so and leaves the process alone", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "sleep 600" });
	const stop = new AbortController();
	const waiting = process.wait({ signal: stop.signal });
	stop.abort();
	await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
	expect(process.status().status).toBe("running");
});

test("a pattern is found across the borders of chunks and characters", () => {
	const text = `${"-".repeat(1000)}ready: ✓ port 8080`;
	const bytes = Buffer.from(text);
	for (const size of [1, 7, 64]) {
		const search = new PatternSearch("ready: ✓ port (\\d+)");
		let found = false;
		for (let at = 0; at < bytes.length && !found; at += size) found = search.push(bytes.subarray(at, at + size));
		expect(found).toBe(true);
	}
});

test("$ matches where a line has ended, and at the end of the process; not where a line may go on", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "printf 'Done'; read -r x; printf ' with errors\\nDone\\nDo'; read -r x; printf ne; read -r x" });
	const wait = (from: number, timeout = 10_000) => process.wait({ until: { pattern: "^Done$" }, from, timeout });
	await process.wait({ until: { pattern: "^Done" }, timeout: 100_000 });
	expect(await wait(0, 50)).toMatchObject({ matched: null });
	await process.write("\n");
	expect(await wait(0)).toMatchObject({ matched: "pattern", offset: 21 });
	await process.write("\n");
	await process.wait({ until: { pattern: "Done" }, from: 21, timeout: 100_000 });
	const last = wait(21);
	await process.write("\n");
	expect(await last).toMatchObject({ matched: "pattern", match: "Done", offset: 26, status: { status: "exited" } });
	for (const [pattern, same] of Object.entries({ "[$]": true, "\\$": true, "(?<a$>x)\\k<a$>": true, "a$|b": false, "(?<=$)": false }))
		expect(atRealLineEnds(pattern) === pattern).toBe(same);
});

test("a pattern that runs away is given up, not waited for", () => {
	const search = new PatternSearch("^(a+)+$");
	expect(() => search.push(Buffer.from(`${"a".repeat(40)}!`))).toThrow(/"\^\(a\+\)\+\$".*simpler/);
	const slow = new PatternSearch("(?:x?){12}x{12}[yz]w"); // each search comes to its end, and takes its time
	const text = Buffer.from("x".repeat(2_000));
	expect(() => {
		for (let chunk = 0; chunk < 2_000; chunk++) slow.push(text);
	}).toThrow(/simpler/);
	const everyday = new PatternSearch("listening on .*:(\\d+)$|error: .*");
	for (let chunk = 0; chunk < 200; chunk++) expect(everyday.push(Buffer.from(`GET /index.html 200 ${chunk} ms\n`.repeat(20)))).toBe(false);
	expect(everyday.push(Buffer.from("listening on :8080\n"))).toBe(true);
});

test("a pattern finds what was printed before the wait began, or only after an offset", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "echo ready; cat" });
	expect(await process.wait({ until: { pattern: "^read(y|ily)$" }, timeout: 100_000 })).toMatchObject({ matched: "pattern", match: "ready" });
	expect(await process.wait({ until: { pattern: "ready" }, from: 6, timeout: 50 })).toMatchObject({ timedOut: true });
	await process.write("é one two one\n");
	expect(await process.wait({ until: { pattern: "one" }, timeout: 100_000 })).toMatchObject({ matched: "pattern", offset: 12 });
	expect(await process.wait({ until: { pattern: "one" }, from: 12, timeout: 100_000 })).toMatchObject({ matched: "pattern", offset: 20 });
});

test("when it exits before the pattern shows, that is said", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "echo no; exit 1" });
	expect(await process.wait({ until: { pattern: "yes" }, timeout: 100_000 })).toMatchObject({ matched: "exit", status: { exitCode: 1 } });
});

test("the last words before the exit still count for a pattern", async () => {
	const runtime = await testRuntime();
	for (let i = 0; i < 20; i++) {
		const process = await runtime.spawn({ command: "echo last words" });
		expect((await process.wait({ until: { pattern: "last words" }, timeout: 100_000 })).matched).toBe("pattern");
		await process.wait({ timeout: 100_000 });
	}
});

test("a port and an HTTP answer can be waited for, several conditions at once", async () => {
	const runtime = await testRuntime();
	let ready = false;
	const server = http.createServer((_request, response) => response.writeHead(ready ? 204 : 503).end());
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	atEnd(() => new Promise((resolve) => server.close(resolve)));
	const { port } = server.address() as AddressInfo;
	const process = await runtime.spawn({ command: "sleep 600" });
	expect(await process.wait({ until: { port, pattern: "never" }, timeout: 100_000 })).toMatchObject({ matched: "port" });
	const url = `http://127.0.0.1:${port}/`;
	expect(await process.wait({ until: { http: url }, timeout: 200 })).toMatchObject({ timedOut: true });
	expect(await process.wait({ until: { http: url, status: 503 }, timeout: 100_000 })).toMatchObject({ matched: "http" });
	ready = true;
	expect(await process.wait({ until: { http: url }, timeout: 100_000 })).toMatchObject({ matched: "http" });
	server.closeAllConnections();
});

test.each([
	[{ pattern: "(" }, /regular expression/],
	[{ port: 70_000 }, /port/],
	[{ http: "file:///etc/passwd" }, /http/],
	[{ silence: 0 }, /silence/],
	[{ status: 200 }, /goes with/],
	[{ colour: "red" }, /colour/],
])("%j is refused", async (until, message) => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "sleep 600" });
	await expect(process.wait({ until: until as never })).rejects.toMatchObject({ code: "INVALID", message: expect.stringMatching(message) });
});

test("the offset of a match counts bytes, also of those that are no text", () => {
	for (const [bytes, pattern, end] of [
		["READY\xff\xff\xff\xff", "READY", 5],
		["aREADY\xe2\x82", "READY", 6],
		["\xff\xfe READY x", "READY", 8],
		["\xc3\xa9\xffREADY", "READY", 8],
	] as const) {
		const search = new PatternSearch(pattern);
		expect(search.push(Buffer.from(bytes, "latin1"))).toBe(true);
		expect(search.matchEnd).toBe(end);
	}
});

test("a line begins where a line begins, not where older text was forgotten", () => {
	const search = new PatternSearch("^foo");
	expect(search.push(Buffer.from("bar"))).toBe(false);
	expect(search.push(Buffer.from(`foo${"y".repeat(65_533)}`))).toBe(false);
	expect(search.push(Buffer.from("y"))).toBe(false);
	expect(search.push(Buffer.from("\nfoo"))).toBe(true);
});
