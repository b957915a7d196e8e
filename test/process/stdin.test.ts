import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { tempDir, testRuntime, textOf } from "../support/home.js";

test("five megabytes through stdin arrive byte for byte", async () => {
	const runtime = await testRuntime();
	const data = randomBytes(5_000_000);
	const process = await runtime.spawn({ command: "sha256sum" });
	expect(await process.write(data)).toBe(data.length);
	await process.closeStdin();
	await process.wait({ timeout: 100_000 });
	expect(textOf(process).split(" ")[0]).toBe(createHash("sha256").update(data).digest("hex"));
});

test("a write counts bytes, not characters, and adds nothing", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "cat" });
	expect(await process.write("é")).toBe(2);
	await process.closeStdin();
	await process.wait({ timeout: 100_000 });
	expect(textOf(process)).toBe("é");
});

test("writing to a process that has ended is a clear error", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "exit 4" });
	await process.wait({ timeout: 100_000 });
	await expect(process.write("x")).rejects.toMatchObject({ code: "ENDED", message: expect.stringContaining("exited, code 4") });
	await expect(process.closeStdin()).rejects.toMatchObject({ code: "ENDED" });
});

test("writing after close is a clear error, also from another runtime", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "cat >/dev/null; read x </dev/null; sleep 600" });
	await process.closeStdin();
	await expect(process.write("x")).rejects.toMatchObject({ code: "STDIN_CLOSED" });
	const other = await testRuntime({ home: runtime.home.root });
	await expect(other.get(process.id).write("x")).rejects.toMatchObject({ code: "STDIN_CLOSED" });
});

test("a process started without stdin reads end-of-file at once and cannot be written to", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "cat; echo end; sleep 600", stdin: false });
	expect((await process.wait({ until: { pattern: "end" }, timeout: 100_000 })).matched).toBe("pattern");
	await expect(process.write("x")).rejects.toMatchObject({ code: "STDIN_CLOSED" });
});

test("a write that is not read ends with the process, and says how many bytes were taken", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "sleep 600" });
	const writing = process.write(Buffer.alloc(1_000_000));
	const failed = expect(writing).rejects.toMatchObject({ code: "ENDED", message: expect.stringMatching(/after \d+ of 1000000 bytes/) });
	await process.kill();
	await failed;
});

test("one that was aborted says to the byte how much of it was written", async () => {
	const cwd = tempDir("aborted");
	const process = await (await testRuntime()).spawn({ command: "mkfifo gate; echo up; read -r on <gate; wc -c", cwd });
	await process.wait({ until: { pattern: "up" }, timeout: 100_000 });
	const aborted = async (bytes: number): Promise<number> => {
		const stop = new AbortController();
		const writing = process.write(Buffer.alloc(bytes), { signal: stop.signal });
		stop.abort();
		const { message } = await writing.then(
			() => expect.unreachable("it was written"),
			(error: Error) => error,
		);
		return Number(new RegExp(`interrupted after (\\d+) of ${bytes} bytes`).exec(message)?.[1]);
	};
	const written = await aborted(1_000_000);
	expect(written).toBeGreaterThan(0);
	expect(await aborted(1)).toBe(0); // nobody reads, so it is full
	fs.writeFileSync(path.join(cwd, "gate"), "on\n");
	await process.closeStdin();
	await process.wait({ timeout: 100_000 });
	expect(textOf(process)).toBe(`up\n${written}\n`);
});

test("a write can be aborted", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "sleep 600" });
	const stop = new AbortController();
	const writing = process.write(Buffer.alloc(1_000_000), { signal: stop.signal });
	stop.abort();
	await expect(writing).rejects.toMatchObject({ code: "ABORTED" });
	expect(process.status().status).toBe("running");
});

test("a command without a terminal has no controlling one and leads its session", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "(: </dev/tty) 2>/dev/null && echo tty || echo none; ps -o sid= -p $$; echo $$" });
	await process.wait({ timeout: 100_000 });
	const [tty, session, pid] = textOf(process)
		.trim()
		.split("\n")
		.map((line) => line.trim());
	expect(tty).toBe("none");
	expect(session).toBe(pid);
	expect(pid).toBe(String(process.pid));
});
