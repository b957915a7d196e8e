/** After each test: no process, no watcher and no directory of it may be left. A test that leaves one fails. */
import fs from "node:fs";
import path from "node:path";
import { afterEach, expect } from "vitest";
import { readProc } from "../../src/base/proc.js";
import { Snapshot } from "../../src/process/tree.js";
import { runCleanups, testRoot } from "./home.js";

// A directory for this worker, inherited by whatever its tests start, so that leaks can be told.
const own = path.join(testRoot(), `worker-${process.env.VITEST_POOL_ID}`);
fs.mkdirSync(own, { recursive: true, mode: 0o700 });
process.env.TEST_ROOT = own;

afterEach(async () => {
	await runCleanups();
	const root = testRoot();
	const processes = await settles(() => processesOf(root));
	for (const { pid } of processes) process.kill(pid, "SIGKILL"); // so that one bad test does not fail the next
	const watchers = await settles(openWatchers);
	const files = fs.readdirSync(root);
	for (const name of files) fs.rmSync(`${root}/${name}`, { recursive: true, force: true });
	expect({ processes, watchers, files }).toEqual({ processes: [], watchers: [], files: [] });
});

/** Processes that have this run's directory in their arguments or environment; other people's are none of our business. */
function processesOf(root: string): { pid: number; argv: string }[] {
	const found: { pid: number; argv: string }[] = [];
	for (const stat of new Snapshot().stats.values()) {
		if (stat.pid === process.pid || stat.pid === process.ppid) continue;
		const argv = readProc(`/proc/${stat.pid}/cmdline`) ?? "";
		const environ = readProc(`/proc/${stat.pid}/environ`) ?? "";
		if (argv.includes(`${root}/`) || environ.includes(`TEST_ROOT=${root}`)) found.push({ pid: stat.pid, argv: argv.replaceAll("\0", " ").slice(0, 200) });
	}
	return found;
}

const openWatchers = (): string[] => process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap");

/** What is ending gets ten seconds to be gone: on a busy machine the last steps of several keepers take their time. */
async function settles<T>(look: () => T[]): Promise<T[]> {
	const deadline = Date.now() + 10_000;
	for (;;) {
		const found = look();
		if (found.length === 0 || Date.now() > deadline) return found;
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}
