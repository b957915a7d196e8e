/** A program that starts anew finds what is still running. */
import { bareStartMs } from "./bare.mjs";
import { freshList } from "./fresh-list.mjs";
import { median, mustRun, startMany } from "./lib.mjs";
import { atMost, row } from "./report.mjs";

const BARE_STARTS = 50;

export default async function recovery(bench) {
	const count = bench.count(1_000, 150);
	const runtime = await bench.runtime("recovery", { maxRunning: 5_000 });
	const started = await startMany(runtime, count, "sleep 600");
	const bare = [];
	const scans = [];
	for (let round = 0; round < bench.count(7, 3); round++) {
		bare.push(await bareStartMs(20));
		scans.push(await freshList(runtime.home.root));
	}
	mustRun(started);
	const wrong = scans.find((scan) => scan.found !== count);
	if (wrong) throw new Error(`a new program found ${wrong.found} of ${count} processes`);
	const budget = [{ name: `${BARE_STARTS} bare starts`, value: BARE_STARTS * median(bare) }];
	const result = (what, field, target) => row({ what, value: median(scans.map((scan) => scan[field])), unit: "ms", baselines: budget, target });
	return [result(`list of ${count} running processes in a new program`, "listMs", atMost(1)), result("the same, with opening the runtime", "totalMs")];
}
