/** After each test: no process, no watcher and no directory of it may be left. A test that leaves one fails. After the last: nothing at all. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, expect, vi } from "vitest";
import { isAlive } from "../../src/base/proc.js";
import { endFile, endTest, inOrder, onShared, sharedDirs } from "./ends.js";
import { testRoot } from "./home.js";
import { type Found, processesOf, startedSoFar } from "./own-processes.js";

// A directory for this worker, inherited by whatever its tests start, so that leaks can be told. A worker runs many files, and this for each.
const own = path.join(process.env.TEST_WORKERS as string, `worker-${process.env.VITEST_POOL_ID}`);
fs.mkdirSync(own, { recursive: true, mode: 0o700 });
process.env.TEST_ROOT = own;

/** What a file changes in its worker is as before for the next file. */
const before = { env: { ...process.env }, cwd: process.cwd(), umask: process.umask() };
function restoreWorker(): void {
	vi.useRealTimers();
	vi.restoreAllMocks();
	vi.unstubAllEnvs();
	for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name];
	Object.assign(process.env, before.env);
	process.chdir(before.cwd);
	process.umask(before.umask);
}

/** What was there when the file had made what its tests share. */
let shared: { processes: ReadonlySet<string>; watchers: number } = { processes: new Set(), watchers: 0 };
onShared(() => {
	shared = { processes: new Set(processesOf(testRoot()).map(({ id }) => id)), watchers: openWatchers().length };
});

/** What had been started at the last look that found nothing: a look takes longer than most tests that start nothing. */
let looked = startedSoFar();

afterEach(() => inOrder([endTest, nothingLeft]));

afterAll(() =>
	inOrder([
		endFile,
		restoreWorker,
		() => {
			shared = { processes: new Set(), watchers: 0 };
			sharedDirs.clear();
			looked = undefined; // after the last test in any case
		},
		nothingLeft,
	]),
);

async function nothingLeft(): Promise<void> {
	const root = testRoot();
	const processes = await processesLeft(root);
	for (const one of processes) if (isAlive(one)) process.kill(one.pid, "SIGKILL"); // so that one bad test does not fail the next
	let watchers = openWatchers();
	for (const deadline = Date.now() + SETTLE_MS; watchers.length > shared.watchers && Date.now() < deadline; watchers = openWatchers()) await sleep(10);
	watchers.splice(0, shared.watchers);
	const files = fs.readdirSync(root).filter((name) => !sharedDirs.has(name));
	for (const name of files) fs.rmSync(`${root}/${name}`, { recursive: true, force: true });
	expect({ processes, watchers, files }).toEqual({ processes: [], watchers: [], files: [] });
}

const openWatchers = (): string[] => process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap");

async function processesLeft(root: string): Promise<Found[]> {
	const started = shared.processes.size > 0 ? undefined : startedSoFar();
	if (started !== undefined && started === looked) return [];
	const left = await untilGone(() => processesOf(root).filter(({ id }) => !shared.processes.has(id)));
	looked = left.length > 0 ? undefined : started;
	return left;
}

/** What is ending gets a minute to be gone: on a busy machine the last steps of several keepers take their time. */
const SETTLE_MS = 60_000;

/** Looks at the whole machine only when those found before are gone. */
async function untilGone(look: () => Found[]): Promise<Found[]> {
	const deadline = Date.now() + SETTLE_MS;
	for (let found = look(); ; found = look()) {
		while (found.some(isAlive) && Date.now() < deadline) await sleep(10);
		if (found.length === 0 || Date.now() >= deadline) return found.filter(isAlive);
	}
}
