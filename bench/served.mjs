/** Places that the tests have machines for: their own Apptainer and Slurm, which are real, and their doubles of services. One program lends them all. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { within } from "./lib.mjs";

const START_MS = 180_000;
const project = fileURLToPath(new URL("..", import.meta.url));
const said = (program, ...args) => execFileSync(program, args, { encoding: "utf8" }).trim();

/** How to run a command, beside Holdfast, in the only machine that it has made there; asked once it has. */
const REACH = {
	apptainer: () => {
		const { instances } = JSON.parse(said("apptainer", "instance", "list", "--json"));
		return (command) => ["apptainer", "-s", "exec", "-e", `instance://${instances[0].instance}`, "sh", "-c", command];
	},
	slurm: () => {
		const job = said("squeue", "-h", "-o", "%A");
		return (command) => ["srun", `--jobid=${job}`, "--overlap", "-N1", "-n1", "--mem=0", "-u", "-Q", "--chdir=/", "sh", "-c", command];
	},
	kubernetes: (_, { kubeconfig, namespace }) => {
		const words = [`--kubeconfig=${kubeconfig}`, `--namespace=${namespace}`];
		const pod = said("kubectl", ...words, "get", "pods", "-o", "name");
		return (command) => ["kubectl", ...words, "exec", "-i", pod, "--", "sh", "-c", command];
	},
	modal: () => (command) => [process.execPath, path.join(project, "bench/modal-exec.mjs"), command],
	morph: (home) => {
		const [key] = fs.readdirSync(path.join(home, "morph")).filter((name) => name.endsWith(".key"));
		const [socket] = fs.readdirSync(path.join(home, "ssh"));
		const words = ["-F", "none", "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-S", path.join(home, "ssh", socket)];
		return (command) => ["ssh", ...words, `${path.basename(key, ".key")}@127.0.0.1`, command];
	},
};

const EACH = {
	apptainer: "one apptainer exec",
	slurm: "one srun",
	kubernetes: "one kubectl exec",
	modal: "one Node with its library",
	morph: "one multiplexed ssh",
};

/** As startSshd; or why there is none. */
export const served = (kind) => async (bench, _name, home) => {
	lender ??= await startLender(bench);
	const { missing, settings, env } = await lender(kind);
	if (missing) return { missing };
	const { XDG_STATE_HOME: _, ...rest } = env; // all places have the one that startLender has set
	Object.assign(process.env, rest);
	let reach;
	return {
		settings,
		each: EACH[kind],
		there: (command) => {
			reach ??= REACH[kind](home, settings);
			return reach(command);
		},
	};
};

let lender;

/** A vitest with the one test of test/support/serve.ts, which ends with the connection. Returns a function that asks it for a place. */
async function startLender(bench) {
	process.env.XDG_STATE_HOME = bench.dir("state"); // where places write down whose machines are
	const socket = path.join(bench.root, "lender.sock");
	const server = net.createServer().listen(socket);
	await once(server, "listening");
	const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "--config", "bench/served.config.mjs", "--root", ".", "--reporter=dot"], {
		cwd: project,
		env: { ...process.env, SERVE_SOCKET: socket },
		stdio: ["ignore", 2, 2],
	});
	const gone = once(child, "exit");
	const early = gone.then(([code]) => Promise.reject(new Error(`the program with the machines of the tests ended with ${code}`)));
	early.catch(() => {});
	const [connection] = await within(START_MS, "the machines of the tests", Promise.race([once(server, "connection"), early]));
	server.close();
	bench.atEnd(() => {
		connection.end();
		return gone;
	});
	const answers = createInterface({ input: connection })[Symbol.asyncIterator]();
	return async (kind) => {
		connection.write(`${kind}\n`);
		const { value, done } = await within(START_MS, kind, answers.next());
		return done ? early : JSON.parse(value);
	};
}
