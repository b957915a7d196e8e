/** The options of a pod, each with its default. docs/places.md explains them. */
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { directoryProblem, imageProblem } from "../image-name.js";
import { directory, environment, everyKey, idleSecondsOf, lifetime, MIB, readBy, saying, size } from "../settings.js";
import { nameProblem } from "./address.js";

const name = saying(nameProblem);

export interface Claim {
	readonly claim: string;
	readonly target: string;
	readonly readOnly: boolean;
}

/** Parses `claim:/path[:ro]`: the name of a PersistentVolumeClaim and its mount point. */
function parseClaim(text: string): Claim {
	const [claim = "", target = "", mode, ...more] = text.split(":");
	const wrong = nameProblem(claim) ?? directoryProblem(target);
	if (wrong !== undefined || more.length > 0 || (mode !== undefined && mode !== "ro" && mode !== "rw"))
		throw new HoldfastError("INVALID", `takes the name of a claim and a path, "claim:/there" or "claim:/there:ro", not ${JSON.stringify(text.slice(0, 200))}`);
	return { claim, target, readOnly: mode === "ro" };
}

const toleration = z.lazy(() =>
	z.strictObject({
		key: z.string().max(300).optional(),
		operator: z.enum(["Exists", "Equal"]).optional(),
		value: z.string().max(300).optional(),
		effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional(),
	}),
);

export const kubernetesSchema = z.lazy(() =>
	z.strictObject({
		image: saying(imageProblem),
		/** Default: those of `kubectl`. */
		namespace: name.optional(),
		context: z
			.string()
			.max(300)
			.regex(/^[^\0-\x1f]+$/)
			.refine((text) => !text.startsWith("-"), "cannot begin with a dash")
			.optional(),
		kubeconfig: saying((text) => (/^\/[^\0\n:]*$/.test(text) ? undefined : "must be an absolute path")).optional(),
		/** "missing": pulled if the node does not have it. */
		pull: z.enum(["never", "missing", "always"]).default("missing"),
		/** Minutes: the fixed end of the pod. */
		time: z.number().int().min(1).max(525_600).default(240),
		cpus: z.number().min(0.01).max(1024).optional(),
		memory: size(16 * MIB).optional(),
		/** Other resources, as a node names them: { "nvidia.com/gpu": 1 }. */
		resources: z
			.record(z.string(), z.union([z.number(), z.string().max(50)]))
			.superRefine(
				everyKey((key) =>
					/^[a-zA-Z0-9._/-]{1,300}$/.test(key) && !["cpu", "memory"].includes(key)
						? undefined
						: `${JSON.stringify(key)} is not a resource; "cpus" and "memory" are settings of their own`,
				),
			)
			.default({}),
		/** A stronger sandbox, if the cluster has one: gVisor, Kata. */
		runtimeClass: name.optional(),
		nodeSelector: z.record(z.string(), z.string()).default({}),
		tolerations: z.array(toleration).max(100).default([]),
		/** Commands get none of its tokens. */
		serviceAccount: name.optional(),
		imagePullSecrets: z.array(name).max(20).default([]),
		/** PersistentVolumeClaims: "claim:/path". */
		volumes: z.array(readBy(parseClaim)).max(100).default([]),
		/** A number: commands run as this user, without root rights. */
		user: z.number().int().min(1).max(2_147_483_647).optional(),
		environment,
		workdir: directory.optional(),
		lifetime,
	}),
);

export type KubernetesOptions = z.input<typeof kubernetesSchema>;
export type KubernetesSettings = z.output<typeof kubernetesSchema>;

export function kubernetesSettings(options: KubernetesOptions): KubernetesSettings {
	const result = checked(kubernetesSchema, options);
	if ("problems" in result) throw new HoldfastError("INVALID", `kubernetes: ${result.problems}`);
	return result.data;
}

export const idleSeconds = ({ lifetime: given }: Pick<KubernetesSettings, "lifetime">): number => idleSecondsOf(given);
