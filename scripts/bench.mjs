// Measure Holdfast beside what it is compared with, and print one table. See bench/README.md.
import { fork } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { ensureDependencies, root as project, run } from "./setup.mjs";

const NAMES = [
	"start",
	"latency",
	"throughput",
	"scale",
	"recovery",
	"kill",
	"many-starts",
	"shell",
	"mcp",
	"cli",
	"keystroke",
	"page",
	"tasks",
	"concurrent",
	"waiting",
	"limits",
	"sandbox",
	"places",
	"places-bulk",
	"places-files",
	"context",
	"agent",
	"gateway",
	"runs",
	"episodes",
	"data",
	"browser",
];
const options = parse();
const limitMs = (options.quick ? 5 : 20) * 60_000; // of one measurement: all of them are far below

ensureDependencies();
run(process.execPath, [path.join(project, "scripts/build.mjs")], { stdio: ["ignore", 2, 2] }); // stdout is for the result
// Not before there is a build to import.
const { table } = await import("../bench/report.mjs");
const { removeAll } = await import("../bench/leftovers.mjs");

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "holdfast-bench-"));
const running = { child: undefined, stopped: false };
for (const signal of ["SIGINT", "SIGTERM"]) {
	process.on(signal, () => {
		running.stopped = true;
		running.child?.kill(signal);
	});
}

const rows = [];
try {
	for (const name of options.only ?? NAMES) {
		if (running.stopped) break;
		console.error(`${name} ...`);
		const found = await measure(name);
		if (!running.stopped) rows.push(...found.map((row) => ({ name, ...row })));
	}
} finally {
	// Only now: ext4 is slow to make files right after many were removed.
	console.error("cleaning up ...");
	await removeAll(root);
}
console.log(
	options.json ? JSON.stringify({ machine: machine(), quick: options.quick === true, rows }, null, "\t") : `\n${describe(machine())}\n\n${table(rows)}`,
);
process.exitCode = running.stopped ? 130 : rows.some((row) => row.failed) ? 1 : 0;

function parse() {
	try {
		const { values } = parseArgs({ options: { json: { type: "boolean" }, quick: { type: "boolean" }, only: { type: "string", multiple: true } } });
		const unknown = values.only?.find((name) => !NAMES.includes(name));
		if (unknown) throw new Error(`there is no measurement "${unknown}"; there are: ${NAMES.join(", ")}`);
		return values;
	} catch (error) {
		console.error(error.message);
		process.exit(2);
	}
}

function measure(name) {
	return new Promise((resolve, reject) => {
		let found = [{ failed: "it ended without a result" }];
		const child = fork(path.join(project, "bench/one.mjs"), [name, root, ...(options.quick ? ["--quick"] : [])], { stdio: ["ignore", 2, 2, "ipc"] });
		running.child = child;
		const late = setTimeout(() => {
			found = [{ failed: `not done after ${limitMs / 60_000} minutes` }];
			child.kill("SIGTERM"); // it ends what it has started, and then itself
			setTimeout(() => child.kill("SIGKILL"), 60_000).unref();
		}, limitMs);
		child.on("message", (message) => {
			found = message.rows;
		});
		child.once("error", reject);
		child.once("exit", () => {
			clearTimeout(late);
			resolve(found);
		});
	});
}

function machine() {
	return { node: process.version, kernel: os.release(), cores: os.cpus().length, cpu: os.cpus()[0]?.model ?? "", load: os.loadavg()[0] };
}

function describe({ node, kernel, cores, cpu, load }) {
	return `Node ${node}, Linux ${kernel}, ${cores} cores (${cpu}), load ${load.toFixed(1)}${options.quick ? ", --quick" : ""}`;
}
