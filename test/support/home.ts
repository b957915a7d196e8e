/** What a test, or all tests of a file, open and have closed when they are over. */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { isAlive } from "../../src/base/proc.js";
import { readParts } from "../../src/keeper/layout.js";
import type { Process, Runtime, RuntimeOptions } from "./internal.js";

export function testRoot(): string {
	const root = process.env.TEST_ROOT;
	if (!root) throw new Error("run through vitest: test/support/global.ts sets TEST_ROOT");
	return root;
}

type Cleanups = (() => unknown)[];

const ofTest: Cleanups = [];
const ofFile: Cleanups = [];
/** The directories that all tests of the file share. */
export const sharedDirs = new Set<string>();
const scope = new AsyncLocalStorage<Cleanups>();
let keepShared: () => void = () => {};

/** Undo something when the test is over (inside `forFile`: the file): last come, first served, before the check for leaks. */
export const atEnd = (undo: () => unknown): void => void (scope.getStore() ?? ofTest).push(undo);

/**
 * Makes what all tests of the file share: it is closed after the last of them. What runs and is watched when `make` is done may stay
 * after each test; whatever comes later is a leak of the test that it came with.
 */
export async function forFile<T>(make: () => Promise<T>): Promise<T> {
	if (scope.getStore()) return make();
	if (ofTest.length > 0) throw new Error("a test makes what the file shares before anything of its own");
	const made = await scope.run(ofFile, make);
	keepShared();
	return made;
}

/** Called when something was made for the file. */
export const onShared = (keep: () => void): void => {
	keepShared = keep;
};

export const endTest = (): Promise<void> => undoAll(ofTest);
export const endFile = (): Promise<void> => undoAll(ofFile);

const undoAll = (cleanups: Cleanups): Promise<void> =>
	inOrder(
		(function* () {
			for (let undo = cleanups.pop(); undo; undo = cleanups.pop()) yield undo;
		})(),
	);

/** Takes every step, also when one of them fails; then throws the first failure. */
export async function inOrder(steps: Iterable<() => unknown>): Promise<void> {
	const failures: unknown[] = [];
	for (const step of steps) {
		try {
			await step();
		} catch (error) {
			failures.push(error);
		}
	}
	if (failures.length > 0) throw failures[0];
}

/** A directory for one test (inside `forFile`: for all of the file), removed when it is over. */
export function tempDir(name = "dir"): string {
	const base = `${name}-${randomBytes(4).toString("hex")}`;
	const dir = path.join(testRoot(), base);
	if (scope.getStore()) sharedDirs.add(base);
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
