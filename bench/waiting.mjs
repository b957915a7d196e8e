/** Programs on a terminal: how soon it is known that one waits for input, and how often that is said of one that does not. */
import fs from "node:fs";
import http from "node:http";
import { untilWaiting, waitingFor } from "../dist/screen/index.js";
import { NOT_WAITING, WAITING, which } from "../test/screen/cases.mjs";
import { sleep } from "./lib.mjs";
import { atMost, missingRow, row } from "./report.mjs";

const SAMPLES = 1_000;
const EVERY_MS = 5;
const TIMEOUT_MS = 30_000;

export default async function waiting(bench) {
	const runtime = await bench.runtime("waiting");
	const rows = [];
	for (const [program, command, kind] of WAITING) {
		const what = `\`${short(command)}\` waits for ${kind}`;
		if (!which(program)) {
			rows.push(missingRow(what, `${program} is not installed`));
			continue;
		}
		const times = [];
		for (let round = 0; round < bench.count(5, 1); round++) times.push(await timeToReport(bench, runtime, command, kind));
		const note = times.length > 1 ? `slowest of ${times.length}` : undefined;
		rows.push(row({ what, value: Math.max(...times), unit: "ms", target: atMost(300, "ms"), note }));
	}
	return [...rows, await falseAlarms(bench, runtime)];
}

/** The ms from its last output to the report. Of one that prints nothing: from when it was first seen in the read. */
async function timeToReport(bench, runtime, command, kind) {
	const process = await onTerminal(bench, runtime, command);
	const done = new AbortController();
	const { signal } = done;
	const printed = lastOutput(process, signal);
	const blocked = firstSeenReading(process, signal);
	const result = await untilWaiting(process, { timeout: TIMEOUT_MS });
	const reported = performance.now();
	done.abort();
	if (result.waiting_for !== kind) throw new Error(`${command}: ${JSON.stringify(result)}`);
	const since = (await printed) ?? (await blocked);
	await process.kill({ graceMs: 200 });
	return reported - since;
}

async function lastOutput(process, signal) {
	let last;
	for await (const _ of process.follow({ signal })) last = performance.now();
	return last;
}

async function firstSeenReading(process, signal) {
	while (!signal.aborted) {
		if (readsTerminal(process.pid)) return performance.now();
		await sleep(1);
	}
	return performance.now();
}

const READ = { x64: "0", arm64: "63" }[process.arch]; // the number of the system call

/** It, or somebody below it, is blocked in a read of its terminal. */
function readsTerminal(pid) {
	try {
		const [call, fd] = fs.readFileSync(`/proc/${pid}/syscall`, "latin1").split(" ");
		if (call === READ && fs.readlinkSync(`/proc/${pid}/fd/${Number(fd)}`).startsWith("/dev/pts/")) return true;
		return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).some(readsTerminal);
	} catch {
		return false; // it has gone
	}
}

async function falseAlarms(bench, runtime) {
	const server = await silentServer();
	const curl = ["curl", `echo up; curl -s ${server.url}`];
	const cases = [...NOT_WAITING, curl].filter(([program]) => which(program));
	const each = Math.ceil(bench.count(SAMPLES, 160) / cases.length);
	let samples = 0;
	const alarms = [];
	for (const [, command] of cases) {
		const process = await onTerminal(bench, runtime, command);
		const look = async (count) => {
			for (let i = 0; i < count; i++) {
				const found = await waitingFor(process);
				samples++;
				if (found.waiting) alarms.push(`${command}: ${found.waiting_evidence}`);
				await sleep(EVERY_MS);
			}
		};
		await look(Math.floor(each / 2)); // while it starts
		const { matched } = await process.wait({ until: { pattern: "up" }, timeout: TIMEOUT_MS });
		if (matched !== "pattern") throw new Error(`${command} did not come up`);
		await look(Math.ceil(each / 2));
		if (process.status().status !== "running") throw new Error(`${command} has ended`);
		await process.kill({ graceMs: 200 });
	}
	server.close();
	for (const alarm of alarms) console.error(`false alarm: ${alarm}`);
	const unit = `of ${samples}`;
	return row({ what: `false alarms for ${cases.length} programs that do not wait`, value: alarms.length, unit, target: atMost(0, unit) });
}

/** One that takes a request and never answers. */
async function silentServer() {
	const server = http.createServer(() => {});
	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	const close = () => {
		server.closeAllConnections();
		server.close();
	};
	return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

let programs = 0;

/** In an empty directory that is also its home: no settings of whoever runs this. */
function onTerminal(bench, runtime, command) {
	const dir = bench.dir(`program-${++programs}`);
	return runtime.spawn({ command, terminal: { cols: 80, rows: 24 }, cwd: dir, env: { HOME: dir } });
}

const short = (command) => (command.length > 60 ? `${command.slice(0, 29)}…${command.slice(-30)}` : command);
