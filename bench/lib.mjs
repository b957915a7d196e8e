/** What every measurement needs: its options, a home, an end that leaves nothing running, and a little arithmetic. */
import fs from "node:fs";
import path from "node:path";
import { openAgentRuntime as openRuntime } from "../dist/tools/index.js";

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One run of one measurement. `root` is removed by whoever made it, after the last measurement: see README.md. */
export class Bench {
	#undo = [];

	constructor({ root, quick }) {
		this.root = root;
		this.quick = quick;
	}

	/** A count: the real one, or the one for a quick look. */
	count(full, quick) {
		return this.quick ? quick : full;
	}

	dir(name) {
		const dir = path.join(this.root, name);
		fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
		return dir;
	}

	/** Shells that this program, or one it starts, starts from now on read nobody's profile files but the machine's. */
	leaveProfilesOut() {
		process.env.HOME = this.dir("no-profile");
	}

	/** A runtime on a home of this run. When the measurement is over, whatever still runs in it is killed. */
	async runtime(name, options = {}) {
		const runtime = await openRuntime({ home: this.dir(name), ...options });
		this.atEnd(() => endAll(runtime));
		return runtime;
	}

	atEnd(undo) {
		this.#undo.push(undo);
	}

	async end() {
		for (let undo = this.#undo.pop(); undo; undo = this.#undo.pop()) await undo();
	}
}

export async function endAll(runtime) {
	await Promise.all(runtime.list({ task: null, ended: false, shells: true }).map((process) => process.kill({ graceMs: 200 })));
	await runtime.close();
}

const SETTLE_MS = 60; // between two contestants: nobody pays for what another has left to do

/**
 * Contestants by turns, a block each, for some rounds. Each is `{ name, time, block, gap }`: `time` resolves to the number
 * that counts, `block` is how many of them a turn has, `gap` the ms between two. Returns the numbers by name.
 */
export async function byTurns(rounds, contestants) {
	const times = Object.fromEntries(contestants.map(({ name }) => [name, []]));
	for (let round = 0; round < rounds; round++) {
		for (const { name, time, block, gap = 0 } of contestants) {
			for (let i = 0; i < block; i++) {
				times[name].push(await time());
				if (gap > 0) await sleep(gap);
			}
			await sleep(SETTLE_MS);
		}
	}
	return times;
}

export const LANES = 8;

/** Do something `count` times, LANES at a time. Returns what it returned, in the order in which it was done. */
export async function inLanes(count, action) {
	const results = [];
	let next = 0;
	const lane = async () => {
		while (next < count) {
			next++;
			results.push(await action());
		}
	};
	await Promise.all(Array.from({ length: LANES }, lane));
	return results;
}

export const startMany = (runtime, count, command) => inLanes(count, () => runtime.spawn({ command }));

/** Numbers about processes that somebody else has ended say nothing. */
export function mustRun(processes) {
	const gone = processes.map((process) => process.status()).filter((status) => status.status !== "running");
	if (gone.length > 0)
		throw new Error(`${gone.length} of ${processes.length} processes were ended by somebody else during the measurement: ${JSON.stringify(gone[0])}`);
}

export function percentile(values, share) {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (values) => percentile(values, 0.5);

/** How long something took, in ms. */
export async function timed(action) {
	const begun = performance.now();
	await action();
	return performance.now() - begun;
}

/** CPU time of this program, the runtime's included, in ms. */
export function cpuMs(since) {
	const { user, system } = process.cpuUsage(since);
	return (user + system) / 1000;
}

const CPUACCT = "/sys/fs/cgroup/cpuacct";

/**
 * Counts the CPU time of this program and of all that it starts from now on, orphans included: a control group of its own. Holdfast moves nothing out of the
 * controller that is used here. Returns a function for the ms until now, or says why there is none.
 */
export function cpuOfAll(bench) {
	const group = path.join(CPUACCT, `holdfast-bench-${process.pid}`);
	try {
		fs.mkdirSync(group);
		fs.writeFileSync(path.join(group, "cgroup.procs"), String(process.pid));
	} catch (error) {
		return { missing: `no cpuacct control group (${error.code})` };
	}
	bench.atEnd(async () => {
		for (let tries = 0; tries < 50; tries++) {
			try {
				for (const pid of fs.readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean))
					fs.writeFileSync(path.join(CPUACCT, "cgroup.procs"), pid);
				fs.rmdirSync(group);
				return;
			} catch {
				await sleep(100); // one of them has just ended
			}
		}
	});
	return { ms: () => Number(fs.readFileSync(path.join(group, "cpuacct.usage"), "utf8")) / 1e6 };
}

/** A promise with a time limit, for what a stranger has to answer. */
export function within(ms, what, promise) {
	let timer;
	const late = new Promise((_, reject) => {
		timer = setTimeout(() => reject(new Error(`${what}: no answer within ${ms} ms`)), ms);
	});
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
