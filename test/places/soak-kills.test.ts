/**
 * The program is killed again and again, while a machine is made for its task and while a command there prints: nothing is lost, and nothing is made twice.
 * A kind of place is a row of the table. `KILLS` says how often; 20 unless it is set.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { machineName } from "../../src/places/owner.js";
import { noApptainer, sharedApptainer, useApptainer } from "../support/apptainer.js";
import { CLI } from "../support/cli.js";
import { atEnd, tempDir, testRoot, textOf, until } from "../support/home.js";
import { openRuntime, type Runtime } from "../support/internal.js";
import { kubernetesDouble, noKubernetes, useKubectl } from "../support/kubernetes-double.js";
import { modalDouble, noModal, useModal } from "../support/modal-double.js";
import { morphDouble, noMorph } from "../support/morph-double.js";
import { rootfsOf } from "../support/room.js";
import { noSlurm, sharedSlurm, useSlurm } from "../support/slurm.js";
import { run } from "./apptainer/support.js";

const KILLS = Number(process.env.KILLS) || 20;
const LINES = 2_000;
const environment = { TEST_ROOT: testRoot() };

interface Service {
	/** What a person writes in config.json. */
	readonly entry: Readonly<Record<string, unknown>>;
	/** How many machines of this name there are. */
	count(name: string): number;
}

/** Why a kind cannot be had on this machine, and what it takes. `shared`: a directory that is at the same path in every machine. */
const KINDS: Readonly<Record<string, { readonly missing: string | undefined; start(shared: string): Promise<Service> }>> = {
	apptainer: {
		missing: noApptainer,
		start: async (shared) => {
			const apptainer = await sharedApptainer();
			useApptainer(apptainer);
			return {
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
			return {
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
				entry: { type: "morph", snapshot: "snapshot_1", environment },
				count: (name) => [...double.instances.values()].filter(({ metadata }) => metadata["dev.holdfast.key"] === name).length,
			};
		},
	},
};

interface Killing extends Service {
	readonly home: string;
	readonly shared: string;
	readonly runtime: Runtime;
	/** A program with these arguments, which a test may kill. */
	program(args: readonly string[]): { readonly output: () => string; readonly ended: Promise<unknown>; isOver(): boolean; kill(): void };
	/** Waits until there is no machine of a task: a list may be a moment behind. */
	gone(task: string): Promise<void>;
	/** How often the command of a round has begun, as it has written down itself. */
	begun(round: number): number;
}

async function killing(kind: string): Promise<Killing> {
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
		program: (args) => {
			const child = spawn(process.execPath, [...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, HOLDFAST_HOME: home } });
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

/** Prints numbered lines, a burst at a time, once it has written down that it has begun. */
const printing = (shared: string, round: number): string =>
	`printf x >>${shared}/begun-${round}; i=0; while [ $i -lt ${LINES} ]; do echo line $i; i=$((i + 1)); [ $((i % 100)) -ne 0 ] || sleep 0.05; done; exit 7`;
const LOG = Array.from({ length: LINES }, (_, at) => `line ${at}\n`).join("");

describe.each(Object.entries(KINDS))("%s", (kind, { missing }) => {
	const title = (text: string) => (missing === undefined ? text : `${text}: ${missing}`);

	it.skipIf(missing)(
		title("killed while a command prints: it goes on, its output is whole, and it has begun once"),
		async () => {
			const { runtime, program, shared, begun, count, gone, home } = await killing(kind);
			for (let round = 0; round < KILLS; round++) {
				const task = "prints";
				const one = program([CLI, "run", "--no-pty", "--place", "box", "--task", task, "--name", `round-${round}`, "--", printing(shared, round)]);
				const seen = `line ${Math.floor((round / KILLS) * LINES * 0.9)}\n`;
				await until(`the program shows ${seen}`, () => one.output().includes(seen) || one.isOver(), 120_000);
				expect(one.isOver(), one.output().slice(-1_000)).toBe(false);
				one.kill();
				await one.ended;
				const left = runtime.list({ task }).find(({ spec }) => spec.name === `round-${round}`);
				if (!left) throw new Error(`round ${round} is not in the list`);
				await left.wait({ timeout: 120_000 });
				expect([left.status(), textOf(left) === LOG, begun(round)]).toEqual([expect.objectContaining({ status: "exited", exitCode: 7 }), true, 1]);
				expect(count(machineName({ home, task }))).toBe(1);
			}
			await runtime.endTask("prints");
			await gone("prints");
		},
		KILLS * 60_000,
	);

	it.skipIf(missing)(
		title("killed while the machine of a task is made: the next program has the same one, and no other; what was to begin has begun at most once"),
		async () => {
			const { runtime, program, shared, begun, count, gone, home } = await killing(kind);
			const started = performance.now();
			const whole = program([CLI, "terminal", "--place", "box", "--task", "whole", "--", "true"]);
			expect(await whole.ended, whole.output()).toBe(0); // and it exits, with nothing more to do
			const takes = performance.now() - started;
			await runtime.endTask("whole");
			for (let round = 0; round < KILLS; round++) {
				const task = `made ${round}`;
				const one = program([CLI, "run", "--no-pty", "--place", "box", "--task", task, "--", `printf x >>${shared}/begun-${round}; echo begun`]);
				await Promise.race([one.ended, sleep((takes * (round + 0.5)) / KILLS)]); // at another moment each time
				one.kill();
				await one.ended;
				expect(await runtime.terminal({ command: "echo there" }, { task })).toMatchObject({ status: "exited", output: "there\n" });
				expect(count(machineName({ home, task }))).toBe(1);
				for (const left of runtime.list({ task })) await left.wait({ timeout: 120_000 });
				expect(begun(round)).toBeLessThanOrEqual(1);
				expect(await runtime.endTask(task)).toMatchObject({ gone: true });
				await gone(task);
			}
		},
		KILLS * 60_000,
	);

	it.skipIf(missing)(title("a program that has used it and has nothing to do exits, with its link open"), async () => {
		const { runtime, program } = await killing(kind);
		const library = path.resolve("dist/lib/index.js");
		const text = `import { openRuntime } from ${JSON.stringify(library)};
			const runtime = await openRuntime({ place: "box", task: "idle", warm: 0 });
			await (await runtime.spawn({ command: "true" })).wait();
			console.log("used");`;
		const one = program(["--input-type=module", "-e", text]);
		expect([await one.ended, one.output()]).toEqual([0, "used\n"]);
		await runtime.endTask("idle");
	});
});
