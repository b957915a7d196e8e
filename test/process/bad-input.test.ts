import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { HoldfastError } from "../../src/base/index.js";
import { shellQuote } from "../../src/base/quote.js";
import { tempDir, testRuntime, textOf } from "../support/home.js";
import { openRuntime } from "../support/internal.js";

test("a missing directory, or a file in its place, is an error and nothing runs", async () => {
	const runtime = await testRuntime();
	const dir = tempDir();
	fs.writeFileSync(path.join(dir, "file"), "");
	await expect(runtime.spawn({ command: `touch ${dir}/ran`, cwd: path.join(dir, "nowhere") })).rejects.toMatchObject({ code: "NO_DIRECTORY" });
	await expect(runtime.spawn({ command: `touch ${dir}/ran`, cwd: path.join(dir, "file") })).rejects.toMatchObject({ code: "NO_DIRECTORY" });
	expect(fs.existsSync(path.join(dir, "ran"))).toBe(false);
	expect(runtime.list()).toEqual([]);
});

test("a directory that may not be entered is reported by the start, and leaves nothing in the list", async () => {
	const runtime = await testRuntime();
	// Root may enter anything, so the directory disappears between our look and the keeper's.
	const gone = path.join(tempDir(), "gone");
	fs.mkdirSync(gone);
	const spawned = runtime.spawn({ command: "echo ran", cwd: gone }, { prepare: () => fs.rmdirSync(gone) });
	await expect(spawned).rejects.toMatchObject({ code: "START_FAILED" });
	expect(runtime.list()).toEqual([]);
});

test.each([
	["an empty command", { command: "  " }, /empty/],
	["an empty argument vector", { command: [] }, /empty/],
	["a NUL in a command", { command: "echo a\0b" }, /NUL/],
	["a NUL in an argument", { command: ["echo", "a\0b"] }, /NUL/],
	["a command that is a number", { command: 42 }, /command is 42, but must be shell text, or a list/],
	["an option that does not exist", { command: "true", colour: "red" }, /colour/],
	["a terminal without size", { command: "true", terminal: { cols: 0, rows: 10 } }, /terminal\.cols is 0, but must be at least 1/],
	["a terminal that is none", { command: "true", terminal: "80x24" }, /must be true, or an object with cols and rows/],
	["a log limit that is too small", { command: "true", log: { limit: 10 } }, /limit/],
])("%s is refused by name", async (_name, options, message) => {
	const runtime = await testRuntime();
	await expect(runtime.spawn(options as never)).rejects.toMatchObject({ code: "INVALID", message: expect.stringMatching(message) });
	expect(runtime.list()).toEqual([]);
});

test("a program that does not exist or is not executable ends as the shell would have it", async () => {
	const runtime = await testRuntime();
	const dir = tempDir();
	fs.writeFileSync(path.join(dir, "data"), "x", { mode: 0o644 });
	for (const [command, code] of [
		[["/no/such/program"], 127],
		[[path.join(dir, "data")], 126],
		["/no/such/program", 127],
		[path.join(dir, "data"), 126],
	] as const) {
		const process = await runtime.spawn({ command: typeof command === "string" ? command : [...command] });
		const { status } = await process.wait({ timeout: 100_000 });
		expect({ command, status }).toMatchObject({ status: { status: "exited", exitCode: code, signal: null } });
		expect(textOf(process)).not.toBe("");
	}
});

test("an unknown id, an ambiguous prefix and nonsense are NOT_FOUND, each in its own words", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "true" });
	await process.wait({ timeout: 100_000 });
	const digits = process.id.slice(5);
	const twin = `proc_${digits.slice(0, 11)}${digits.at(-1) === "0" ? "1" : "0"}`;
	const twinDir = path.join(runtime.home.procs, twin.charAt(5), twin);
	fs.cpSync(process.dir, twinDir, { recursive: true, filter: (file) => !fs.statSync(file).isFIFO() });
	fs.writeFileSync(path.join(twinDir, "spec.json"), JSON.stringify({ ...process.spec, id: twin }));
	expect(() => runtime.get("proc_000000000000")).toThrow(/no process/);
	expect(() => runtime.get("!")).toThrow(/not a process id/);
	expect(() => runtime.get(digits.slice(0, 4))).toThrow(/fits 2 processes/);
	expect(runtime.get(process.id).id).toBe(process.id);
	fs.rmSync(twinDir, { recursive: true });
	expect(runtime.get(digits.slice(0, 4)).id).toBe(process.id);
	expect(runtime.get(digits.toUpperCase().slice(0, 6)).id).toBe(process.id);
});

test("a corrupt spec.json is named when asked for, and does not break the list", async () => {
	const runtime = await testRuntime();
	const bad = await runtime.spawn({ command: "cat" });
	const good = await runtime.spawn({ command: "cat" });
	const spec = fs.readFileSync(path.join(bad.dir, "spec.json"));
	fs.writeFileSync(path.join(bad.dir, "spec.json"), '{"v":1,"id":');
	const other = await testRuntime({ home: runtime.home.root });
	expect(other.list().map((process) => process.id)).toEqual([good.id]);
	expect(() => other.get(bad.id)).toThrow(/spec\.json cannot be read/);
	expect(other.registry.broken()).toEqual([bad.id]);
	fs.writeFileSync(path.join(bad.dir, "spec.json"), spec);
});

test("a half-written exit record is not believed", async () => {
	const runtime = await testRuntime();
	const process = await runtime.spawn({ command: "cat" });
	const file = path.join(process.dir, "exit");
	for (const half of ["exit 0", `${"exit 0 -".padEnd(40)}\n`, `${"exit zero -".padEnd(63)}\n`, ""]) {
		fs.writeFileSync(file, half);
		expect(process.status().status).toBe("running");
	}
	fs.writeFileSync(file, `${"".padEnd(63)}\n`);
	await process.closeStdin();
	expect((await process.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
});

test("a home that cannot be used is an error that says so", async () => {
	const dir = tempDir();
	fs.writeFileSync(path.join(dir, "file"), "");
	await expect(openRuntime({ home: path.join(dir, "file", "home") })).rejects.toThrow(/as home/);
	await expect(openRuntime({ home: "/proc/holdfast" })).rejects.toThrow(/as home/);
});

test("the 65th running process of a task is refused, in another task it is not", async () => {
	const runtime = await testRuntime({ maxRunning: 2 });
	await runtime.spawn({ command: "cat" });
	await runtime.spawn({ command: "cat" });
	await expect(runtime.spawn({ command: "cat" })).rejects.toMatchObject({ code: "LIMIT", message: expect.stringContaining("2 are allowed") });
	await runtime.spawn({ command: "cat", task: "another" });
});

test("without a file descriptor left a start fails clearly, and works again when there are some", async () => {
	const runtime = await testRuntime();
	const script = `const fs = await import("node:fs"); const { openRuntime } = await import(${JSON.stringify(`${process.cwd()}/dist/lib/index.js`)});
		const runtime = await openRuntime({ home: ${JSON.stringify(runtime.home.root)}, warm: 0 });
		await runtime.spawn({ command: "true" }).then((process) => process.wait());
		const held = []; try { for (;;) held.push(fs.openSync("/dev/null")); } catch { /* EMFILE: none is left, as wanted */ }
		const failed = await runtime.spawn({ command: "true" }).catch((error) => error.code);
		for (const fd of held) fs.closeSync(fd);
		const { status } = await (await runtime.spawn({ command: "exit 5" })).wait();
		console.log(failed, status.exitCode); await runtime.close();`;
	const program = await runtime.spawn({ command: `ulimit -n 256; exec ${process.execPath} --input-type=module -e ${shellQuote(script)}` });
	await program.wait({ timeout: 100_000 });
	expect(textOf(program)).toBe("NO_FILES 5\n");
});

test("offsets, sizes, times and signals that are none are refused, and nothing happens", async () => {
	const process = await (await testRuntime()).spawn({ command: "cat" });
	for (const offset of [Number.NaN, 0.5, -1, Number.POSITIVE_INFINITY, "1" as never]) {
		expect(() => process.read(offset)).toThrow(/offset must be a whole number/);
		expect(() => process.read(0, offset)).toThrow(/number of bytes must be a whole number/);
		await expect(process.wait({ from: offset })).rejects.toMatchObject({ code: "INVALID" });
		expect(() => process.follow({ from: offset })).toThrow(HoldfastError);
	}
	for (const timeout of [Number.NaN, -1]) await expect(process.wait({ timeout })).rejects.toMatchObject({ code: "INVALID" });
	for (const signal of ["", "TERM", "SIGNONSENSE", "toString"]) await expect(process.signal(signal as never)).rejects.toThrow(/there is no signal/);
	expect(process.status().status).toBe("running");
});
