/** Old processes cost nothing: neither a start nor a list gets slower by what has ended. */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { freshList } from "./fresh-list.mjs";
import { median, sleep, startMany } from "./lib.mjs";
import { atMost, row } from "./report.mjs";
import { holdfastStart } from "./start.mjs";

const SAMPLE = 20;
const GAP_MS = 15;
const HOUR_MS = 3_600_000;
const OLDEST_MS = 6 * 24 * HOUR_MS; // nothing old enough to be pruned
const YOUNGEST_MS = 31 * 60_000; // and nothing that `list` would show

export default async function manyStarts(bench) {
	return [...(await starts(bench)), ...(await lists(bench))];
}

/** The last starts in a home with thousands of ended processes, beside as many in a new home at the same time. */
async function starts(bench) {
	const count = bench.count(10_000, 1_000);
	const runtime = await bench.runtime("many-starts");
	await sleep(200); // the first warm keepers
	const first = await startSome(runtime);
	await startMany(runtime, count - 2 * SAMPLE, "true");
	const fresh = await bench.runtime("many-starts-new");
	await sleep(2_000); // what the crowd has left to do, the pruning of the new home included
	const last = [];
	const control = [];
	for (let half = 0; half < 2; half++) {
		control.push(...(await startSome(fresh, SAMPLE / 2)));
		last.push(...(await startSome(runtime, SAMPLE / 2)));
	}
	const baselines = [
		{ name: "in a new home", value: median(control) },
		{ name: `first ${SAMPLE}`, value: median(first) },
	];
	return [row({ what: `start to first byte of the last ${SAMPLE} of ${count} processes`, value: median(last), unit: "ms", baselines, target: atMost(1.25) })];
}

async function startSome(runtime, count = SAMPLE) {
	const times = [];
	for (let i = 0; i < count; i++) {
		times.push(await holdfastStart(runtime));
		await sleep(GAP_MS);
	}
	return times;
}

/** `list` in a new program, and forgetting what is old, in a home with a long history and in one without. */
async function lists(bench) {
	const count = bench.count(100_000, 10_000);
	const old = await bench.runtime("old", { warm: 0 });
	const none = await bench.runtime("none", { warm: 0 });
	const model = await holdfastModel(old);
	await startMany(none, 1, "true");
	for (let i = 0; i < count; i++) fabricate(old, model, i / count);
	const list = async (runtime) => {
		const { found, listMs } = await freshList(runtime.home.root);
		if (found !== 1) throw new Error(`list found ${found} processes; it should find the one that was really run`);
		return listMs;
	};
	const times = { old: [], none: [], prune: [], pruneNone: [] };
	for (let round = 0; round < bench.count(9, 5); round++) {
		times.none.push(await list(none));
		times.old.push(await list(old));
		times.pruneNone.push(pruneMs(none));
		times.prune.push(pruneMs(old));
	}
	const entries = count.toLocaleString("en-US");
	return [
		row({
			what: `list in a new program, ${entries} old entries`,
			value: median(times.old),
			unit: "ms",
			baselines: [{ name: "none", value: median(times.none) }],
		}),
		row({
			what: `looking for what to prune, ${entries} old entries (blocks the program)`,
			value: median(times.prune),
			unit: "ms",
			baselines: [{ name: "none", value: median(times.pruneNone) }],
		}),
	];
}

function pruneMs(runtime) {
	const begun = performance.now();
	const { removed } = runtime.prune({ dryRun: true });
	if (removed.length > 0) throw new Error(`${removed.length} entries would be pruned; they were made to stay`);
	return performance.now() - begun;
}

/** What a real ended process looks like: its spec, and its files, but for empty ones and FIFOs. */
async function holdfastModel(runtime) {
	const [process] = await startMany(runtime, 1, "true");
	await process.wait();
	const names = fs.readdirSync(process.dir).filter((name) => name !== "spec.json" && fs.statSync(path.join(process.dir, name)).size > 0);
	return { spec: process.spec, files: names.map((name) => [name, fs.readFileSync(path.join(process.dir, name))]) };
}

/** A process that ended a while ago, with its ticket: the format of src/process/registry.ts. */
function fabricate(runtime, { spec, files }, share) {
	const id = `proc_${randomBytes(6).toString("hex")}`;
	const endedAt = Math.floor(Date.now() - YOUNGEST_MS - share * (OLDEST_MS - YOUNGEST_MS));
	const dir = path.join(runtime.home.procs, id.charAt(5), id);
	fs.mkdirSync(dir, { mode: 0o700 });
	fs.writeFileSync(path.join(dir, "spec.json"), `${JSON.stringify({ ...spec, id, cgroup: undefined, startedAt: endedAt - 1_000 })}\n`, { mode: 0o600 });
	for (const [name, content] of files) fs.writeFileSync(path.join(dir, name), content, { mode: 0o600 });
	const hour = path.join(runtime.home.ended, String(Math.floor(endedAt / HOUR_MS)));
	fs.mkdirSync(hour, { recursive: true, mode: 0o700 });
	const task = createHash("sha256").update(spec.task).digest("hex").slice(0, 12);
	fs.writeFileSync(path.join(hour, `${endedAt}.${id}.${task}.0`), "", { mode: 0o600 });
}
