/**
 * Lends the machines of the tests to the benchmark: a test that bench/served.mjs runs through vitest, as long as the benchmark is connected. A line with the
 * kind of a place is answered with the settings of one, and the variables that a program needs to reach it; or with why there is none.
 */
import { once } from "node:events";
import net from "node:net";
import { createInterface } from "node:readline";
import { test } from "vitest";
import { noApptainer, sharedApptainer, useApptainer } from "./apptainer.js";
import { tempDir } from "./home.js";
import { kubernetesDouble, noKubernetes, useKubectl } from "./kubernetes-double.js";
import { modalDouble, noModal, useModal } from "./modal-double.js";
import { morphDouble, noMorph } from "./morph-double.js";
import { rootfsOf } from "./room.js";
import { noSlurm, sharedSlurm, useSlurm } from "./slurm.js";

interface Lent {
	readonly missing: string | undefined;
	start(): Promise<Record<string, unknown>>;
}

const IMAGE = "tools:1";

const KINDS: Readonly<Record<string, Lent>> = {
	apptainer: {
		missing: noApptainer,
		start: async () => {
			const apptainer = await sharedApptainer();
			useApptainer(apptainer);
			return { type: "apptainer", image: apptainer.full, network: false, scratch: tempDir("scratch") };
		},
	},
	slurm: {
		missing: noSlurm,
		start: async () => {
			useSlurm(await sharedSlurm());
			const scratch = tempDir("there");
			return { type: "slurm", partition: "main", scratch, memory: "50M", environment: { HOME: scratch } };
		},
	},
	kubernetes: {
		missing: noKubernetes(),
		start: async () => {
			useKubectl();
			const { namespace, kubeconfig } = await kubernetesDouble({ [IMAGE]: await rootfsOf("full") });
			return { type: "kubernetes", namespace, kubeconfig, image: IMAGE };
		},
	},
	modal: {
		missing: noModal,
		start: async () => {
			useModal(await modalDouble({ [IMAGE]: await rootfsOf("full") }));
			return { type: "modal", image: IMAGE };
		},
	},
	morph: {
		missing: noMorph,
		start: async () => {
			await morphDouble({ snapshot_1: await rootfsOf("full") });
			return { type: "morph", snapshot: "snapshot_1" };
		},
	},
};

test("lends machines until the benchmark is over", async () => {
	const benchmark = net.connect(process.env.SERVE_SOCKET as string);
	await once(benchmark, "connect");
	for await (const name of createInterface({ input: benchmark })) benchmark.write(`${JSON.stringify(await lend(KINDS[name] as Lent))}\n`);
});

async function lend({ missing, start }: Lent): Promise<object> {
	if (missing !== undefined) return { missing };
	const before = { ...process.env };
	const settings = await start();
	return { settings, env: Object.fromEntries(Object.entries(process.env).filter(([name, value]) => before[name] !== value)) };
}
