/** Every kind of place that makes a machine of its own for a task, real or by its double, with a program of ours that a test may kill. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { machineName } from "../../src/places/owner.js";
import { run } from "../places/apptainer/support.js";
import { noApptainer, sharedApptainer, useApptainer } from "./apptainer.js";
import { atEnd, tempDir, testRoot, until } from "./home.js";
import { openRuntime, type Runtime } from "./internal.js";
import { kubernetesDouble, noKubernetes, useKubectl } from "./kubernetes-double.js";
import { modalDouble, noModal, useModal } from "./modal-double.js";
import { morphDouble, noMorph } from "./morph-double.js";
import { rootfsOf } from "./room.js";
import { noSlurm, sharedSlurm, useSlurm } from "./slurm.js";

const environment = { TEST_ROOT: testRoot() };

function withVariable(name: string, value: string): void {
	process.env[name] = value;
	atEnd(() => {
		delete process.env[name];
	});
}

export interface Service {
	/** What a person writes in config.json. */
	readonly entry: Readonly<Record<string, unknown>>;
	/** What is secret about it: in no file of a home, no argument, and no machine. */
	readonly secrets: readonly string[];
	/** How many machines of this name there are. */
	count(name: string): number;
}

/** Why a kind cannot be had on this machine, and what it takes. `shared`: a directory that is at the same path in every machine. */
export const KINDS: Readonly<Record<string, { readonly missing: string | undefined; start(shared: string): Promise<Service> }>> = {
	apptainer: {
		missing: noApptainer,
		start: async (shared) => {
			const apptainer = await sharedApptainer();
			useApptainer(apptainer);
			withVariable("APPTAINER_DOCKER_PASSWORD", "password-of-a-registry");
			return {
				secrets: ["password-of-a-registry"],
				entry: { type: "apptainer", image: apptainer.full, network: false, scratch: tempDir("scratch"), volumes: [`${shared}:${shared}`], environment },
				count: (name) => JSON.parse(run(apptainer, "instance", "list", "--json", name)).instances.length,
			};
		},
	},
	slurm: {
		missing: noSlurm,
		start: async () => {
			const cluster = await sharedSlurm();
			useSlurm(cluster);
			withVariable("AWS_SECRET_ACCESS_KEY", "key-of-this-program");
			return {
				secrets: ["key-of-this-program"],
				entry: { type: "slurm", partition: "main", memory: "50M", scratch: tempDir("node"), environment },
				count: (name) => cluster.run("squeue", "-h", "-n", name, "-t", "PD,R,CF,S", "-o", "%i").split("\n").filter(Boolean).length,
			};
		},
	},
	kubernetes: {
		missing: noKubernetes(),
		start: async (shared) => {
			useKubectl();
			const double = await kubernetesDouble({ "tools:1": await rootfsOf("full") }, [shared]);
			return {
				secrets: [double.token],
				entry: { type: "kubernetes", namespace: double.namespace, kubeconfig: double.kubeconfig, image: "tools:1", environment },
				count: (name) => [...double.pods.keys()].filter((one) => one === name).length,
			};
		},
	},
	modal: {
		missing: noModal,
		start: async (shared) => {
			const double = await modalDouble({ "tools:1": await rootfsOf("full") }, [shared]);
			useModal(double);
			return {
				secrets: [double.tokenId, double.tokenSecret],
				entry: { kind: "modal", image: "tools:1", environment },
				count: (name) => [...double.sandboxes.values()].filter(({ definition, result }) => definition.name === name && result === undefined).length,
			};
		},
	},
	morph: {
		missing: noMorph,
		start: async (shared) => {
			const double = await morphDouble({ snapshot_1: await rootfsOf("full") }, [shared]);
			return {
				secrets: [double.apiKey],
				entry: { type: "morph", snapshot: "snapshot_1", environment },
				count: (name) => [...double.instances.values()].filter(({ metadata }) => metadata["dev.holdfast.key"] === name).length,
			};
		},
	},
};

export interface Killing extends Service {
	readonly home: string;
	readonly shared: string;
	readonly runtime: Runtime;
	/** A program with these arguments, which a test may kill. `own`: another home than that of the test. */
	program(args: readonly string[], own?: string): { readonly output: () => string; readonly ended: Promise<unknown>; isOver(): boolean; kill(): void };
	/** Waits until there is no machine of a task: a list may be a moment behind. */
	gone(task: string): Promise<void>;
	/** How often the command of a round has begun, as it has written down itself. */
	begun(round: number): number;
}

export async function killing(kind: string): Promise<Killing> {
	const shared = tempDir("shared");
	const service = await (KINDS[kind] as (typeof KINDS)[string]).start(shared);
	const [home, config] = [tempDir("home"), tempDir("config")];
	fs.mkdirSync(path.join(config, "holdfast"), { mode: 0o700 });
	fs.writeFileSync(path.join(config, "holdfast", "config.json"), JSON.stringify({ places: { box: service.entry } }), { mode: 0o600 });
	const before = process.env.XDG_CONFIG_HOME;
	process.env.XDG_CONFIG_HOME = config;
	const runtime = await openRuntime({ home, warm: 0, place: "box" });
	atEnd(async () => {
		for (const task of new Set(runtime.list({ task: null }).map(({ spec }) => spec.task))) await runtime.endTask(task);
		await runtime.close();
		if (before === undefined) delete process.env.XDG_CONFIG_HOME;
		else process.env.XDG_CONFIG_HOME = before;
	});
	return {
		...service,
		home,
		shared,
		runtime,
		program: (args, own = home) => {
			const child = spawn(process.execPath, [...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, HOLDFAST_HOME: own } });
			let output = "";
			for (const end of [child.stdout, child.stderr])
				end.setEncoding("utf8").on("data", (text: string) => {
					output += text;
				});
			const ended = once(child, "exit").then(([code]) => code);
			return { output: () => output, ended, isOver: () => child.exitCode !== null, kill: () => child.kill("SIGKILL") };
		},
		gone: (task) => until(`the machine of ${task} is gone`, () => service.count(machineName({ home, task })) === 0),
		begun: (round) => {
			const file = path.join(shared, `begun-${round}`);
			return fs.existsSync(file) ? fs.readFileSync(file, "utf8").length : 0;
		},
	};
}
