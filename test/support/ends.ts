/** What is undone when a test, or all tests of a file, are over. */
import { AsyncLocalStorage } from "node:async_hooks";

type Cleanups = (() => unknown)[];

const ofTest: Cleanups = [];
const ofFile: Cleanups = [];
/** The directories that all tests of the file share. */
export const sharedDirs = new Set<string>();
const scope = new AsyncLocalStorage<Cleanups>();

/** Whether this is made for all tests of the file. */
export const isForFile = (): boolean => scope.getStore() !== undefined;

let keepShared: () => void = () => {};

/** Undo something when the test is over (inside `forFile`: the file): last come, first served, before the check for leaks. */
export const atEnd = (undo: () => unknown): void => void (scope.getStore() ?? ofTest).push(undo);
const testEngine = async () => {
	const { noEngine, sharedEngine } = await import("./dockerd.js");
	return noEngine() ?? (await sharedEngine());
};
const testOwnEngine = async (options: { readonly liveRestore: boolean }) => {
	const { noEngine, ownEngine, startDaemon, stopDaemon } = await import("./dockerd.js");
	const missing = noEngine();
	if (missing !== undefined) return missing;
	const engine = await ownEngine(options);
	return { ...engine, kill: () => stopDaemon(engine, "SIGKILL"), start: () => startDaemon(engine) };
};
Object.assign(globalThis, { testAtEnd: atEnd, testEngine, testOwnEngine }); // for the tests of the agent, which import nothing from here

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
