/** The user's own `kubectl`: contexts, plugin logins and proxies work as they do at a prompt. */
import { type Program, programEnvironment, type Ran, type RunOptions, runProgram } from "../child.js";
import type { KubernetesSettings } from "./options.js";
import { explained } from "./words.js";

const MISSING = "install it (https://kubernetes.io/docs/tasks/tools), and see whether `kubectl get pods` works";

export const kubectlProgram = (): Program => ({ name: "kubectl", missing: MISSING, env: programEnvironment() });

/** The cluster, and the namespace in it. */
export type Where = Pick<KubernetesSettings, "namespace" | "context" | "kubeconfig">;

export const flagsOf = ({ namespace, context, kubeconfig }: Where): string[] => [
	...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
	...(context === undefined ? [] : [`--context=${context}`]),
	...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
];

const ANSWER_MS = 30_000;

/** Runs kubectl. Throws, with what to do, if it fails and `tolerate` does not accept its message. */
export async function kubectl(where: Where, args: readonly string[], options: Partial<RunOptions> & { tolerate?: RegExp } = {}): Promise<Ran> {
	const { tolerate, ...rest } = options;
	const ran = await runProgram(kubectlProgram(), [...flagsOf(where), "--request-timeout=20s", ...args], { ms: ANSWER_MS, ...rest });
	if (ran.code === 0 || tolerate?.test(ran.said)) return ran;
	throw explained(`kubectl ${args[0]} failed`, ran.said);
}
