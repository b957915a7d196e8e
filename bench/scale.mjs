/** A thousand processes that do nothing, then a hundred that talk: what they cost the runtime, and what their keepers cost. */
import { bareRead, bareStart } from "./bare.mjs";
import { clockCommand, clockMissing, clockReader } from "./clock.mjs";
import { cpuMs, inLanes, LANES, mustRun, percentile, sleep, startMany, timed } from "./lib.mjs";
import { keeperPids, sumPssKb } from "./memory.mjs";
import { atMost, missingRow, row } from "./report.mjs";

const CHATTY_EVERY_MS = 50;
const FOR_LONG = 3_000; // lines: they are stopped before

export default async function scale(bench) {
	const idle = bench.count(1_000, 150);
	const bareCount = bench.count(400, 100);
	const rssBefore = rssMb();
	const runtime = await bench.runtime("scale", { maxRunning: 5_000 });
	const started = [];
	const startMs = await timed(async () => started.push(...(await startMany(runtime, idle, "sleep 600"))));
	const bareMs = await timed(() => inLanes(bareCount, bareStart));
	const rows = [
		row({
			what: `starts per second up to ${idle} idle processes, ${LANES} at a time`,
			value: (idle / startMs) * 1000,
			unit: "/s",
			baselines: [{ name: "bare", value: (bareCount / bareMs) * 1000 }],
		}),
	];
	const waits = started.map((process) => process.wait());
	await sleep(1_000); // what the start has left to do
	rows.push(await cpuWhileIdle(bench.count(20_000, 5_000), `runtime with ${idle} idle processes, each waited for`));
	rows.push(
		row({
			what: `memory of the runtime (RSS) with ${idle} idle processes, each waited for`,
			value: rssMb(),
			unit: "MB",
			baselines: [{ name: "before the first", value: rssBefore }],
			target: atMost(80, "MB"),
		}),
	);
	rows.push(
		row({
			what: "memory of the keeper (PSS), per idle process",
			value: sumPssKb(started.flatMap(keeperPids)) / started.length,
			unit: "KB",
			note: `${keeperPids(started[0]).length} processes each`,
		}),
	);
	mustRun(started);
	rows.push(...(await chatty(bench, runtime, idle)));
	mustRun(started);
	await Promise.all(started.map((process) => process.kill()));
	await Promise.all(waits);
	return rows;
}

const rssMb = () => process.memoryUsage().rss / 1e6;

async function cpuWhileIdle(ms, what) {
	const before = process.cpuUsage();
	const elapsed = await timed(() => sleep(ms));
	return row({ what: `CPU of the ${what}`, value: (100 * cpuMs(before)) / elapsed, unit: "%", target: atMost(0.1, "%") });
}

/** The same hundred programs twice: read through pipes, and through Holdfast. The idle ones are there both times. */
async function chatty(bench, runtime, idle) {
	const missing = clockMissing();
	const count = bench.count(100, 30);
	const what = `with ${count} processes that print a line every ${CHATTY_EVERY_MS} ms beside ${idle} idle ones`;
	if (missing) return [missingRow(`write to callback ${what}`, missing)];
	const seconds = bench.count(8, 4);
	const argv = clockCommand(FOR_LONG, CHATTY_EVERY_MS);
	const piped = await listen(count, seconds, async (onData, stopped) => ({ ended: bareRead(argv, onData, stopped) }));
	const followed = await listen(count, seconds, async (onData, stopped) => ({ ended: follow(await runtime.spawn({ command: argv }), onData, stopped) }));
	const result = (share) =>
		row({
			what: `write to callback, p${share * 100}, ${what}`,
			value: percentile(followed.latencies, share),
			unit: "µs",
			baselines: [{ name: "pipes", value: percentile(piped.latencies, share) }],
		});
	const cpu = row({ what: `CPU of the runtime ${what}`, value: followed.cpu, unit: "%", baselines: [{ name: "pipes", value: piped.cpu }] });
	return [result(0.5), result(0.99), cpu];
}

async function follow(process, onData, stopped) {
	const killed = stopped.then(() => process.kill());
	for await (const slice of process.follow()) onData(slice.bytes);
	await killed;
}

/** Start some talkers, and listen once all of them talk: latencies in µs, our CPU in percent. */
async function listen(count, seconds, begin) {
	const latencies = [];
	let stop;
	const stopped = new Promise((resolve) => {
		stop = resolve;
	});
	let listening = false;
	const talkers = await inLanes(count, () => begin(clockReader(latencies, { counts: () => listening }), stopped));
	await sleep(500);
	const before = process.cpuUsage();
	listening = true;
	const elapsed = await timed(() => sleep(1_000 * seconds));
	listening = false;
	const cpu = (100 * cpuMs(before)) / elapsed;
	stop();
	await Promise.all(talkers.map(({ ended }) => ended));
	return { latencies, cpu };
}
