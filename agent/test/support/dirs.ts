/** Directories of a test, removed when it is over, before the check for leaks. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { type AgentHome, openAgentHome } from "../../src/base/index.js";

/** Undoes something when the test is over: last come, first served. test/support/ends.ts has put the list there. */
export const atEnd = (step: () => unknown): void => (globalThis as unknown as { testAtEnd(step: () => unknown): void }).testAtEnd(step);

export function tempDir(name = "agent", root = process.env.TEST_ROOT ?? ""): string {
	const dir = path.join(root, `${name}-${randomBytes(4).toString("hex")}`);
	fs.mkdirSync(dir, { mode: 0o700 });
	atEnd(() => fs.rmSync(dir, { recursive: true, force: true }));
	return dir;
}

export const tempHome = (): AgentHome => openAgentHome(path.join(tempDir(), "home"));

/** Memory, where there is some: a sync costs nothing in it. */
export const memoryRoot = (): string => (fs.existsSync("/dev/shm") ? "/dev/shm" : (process.env.TEST_ROOT ?? ""));

/** Waits for a condition that has no event. The deadline is only there for what never comes. */
export async function until(what: string, holds: () => boolean, ms = 100_000): Promise<void> {
	const deadline = Date.now() + ms;
	while (!holds()) {
		if (Date.now() > deadline) throw new Error(`did not happen within ${ms} ms: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}
