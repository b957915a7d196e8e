/** Directories of a test, removed when it is over. Imported by a test file, so that its `afterEach` runs before the check for leaks. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { afterEach } from "vitest";
import { type AgentHome, openAgentHome } from "../../src/base/index.js";

const undo: (() => unknown)[] = [];

/** Undoes something when the test is over: last come, first served. */
export const atEnd = (step: () => unknown): void => void undo.push(step);

afterEach(async () => {
	for (let step = undo.pop(); step; step = undo.pop()) await step();
});

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
