/** What a test, or all tests of a file, open and have closed when they are over. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { isAlive } from "../../src/base/proc.js";
import { readParts } from "../../src/keeper/layout.js";
import { atEnd, isForFile, sharedDirs } from "./ends.js";
import type { Process, Runtime, RuntimeOptions } from "./internal.js";

export { atEnd, forFile } from "./ends.js";

export function testRoot(): string {
	const root = process.env.TEST_ROOT;
	if (!root) throw new Error("run through vitest: test/support/global.ts sets TEST_ROOT");
	return root;
}

/** A directory for one test (inside `forFile`: for all of the file), removed when it is over. */
export function tempDir(name = "dir"): string {
	const base = `${name}-${randomBytes(4).toString("hex")}`;
	const dir = path.join(testRoot(), base);
	if (isForFile()) sharedDirs.add(base);
	fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
	atEnd(() => fs.rmSync(dir, { recursive: true, force: true }));
	return dir;
}

/** A runtime on a home of its own. When the test is over everything in it is killed, and it is closed. */
export async function testRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
	const home = options.home ?? tempDir("home");
	const { openRuntime } = await import("./internal.js"); // most of the library: a file that needs no runtime does not load it
	const runtime = await openRuntime({ warm: 0, ...options, home });
	atEnd(() => endAll(runtime));
	return runtime;
}

/** Kill whatever still runs, or was left running, and wait until its keeper is gone too. */
export async function endAll(runtime: Runtime): Promise<void> {
	const processes = runtime.list({ task: null, shells: true });
	await Promise.all(processes.map((process) => process.kill({ graceMs: process.spec.kind ? 0 : 200 })));
	await runtime.close();
	const parts = processes.flatMap((process) => Object.values(readParts(process.dir)));
	await until("every keeper is gone", () => !parts.some(isAlive));
}

/** All of its output as text. */
export const textOf = (process: Process): string => {
	const { first, end } = process.log.bounds();
	return process.read(first, end - first + 1).bytes.toString("utf8");
};

/** What a ring has dropped is removed by an rm(1) that nobody waits for: only then its bounds stay. */
export const ringSettles = (process: Process, limit: number): Promise<void> =>
	until("what was dropped has been removed", () => {
		const { first, end } = process.log.bounds();
		return end - first <= limit;
	});

/** Wait for a condition that has no event. On a busy machine everything may take its time, so the deadline is only there for what never comes. */
export async function until(what: string, holds: () => boolean, ms = 100_000): Promise<void> {
	const deadline = Date.now() + ms;
	while (!holds()) {
		if (Date.now() > deadline) throw new Error(`did not happen within ${ms} ms: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}
