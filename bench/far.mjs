/** Other machines to measure on: an sshd and a Docker engine of our own, and programs there that are talked to without Holdfast. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { dockerMissing, startDockerd } from "./dockerd.mjs";
import { within } from "./lib.mjs";
import { sshMissing, startSshd } from "./sshd.mjs";

const ANSWER_MS = 30_000;

const KINDS = {
	ssh: { missing: sshMissing, start: startSshd },
	docker: { missing: dockerMissing, start: startDockerd },
};

/** Each kind of place that can be had here, with a runtime on it; of the others, why not. The runtime has run a command there. */
export async function farPlaces(bench, what, only = Object.keys(KINDS)) {
	const places = [];
	for (const name of only) {
		const { missing, start } = KINDS[name];
		const why = missing();
		if (why) {
			places.push({ name, missing: why });
			continue;
		}
		const home = bench.dir(`${what}-${name}`);
		const server = await start(bench, `${what}-${name}-server`, home);
		const config = path.join(home, "config", "holdfast"); // read once, with the first place that it names
		fs.mkdirSync(config, { recursive: true, mode: 0o700 });
		fs.writeFileSync(path.join(config, "config.json"), JSON.stringify({ places: { far: server.settings } }), { mode: 0o600 });
		process.env.XDG_CONFIG_HOME = path.dirname(config);
		const runtime = await bench.runtime(`${what}-${name}`, { place: "far", maxRunning: 200 });
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
