/** What a runaway of one task costs another: the round trip of `true` in a shell while a fork bomb, a memory hog, a disk filler or `yes` runs into its limit. */
import path from "node:path";
import { median, percentile, sleep, timed } from "./lib.mjs";
import { atMost, missingRow, row } from "./report.mjs";
import { terminalOf } from "./shell.mjs";

const GAP_MS = 5;
const SECONDS = 4;

export default async function limits(bench) {
	bench.leaveProfilesOut();
	const runtime = await bench.runtime("limits");
	const quiet = terminalOf(runtime, { task: "quiet" });
	for (let i = 0; i < 50; i++) await quiet("true");
	const rows = [];
	for (const { name, command, limits, expect } of runaways(bench)) {
		const what = `\`true\` in another task beside ${name}`;
		if (!runtime.boundaries.by("pids", "process")?.startsWith("cgroup")) {
			rows.push(missingRow(what, "no control groups can be made here, and nothing else makes this safe to try"));
			continue;
		}
		const times = { idle: [], beside: [] };
		for (let round = 0; round < bench.count(5, 2); round++) {
			await roundTrips(quiet, times.idle, SECONDS * 400);
			const wild = await runtime.spawn({ command, task: "wild", limits: { time: SECONDS, ...limits } });
			await sleep(300); // until it is at it
			await roundTrips(quiet, times.beside, SECONDS * 400);
			const { status } = await wild.wait({ timeout: 20_000 });
			for (let look = 0; look < 100 && (await wild.leftovers()).length > 0; look++) await sleep(100); // a bomb may outlive its shell for a moment
			if (!expect.includes(status.limit?.name)) throw new Error(`${name} ended without naming its limit: ${JSON.stringify(status)}`);
		}
		const beside = (of) => [{ name: "idle", value: of(times.idle) }];
		rows.push(row({ what, value: median(times.beside), unit: "ms", baselines: beside(median), target: atMost(2) }));
		const p90 = (values) => percentile(values, 0.9);
		rows.push(row({ what: `${what}, p90`, value: p90(times.beside), unit: "ms", baselines: beside(p90) }));
	}
	return rows;
}

function runaways(bench) {
	const file = path.join(bench.dir("filled"), "file");
	return [
		{ name: "a fork bomb", command: "bomb() { bomb | bomb & }; bomb; sleep 1000", limits: { pids: 200, time: 60 }, expect: ["pids"] },
		{
			name: "a memory hog, again and again",
			command: `while :; do perl -e '$x .= "x" x 1e6 while 1'; done`,
			limits: { memory: "2G" },
			expect: ["time", "memory"],
		},
		{ name: "a disk filler, again and again", command: `while :; do cat /dev/zero >'${file}'; done`, limits: { file_size: "256M" }, expect: ["time"] },
		{ name: "`yes`", command: "yes", limits: { output: "1T" }, expect: ["time"] },
	];
}

async function roundTrips(terminal, times, ms) {
	for (const end = performance.now() + ms; performance.now() < end; ) {
		times.push(await timed(() => terminal("true")));
		await sleep(GAP_MS);
	}
}
