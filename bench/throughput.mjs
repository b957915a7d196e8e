/** A gigabyte of output: how fast it can be read, and what that costs the reading program. */
import fs from "node:fs";
import path from "node:path";
import { bareRead } from "./bare.mjs";
import { cpuMs, median } from "./lib.mjs";
import { atLeast, atMost, row } from "./report.mjs";

const COMMANDS = [
	{ name: "yes", text: (bytes) => `yes | head -c ${bytes}` },
	{ name: "zeros", text: (bytes) => `head -c ${bytes} /dev/zero` },
];
const STUCK_MS = 60_000;
const WHOLE = { limit: 2 * 1024 ** 3 }; // more than is printed: nothing is dropped, and the writer is never held up

export default async function throughput(bench) {
	const bytes = bench.count(1e9, 2e8);
	const runtime = await bench.runtime("throughput");
	const rows = [];
	for (const { name, text } of COMMANDS) {
		const command = text(bytes);
		const runs = { pipe: [], whole: [], ring: [] };
		for (let round = 0; round < bench.count(3, 1); round++) {
			runs.pipe.push(whole(await measure(bytes, (onData) => bareRead(["bash", "-c", command], (chunk) => onData(chunk.length)))));
			runs.whole.push(whole(await measure(bytes, (onData) => follow(runtime, { command, log: WHOLE }, onData))));
			runs.ring.push(await measure(bytes, (onData) => follow(runtime, { command }, onData)));
			for (const process of runtime.list()) emptyLog(process.dir);
		}
		const of = (kind, field) => median(runs[kind].map((run) => run[field]));
		const beside = (field) => [{ name: "pipe", value: of("pipe", field) }];
		const dropped = `${(100 * of("ring", "dropped")).toFixed(1)}% dropped before it was read`;
		rows.push(
			row({ what: `reading ${name}, whole log`, value: of("whole", "speed"), unit: "MB/s", baselines: beside("speed"), target: atLeast(0.6) }),
			row({ what: `CPU of the reader, ${name}, whole log`, value: of("whole", "cpu"), unit: "ms", baselines: beside("cpu"), target: atMost(1) }),
			row({ what: `reading ${name}, default ring`, value: of("ring", "speed"), unit: "MB/s", baselines: beside("speed"), target: atLeast(0.6), note: dropped }),
			row({ what: `CPU of the reader, ${name}, default ring`, value: of("ring", "cpu"), unit: "ms", baselines: beside("cpu"), target: atMost(1) }),
		);
	}
	return rows;
}

/** Speed in MB/s of what was printed, from the start of the command to the last byte read; CPU in ms. */
async function measure(bytes, read) {
	let got = 0;
	const cpu = process.cpuUsage();
	const begun = performance.now();
	await read((length) => {
		got += length;
	});
	const seconds = (performance.now() - begun) / 1000;
	return { speed: bytes / 1e6 / seconds, cpu: cpuMs(cpu), dropped: 1 - got / bytes };
}

function whole(run) {
	if (run.dropped !== 0) throw new Error(`${100 * run.dropped}% of the output is missing`);
	return run;
}

async function follow(runtime, options, onData) {
	const process = await runtime.spawn(options);
	for await (const slice of process.follow({ signal: AbortSignal.timeout(STUCK_MS) })) onData(slice.bytes.length);
	const status = process.status();
	if (status.status !== "exited")
		throw new Error(`not done after ${STUCK_MS / 1000} s: ${JSON.stringify(status)}, log ${JSON.stringify(process.log.bounds())}`);
}

/** Give the disk its room back without removing files: the next run shall not wait for this one's bytes to be written. */
function emptyLog(dir) {
	for (const name of fs.readdirSync(dir)) if (name.startsWith("out.")) fs.truncateSync(path.join(dir, name));
}
