/** Killing, with proof that nobody is left: a thousand at once, and one tree that tries to get away. */
import { bareStartMs } from "./bare.mjs";
import { median, mustRun, startMany } from "./lib.mjs";
import { atMost, row } from "./report.mjs";

// 21 processes: ten in sessions of their own whose parents are gone, nine children, and the shell itself beside its last sleep.
const TREE = "for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sleep 600 &); done; for i in 1 2 3 4 5 6 7 8 9; do sleep 600 & done; echo up; sleep 600; :";

export default async function kill(bench) {
	return [await killMany(bench), await killTree(bench)];
}

async function killMany(bench) {
	const count = bench.count(1_000, 150);
	const runtime = await bench.runtime("kill-many", { maxRunning: 5_000 });
	const started = await startMany(runtime, count, "sleep 600");
	const before = await bareStartMs();
	mustRun(started);
	const begun = performance.now();
	const results = await Promise.all(started.map((process) => process.kill()));
	const took = performance.now() - begun;
	const bare = (before + (await bareStartMs())) / 2;
	mustBeKilled(results);
	return row({
		what: `killing ${count} processes at once, with proof`,
		value: took,
		unit: "ms",
		baselines: [{ name: `${count} bare starts`, value: count * bare }],
		target: atMost(1),
		note: `by ${results[0].method}`,
	});
}

async function killTree(bench) {
	const runtime = await bench.runtime("kill-tree");
	const times = [];
	const bare = [];
	let result;
	for (let round = 0; round < bench.count(9, 3); round++) {
		const tree = await runtime.spawn({ command: TREE });
		await tree.wait({ until: { pattern: "up" } });
		bare.push(await bareStartMs(5));
		const begun = performance.now();
		result = await tree.kill();
		times.push(performance.now() - begun);
		mustBeKilled([result]);
	}
	return row({
		what: `killing a tree of ${result.signalled.length}, half of it in other sessions`,
		value: median(times),
		unit: "ms",
		baselines: [{ name: "bare start", value: median(bare) }],
		note: `by ${result.method}`,
	});
}

function mustBeKilled(results) {
	const wrong = results.find((result) => result.status !== "killed" || result.survivors.length > 0 || result.final.status !== "killed");
	if (wrong) throw new Error(`not killed as it should be: ${JSON.stringify(wrong)}`);
}
