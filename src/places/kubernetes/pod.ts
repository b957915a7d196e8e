/** A pod: its manifest, and how the cluster reports its state. */
import os from "node:os";
import * as z from "zod";
import { HoldfastError } from "../../base/index.js";
import type { HostOwner } from "../kind.js";
import { digest, machineName, settingsDigests } from "../owner.js";
import { switchSeconds } from "../settings.js";
import { SWITCH_EXIT, switchCommand } from "../switch.js";
import { kubectl, type Where } from "./kubectl.js";
import type { KubernetesSettings } from "./options.js";
import { NOT_FOUND } from "./words.js";

export const LABEL = { owner: "dev.holdfast/owner", home: "dev.holdfast/home" } as const;
export const OURS = "holdfast";
const NOTE = "dev.holdfast/about";
export const CONTAINER = "main";

const BASE_DIR = "/var/lib/holdfast";
/** Private to its user. */
export const PLACE_DIR = `${BASE_DIR}/place`;

/** As in a Docker container: what root needs to install packages and to kill processes of other users. */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID"];
const PULL = { never: "Never", missing: "IfNotPresent", always: "Always" } as const;

const STATE = z.object({
	waiting: z.object({ reason: z.string().default(""), message: z.string().default("") }).optional(),
	running: z.object({ startedAt: z.string().nullish() }).optional(),
	terminated: z.object({ exitCode: z.number().default(0), reason: z.string().default("") }).optional(),
});
const POD = z.object({
	metadata: z.object({
		name: z.string(),
		uid: z.string(),
		creationTimestamp: z.string().default(""),
		deletionTimestamp: z.string().optional(),
		labels: z.record(z.string(), z.string()).default({}),
		annotations: z.record(z.string(), z.string()).default({}),
	}),
	spec: z.object({ activeDeadlineSeconds: z.number().optional(), containers: z.array(z.object({ image: z.string().default("") })).default([]) }),
	status: z
		.object({
			phase: z.string().default(""),
			reason: z.string().default(""),
			message: z.string().default(""),
			startTime: z.string().optional(),
			conditions: z.array(z.object({ type: z.string(), status: z.string(), reason: z.string().default(""), message: z.string().default("") })).nullish(),
			containerStatuses: z.array(z.object({ name: z.string(), state: STATE.default({}) })).nullish(),
		})
		.default({ phase: "", reason: "", message: "" }),
});
export type Pod = z.output<typeof POD>;

const ABOUT = z.object({
	home: z.string(),
	task: z.string(),
	host: z.string(),
	lifetime: z.union([z.number(), z.literal("task")]),
	settings: z.record(z.string(), z.string()),
});
export type About = z.output<typeof ABOUT>;

function understood<T>(schema: z.ZodType<T>, text: string): T {
	try {
		return schema.parse(JSON.parse(text));
	} catch (error) {
		throw new HoldfastError("START_FAILED", `what the cluster says of its pods cannot be understood: ${JSON.stringify(text.slice(0, 100))}`, { cause: error });
	}
}

/** Returns undefined if there is no such pod. */
export async function findPod(where: Where, name: string, signal?: AbortSignal): Promise<Pod | undefined> {
	const { code, output } = await kubectl(where, ["get", "pod", name, "-o", "json"], { signal, tolerate: NOT_FOUND });
	return code === 0 ? understood(POD, output) : undefined;
}

export async function listPods(where: Where, signal?: AbortSignal): Promise<readonly Pod[]> {
	const { output } = await kubectl(where, ["get", "pods", "-l", `${LABEL.owner}=${OURS}`, "-o", "json"], { signal });
	return understood(z.object({ items: z.array(POD) }), output).items;
}

export const deletePod = (where: Where, name: string): Promise<unknown> =>
	kubectl(where, ["delete", "pod", name, "--now", "--wait=false"], { tolerate: NOT_FOUND });

/** Returns the owner of a pod of ours; undefined for any other pod. */
export function aboutOf({ metadata: { annotations } }: Pod): About | undefined {
	try {
		return ABOUT.parse(JSON.parse(annotations[NOTE] ?? ""));
	} catch {
		return undefined;
	}
}

/** Returns a digest per setting that defines a pod. Values of variables travel over the stream, and appear in nothing that the cluster shows. */
export function madeWith({
	workdir: _workdir,
	environment: _environment,
	namespace: _namespace,
	context: _context,
	kubeconfig: _kubeconfig,
	pull: _pull,
	...settings
}: KubernetesSettings): Record<string, string> {
	return settingsDigests(settings);
}

export function podBody(settings: KubernetesSettings, { home, task }: HostOwner): object {
	const { image, pull, time, cpus, memory, resources, runtimeClass, nodeSelector, tolerations, serviceAccount, imagePullSecrets, volumes, user, lifetime } =
		settings;
	const about: About = { home, task, host: os.hostname(), lifetime, settings: madeWith(settings) };
	const limits = { ...resources, ...(cpus === undefined ? {} : { cpu: String(cpus) }), ...(memory === undefined ? {} : { memory: String(memory) }) };
	return {
		apiVersion: "v1",
		kind: "Pod",
		metadata: {
			name: machineName({ home, task }),
			labels: { [LABEL.owner]: OURS, [LABEL.home]: digest(home, 12) },
			annotations: { [NOTE]: JSON.stringify(about) },
		},
		spec: {
			restartPolicy: "Never",
			automountServiceAccountToken: false,
			enableServiceLinks: false,
			terminationGracePeriodSeconds: 2,
			activeDeadlineSeconds: time * 60,
			...(runtimeClass === undefined ? {} : { runtimeClassName: runtimeClass }),
			...(serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount }),
			...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
			...(tolerations.length === 0 ? {} : { tolerations }),
			...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
			volumes: [
				{ name: "holdfast", emptyDir: {} },
				...volumes.map(({ claim, readOnly }, at) => ({ name: `volume-${at}`, persistentVolumeClaim: { claimName: claim, readOnly } })),
			],
			containers: [
				{
					name: CONTAINER,
					image,
					imagePullPolicy: PULL[pull],
					command: switchCommand(PLACE_DIR, switchSeconds(lifetime)),
					resources: { limits, requests: limits },
					securityContext: {
						allowPrivilegeEscalation: false,
						capabilities: { drop: ["ALL"], ...(user === undefined ? { add: CAPABILITIES } : {}) },
						seccompProfile: { type: "RuntimeDefault" },
						...(user === undefined ? {} : { runAsUser: user, runAsNonRoot: true }),
					},
					volumeMounts: [
						{ name: "holdfast", mountPath: BASE_DIR },
						...volumes.map(({ target, readOnly }, at) => ({ name: `volume-${at}`, mountPath: target, readOnly })),
					],
				},
			],
		},
	};
}

export const stateOf = ({ status }: Pod): z.output<typeof STATE> => status.containerStatuses?.find(({ name }) => name === CONTAINER)?.state ?? {};

/**
 * Returns why everything in the pod is over, as the end of a sentence; undefined if it runs, or may yet. The stream does not tell: it ends with code 0
 * when a node is lost.
 */
export function endOfPod(pod: Pod): string | undefined {
	const { metadata, status, spec } = pod;
	const { terminated } = stateOf(pod);
	if (status.reason === "DeadlineExceeded")
		return `the pod had reached its time limit${spec.activeDeadlineSeconds === undefined ? "" : ` (${Math.round(spec.activeDeadlineSeconds / 60)} min)`}`;
	if (status.reason === "Evicted") return `the pod was evicted from its node${status.message ? ` (${status.message.slice(0, 200)})` : ""}`;
	if (["NodeLost", "NodeShutdown", "Terminated", "Shutdown", "UnexpectedAdmissionError", "Preempting"].includes(status.reason))
		return `the node of the pod is gone (${status.reason})`;
	if (terminated?.reason === "OOMKilled") return "the pod had run out of memory";
	if (terminated?.exitCode === SWITCH_EXIT) return "the pod had stopped itself: it was unused, and nothing ran in it";
	if (status.phase === "Failed" || status.phase === "Succeeded") {
		const code = terminated && `exit code ${terminated.exitCode}${terminated.reason ? `, ${terminated.reason}` : ""}`;
		const words = code ?? [status.reason, status.message.slice(0, 200)].filter(Boolean).join(": ");
		return `the pod has ended${words === "" ? "" : ` (${words})`}`;
	}
	if (metadata.deletionTimestamp !== undefined) return "the pod is being deleted";
	return undefined;
}

const HOPELESS = ["ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError"];

/** Returns what keeps a pod from starting and will not pass; undefined if it may start yet. */
export function obstacleOf(pod: Pod): string | undefined {
	const { waiting, terminated } = stateOf(pod);
	const image = pod.spec.containers[0]?.image ?? "";
	const said = waiting?.message ? ` (${waiting.message.slice(0, 400)})` : "";
	const noShell = /exec: "sh"|"sh": executable file not found|no such file or directory/;
	if (noShell.test(waiting?.message ?? "") || terminated?.reason === "StartError")
		return `the image ${image} has no sh, and without one nothing can be run in it; choose another image`;
	if (waiting === undefined) return undefined;
	if (waiting.reason === "ErrImageNeverPull") return `the node does not have the image ${image}, and it is not fetched; set \`pull\` to "missing"`;
	if (/Image/.test(waiting.reason) && /not found|manifest unknown|denied|unauthorized|forbidden|invalid reference/i.test(waiting.message))
		return `there is no image ${image}, or the cluster may not have it${said}; check its name, or name a secret with \`imagePullSecrets\``;
	return HOPELESS.includes(waiting.reason) ? `the pod cannot be started: ${waiting.reason}${said}` : undefined;
}

/** Returns why an image could not be fetched. Clusters show it only between two attempts, and "Back-off pulling image" for the rest of the time. */
export function pullError(pod: Pod): string | undefined {
	const { waiting } = stateOf(pod);
	return waiting?.reason === "ErrImagePull" && waiting.message !== "" ? waiting.message : undefined;
}

/** Returns what a pod waits for, as the rest of a sentence. `cause`: the last `pullError`. */
export function awaited(pod: Pod, cause = ""): string {
	const scheduled = pod.status.conditions?.find(({ type }) => type === "PodScheduled");
	if (scheduled?.status === "False") return `the pod waits for a node: ${scheduled.message.slice(0, 300) || scheduled.reason}`;
	const { waiting } = stateOf(pod);
	if (waiting && /Image/.test(waiting.reason))
		return `the image ${pod.spec.containers[0]?.image} cannot be fetched yet: ${(cause || waiting.message).slice(0, 300) || waiting.reason}`;
	return waiting?.reason === "ContainerCreating" ? "the pod has a node, which fetches the image or makes the container" : "the pod is being made";
}
