import { execFile, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { within } from "./lib.mjs";

const run = promisify(execFile);
const ANSWER_MS = 5_000;

/**
 * tmux with its server already running: `{ name, start }`, or `{ name, missing }`. The command writes a file that we watch:
 * the quickest there is with tmux, since what it captures itself (pipe-pane) goes through one more program.
 */
export async function tmux(bench) {
	const name = "tmux";
	if (spawnSync("tmux", ["-V"], { stdio: "ignore" }).status !== 0) return { name, missing: "not installed" };
	const dir = bench.dir("tmux");
	const server = ["-L", `holdfast-bench-${process.pid}`, "-f", "/dev/null"];
	const options = { env: { ...process.env, TMUX_TMPDIR: dir, TMUX: "" } }; // its socket goes with the rest
	await run("tmux", [...server, "new-session", "-d", "-s", "hold", "sleep 3600"], options);
	bench.atEnd(() => run("tmux", [...server, "kill-server"], options));
	let count = 0;
	const start = async () => {
		const file = path.join(dir, `out.${count++}`);
		const begun = performance.now();
		const written = firstByte(file);
		await Promise.all([within(ANSWER_MS, "tmux", written), run("tmux", [...server, "new-session", "-d", `echo hi >${file}`], options)]);
		return (await written) - begun;
	};
	return { name, start };
}

/** When a file that is still to be made has something in it. */
function firstByte(file) {
	return new Promise((resolve) => {
		const watcher = fs.watch(path.dirname(file), (_, changed) => {
			if (changed !== path.basename(file) || !fs.statSync(file, { throwIfNoEntry: false })?.size) return;
			watcher.close();
			resolve(performance.now());
		});
	});
}
