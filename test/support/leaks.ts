/** After each test: no process, no watcher and no directory of it may be left. A test that leaves one fails. After the last: nothing at all. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, expect } from "vitest";
import { type Identity, isAlive, readProc } from "../../src/base/proc.js";
import { ProcessSnapshot } from "../../src/process/tree.js";
import { endFile, endTest, inOrder, onShared, sharedDirs, testRoot } from "./home.js";

// A directory for this worker, inherited by whatever its tests start, so that leaks can be told.
const own = path.join(testRoot(), `worker-${process.env.VITEST_POOL_ID}`);
fs.mkdirSync(own, { recursive: true, mode: 0o700 });
process.env.TEST_ROOT = own;

/** What was there when the file had made what its tests share. */
let shared: { processes: ReadonlySet<string>; watchers: number } = { processes: new Set(), watchers: 0 };
onShared(() => {
	shared = { processes: new Set(processesOf(testRoot()).map(({ id }) => id)), watchers: openWatchers().length };
});

afterEach(() => inOrder([endTest, nothingLeft]));

afterAll(() =>
	inOrder([
		endFile,
		() => {
			shared = { processes: new Set(), watchers: 0 };
			sharedDirs.clear();
		},
		nothingLeft,
	]),
);

async function nothingLeft(): Promise<void> {
	const root = testRoot();
	const processes = await untilGone(() => processesOf(root).filter(({ id }) => !shared.processes.has(id)));
	for (const one of processes) if (isAlive(one)) process.kill(one.pid, "SIGKILL"); // so that one bad test does not fail the next
	let watchers = openWatchers();
	for (const deadline = Date.now() + SETTLE_MS; watchers.length > shared.watchers && Date.now() < deadline; watchers = openWatchers()) await sleep(10);
	watchers.splice(0, shared.watchers);
	const files = fs.readdirSync(root).filter((name) => !sharedDirs.has(name));
	for (const name of files) fs.rmSync(`${root}/${name}`, { recursive: true, force: true });
	expect({ processes, watchers, files }).toEqual({ processes: [], watchers: [], files: [] });
}

interface Found extends Identity {
	readonly id: string;
	readonly argv: string;
}

/** Processes of other people that have had the time to become what they are: reading their arguments after every test costs more than most tests do. */
let strangers: ReadonlySet<string> = new Set();
const SETTLED_TICKS = 500; // five seconds: by then what was forked has called exec

/** Processes that have this run's directory in their arguments or environment; other people's are none of our business. */
function processesOf(root: string): Found[] {
	const found: Found[] = [];
	const known = new Set<string>();
	const now = Number(fs.readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 100;
	for (const { pid, start } of new ProcessSnapshot().stats.values()) {
		if (pid === process.pid || pid === process.ppid) continue;
		const id = `${pid} ${start}`;
		if (strangers.has(id)) {
			known.add(id);
			continue;
		}
		const argv = readProc(`/proc/${pid}/cmdline`) ?? "";
		const environ = readProc(`/proc/${pid}/environ`) ?? "";
		if (argv.includes(`${root}/`) || environ.includes(`TEST_ROOT=${root}`)) found.push({ id, pid, start, argv: argv.replaceAll("\0", " ").slice(0, 200) });
		else if (now - Number(start) > SETTLED_TICKS) known.add(id);
	}
	strangers = known;
	return found;
}

const openWatchers = (): string[] => process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap");

/** What is ending gets a minute to be gone: on a busy machine the last steps of several keepers take their time. */
const SETTLE_MS = 60_000;

/** Looks at the whole machine only when those found before are gone: that costs more than most tests do. */
async function untilGone(look: () => Found[]): Promise<Found[]> {
	const deadline = Date.now() + SETTLE_MS;
	for (let found = look(); ; found = look()) {
		while (found.some(isAlive) && Date.now() < deadline) await sleep(10);
		if (found.length === 0 || Date.now() >= deadline) return found.filter(isAlive);
	}
}
