/** One client with one scratch home, and a Holdfast home and a directory of its own for each scene. Whatever a scene leaves is ended by its pid. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { root } from "../setup.mjs";

const HOLDFAST = path.join(root, "dist/bin/holdfast.js");
const PATIENCE_MS = 180_000;

export function stage(client, { model, programs, scratch }) {
	const home = path.join(scratch, client.id);
	fs.mkdirSync(home, { recursive: true });
	const env = {
		PATH: `${programs}:${process.env.PATH}`,
		HOME: home,
		LANG: "C.UTF-8",
		TERM: "xterm-256color",
		...client.env,
		...(client.urlVariable && { [client.urlVariable]: model.url }),
		// Only loopback: anything else would go through a proxy that is not there.
		HTTP_PROXY: "http://127.0.0.1:9",
		HTTPS_PROXY: "http://127.0.0.1:9",
		NO_PROXY: "127.0.0.1,localhost",
	};

	const dirs = [];
	return { scene, clear: () => Promise.all(dirs.splice(0).map(clear)) };

	/** A clean Holdfast home and directory, and our entry as `holdfast setup` writes it. */
	function scene(name, { limit, patient = true } = {}) {
		const dir = path.join(scratch, `${client.id}-${name}`);
		const state = path.join(dir, "state");
		const work = path.join(dir, "work");
		fs.mkdirSync(work, { recursive: true });
		fs.mkdirSync(state, { mode: 0o700 });
		client.configure(home, model.url); // without the limit of an earlier scene
		holdfast(state, "setup", client.id, "--yes");
		if (limit) client.limit.set(home, limit);
		dirs.push(dir);
		return { start, play, killAll, holdfast: (...args) => holdfast(state, ...args) };

		/** Starts the client with a script for its model; `ended` is its exit code and what it printed. */
		function start(script) {
			model.play(script);
			const { args = [], env: more = {} } = (patient && client.patient) || {};
			const child = spawn(path.join(programs, client.program), [...args, ...client.args("Follow the script.")], {
				cwd: work,
				env: { ...env, ...more },
				detached: true,
				stdio: ["ignore", "pipe", "pipe"],
			});
			let printed = "";
			for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (printed += data));
			const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
			const ended = once(child, "exit").then(([code, signal]) => {
				clearTimeout(timer);
				return { code: code ?? signal, printed };
			});
			return { pid: child.pid, ended };
		}

		/** kill -9 of the servers and then of the client, in one go: neither gets to notice the other's end. */
		async function killAll({ ended }) {
			const all = processesOf(home);
			const servers = all.filter(({ argv }) => argv.includes(` mcp --home ${state}`));
			const clients = all.filter(({ argv }) => argv.includes(`${path.dirname(programs)}/`));
			for (const { pid } of [...servers, ...clients]) kill(pid);
			await ended;
		}

		/** The whole conversation: what the model got. */
		async function play(script) {
			const { code, printed } = await start(script).ended;
			const last = model.requests.at(-1);
			return { code, printed, results: last?.results ?? [], requests: model.requests };
		}
	}

	function holdfast(state, ...args) {
		const { stdout, stderr, status } = spawnSync(process.execPath, [HOLDFAST, ...args, "--home", state, "--json"], { env, encoding: "utf8" });
		if (!stdout) throw new Error(`holdfast ${args.join(" ")}: ${status}, ${stderr}`);
		return JSON.parse(stdout);
	}
}

/** Processes with this directory in their arguments or environment, or in it. */
function processesOf(dir) {
	const found = [];
	for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
		if (Number(pid) === process.pid) continue;
		try {
			const argv = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8");
			const environ = fs.readFileSync(`/proc/${pid}/environ`, "utf8");
			const cwd = fs.readlinkSync(`/proc/${pid}/cwd`);
			if ([argv, environ, `${cwd}/`].some((text) => text.includes(dir))) found.push({ pid: Number(pid), argv: argv.replaceAll("\0", " ").trim() });
		} catch {
			// it has ended meanwhile
		}
	}
	return found;
}

function kill(pid) {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// it has ended meanwhile
	}
}

export async function clear(dir) {
	for (let round = 0; round < 50; round++) {
		const left = processesOf(dir);
		if (left.length === 0) break;
		for (const { pid } of left) kill(pid);
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
