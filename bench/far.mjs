/** Other machines to measure on: an sshd and a Docker engine of our own and what the tests have, and programs there that are talked to without Holdfast. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { dockerMissing, startDockerd } from "./dockerd.mjs";
import { within } from "./lib.mjs";
import { served } from "./served.mjs";
import { sshMissing, startSshd } from "./sshd.mjs";

const ANSWER_MS = 30_000;

const KINDS = {
	ssh: { missing: sshMissing, start: startSshd },
	docker: { missing: dockerMissing, start: startDockerd },
	apptainer: { start: served("apptainer") },
	slurm: { start: served("slurm") },
	"kubernetes, double": { start: served("kubernetes") },
	"modal, double": { start: served("modal") },
	"morph, double": { start: served("morph") },
};
const TASK = "bench";

/** Each kind of place that can be had here, with a runtime on it; of the others, why not. The runtime has run a command there. */
export async function remotePlaces(bench, what, only = Object.keys(KINDS)) {
	const places = [];
	for (const name of only) {
		const { missing, start } = KINDS[name];
		const dir = `${what}-${name.split(",")[0]}`;
		const home = bench.dir(dir);
		const why = missing?.();
		const server = why ? { missing: why } : await start(bench, `${dir}-server`, home);
		if (server.missing) {
			places.push({ name, missing: server.missing });
			continue;
		}
		const config = path.join(home, "config", "holdfast"); // read once, with the first place that it names
		fs.mkdirSync(config, { recursive: true, mode: 0o700 });
		fs.writeFileSync(path.join(config, "config.json"), JSON.stringify({ places: { far: server.settings } }), { mode: 0o600 });
		process.env.XDG_CONFIG_HOME = path.dirname(config);
		const runtime = await bench.runtime(dir, { place: "far", task: TASK, maxRunning: 200 });
		bench.atEnd(() => runtime.endTask(TASK)); // with the machine that it has there
		const first = await runtime.terminal({ command: "true" });
		if (first.exit_code !== 0) throw new Error(`${name}: ${JSON.stringify(first)}`);
		places.push({ name, runtime, ...server });
	}
	return places;
}

/** Run a command of this machine to its end. */
export async function ran(argv) {
	const child = spawn(argv[0], argv.slice(1), { stdio: ["ignore", "ignore", "inherit"] });
	const [code] = await once(child, "close");
	if (code !== 0) throw new Error(`${argv.join(" ").slice(0, 300)} ended with ${code}`);
}

/** A program that answers each byte with one: a function that sends one and waits for the other. */
export function answering(bench, argv) {
	const child = spawn(argv[0], argv.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
	bench.atEnd(() => {
		const gone = child.exitCode === null ? once(child, "close") : undefined;
		child.stdin.end();
		child.kill();
		return gone;
	});
	return async (text) => {
		const answer = once(child.stdout, "data");
		child.stdin.write(text);
		await within(ANSWER_MS, argv.at(-1), answer);
	};
}
