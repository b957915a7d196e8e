/** A gigabyte that a process on another machine prints, followed here; and 64 processes there on one link. */
import fs from "node:fs";
import path from "node:path";
import { bareRead } from "./bare.mjs";
import { remotePlaces } from "./far.mjs";
import { inLanes, LANES, median, mustRun, percentile, sleep, timed, within } from "./lib.mjs";
import { missingRow, row } from "./report.mjs";

const COMMANDS = [
	{ name: "yes", text: (bytes) => `yes | head -c ${bytes}` },
	{ name: "zeros", text: (bytes) => `head -c ${bytes} /dev/zero` },
];
const WHOLE = { limit: 2 * 1024 ** 3 }; // more than is printed: nothing is dropped
const MANY = 64;
const STUCK_MS = 300_000;
const LINE_MS = 20_000;

export default async function bulk(bench) {
	const rows = [];
	for (const place of await remotePlaces(bench, "bulk", ["ssh", "docker"])) {
		if (place.missing) rows.push(missingRow(place.name, place.missing));
		else rows.push(...(await many(bench, place)), ...(await throughput(bench, place)));
	}
	return rows;
}

async function throughput(bench, { name, runtime, there }) {
	const bytes = bench.count(2 ** 30, 2 ** 25);
	const speed = (ms) => bytes / 1e3 / ms;
	const rows = [];
	for (const { name: what, text } of COMMANDS) {
		const speeds = { raw: [], followed: [] };
		for (let round = 0; round < bench.count(3, 1); round++) {
			speeds.raw.push(speed(await timed(() => whole(bytes, (onData) => bareRead(there(text(bytes)), (chunk) => onData(chunk.length))))));
			speeds.followed.push(speed(await timed(() => whole(bytes, (onData) => follow(runtime, text(bytes), onData)))));
		}
		rows.push(
			row({
				what: `${name}: following ${what}, ${bytes / 2 ** 20} MiB`,
				value: median(speeds.followed),
				unit: "MB/s",
				baselines: [{ name: `${name === "ssh" ? "ssh" : "docker exec"}, read by Node`, value: median(speeds.raw) }],
			}),
		);
	}
	return rows;
}

async function whole(bytes, read) {
	let got = 0;
	await read((length) => {
		got += length;
	});
	if (got !== bytes) throw new Error(`${got} of ${bytes} bytes have come`);
}

async function follow(runtime, command, onData) {
	const process = await runtime.spawn({ command, log: WHOLE });
	for await (const slice of process.follow({ signal: AbortSignal.timeout(STUCK_MS) })) onData(slice.bytes.length);
	const status = process.status();
	if (status.status !== "exited") throw new Error(`not done: ${JSON.stringify(status)}`);
	for (const name of fs.readdirSync(process.dir)) if (name.startsWith("out.")) fs.truncateSync(path.join(process.dir, name)); // give the disk its room back
}

/** Each waits for a line and answers it with one that a follower here sees. */
async function many(bench, { name, runtime, owns }) {
	const processes = [];
	const startMs = await timed(async () => processes.push(...(await inLanes(MANY, () => runtime.spawn({ command: "exec cat", stdin: true })))));
	const stops = processes.map(() => new AbortController());
	const arrivals = new Map();
	const followers = processes.map(async (process, index) => {
		for await (const slice of process.follow({ signal: stops[index].signal })) if (slice.bytes.length > 0) arrivals.get(process.id)?.(performance.now());
	});
	const line = async (process) => {
		const arrived = new Promise((resolve) => arrivals.set(process.id, resolve));
		const begun = performance.now();
		await process.write("x\n");
		return (await within(LINE_MS, `a line of ${process.id}`, arrived)) - begun;
	};
	for (const process of processes) await line(process);
	const times = [];
	for (let round = 0; round < bench.count(10, 2); round++) for (const process of processes) times.push(await line(process));
	const atOnce = [];
	for (let round = 0; round < bench.count(10, 2); round++) atOnce.push(await timed(() => Promise.all(processes.map(line))));
	mustRun(processes);
	await sleep(1_000); // what that has left to do
	const idle = await loopCpu(owns, bench.count(20_000, 2_000));
	for (const stop of stops) stop.abort();
	await Promise.allSettled(followers);
	await Promise.all(processes.map((process) => process.kill({ graceMs: 200 })));
	const what = `${name}: ${MANY} processes on one link`;
	return [
		row({ what: `${what}: all of them started, ${LANES} at a time`, value: startMs, unit: "ms" }),
		row({ what: `${what}: a line to one of them and its echo at the follower, p50`, value: median(times), unit: "ms" }),
		row({ what: "the same, p90", value: percentile(times, 0.9), unit: "ms" }),
		row({ what: `${what}: a line to all of them at once, until the last echo`, value: median(atOnce), unit: "ms" }),
		row({ what: `${what}: CPU of the remote end while nothing happens`, value: idle, unit: "%" }),
	];
}

/** The remote end runs on this machine, whatever it thinks: a process of this name, with the shell that is its parent. */
async function loopCpu(owns, ms) {
	const pids = fs.readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commOf(pid) === "holdfast-link /" && owns(pid));
	if (pids.length !== 1) throw new Error(`${pids.length} remote ends where one was expected`);
	const all = [...pids, ...pids.map(parentOf)];
	const before = all.map(cpuNs);
	await sleep(ms);
	return (100 * all.reduce((sum, pid, index) => sum + cpuNs(pid) - before[index], 0)) / 1e6 / ms;
}

const commOf = (pid) => {
	try {
		return fs.readFileSync(`/proc/${pid}/comm`, "latin1").trimEnd();
	} catch {
		return ""; // it has gone
	}
};
const parentOf = (pid) =>
	fs
		.readFileSync(`/proc/${pid}/stat`, "latin1")
		.replace(/^.*\) /s, "")
		.split(" ")[1];
const cpuNs = (pid) => Number(fs.readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[0]);
