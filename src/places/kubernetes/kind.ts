/** Pods of Kubernetes, as the table of kinds knows them. docs/places.md. */
import { lazy } from "../../base/index.js";
import { defineKind } from "../kind.js";
import { isKubernetesAddress, kubernetesAddress, parseKubernetesAddress } from "./address.js";
import { idleSeconds, type KubernetesOptions, kubernetesSchema, kubernetesSettings } from "./options.js";

const load = lazy(() => import("./index.js"));
const TRIAL_SECONDS = 120;
const TRIAL_MINUTES = 5;

export const kubernetes = defineKind({
	name: "kubernetes",
	forms: ["kubernetes://namespace/image"],
	schema: kubernetesSchema,
	settings: (options: KubernetesOptions) => kubernetesSettings(options),
	parse: (text): KubernetesOptions | undefined => (isKubernetesAddress(text) ? (parseKubernetesAddress(text) as KubernetesOptions) : undefined),
	suggest: (text) => (/^k8s:\/\//i.test(text) ? `; for a pod: ${text.replace(/^k8s/i, "kubernetes")}` : undefined),
	show: ({ namespace, image }) => kubernetesAddress({ namespace, image }),
	directory: ({ workdir }) => workdir,
	identity: ({ workdir: _, ...rest }) => rest,
	boundary: () => ({ contains: true, hides: true }), // it shares nothing with this machine
	runs: {
		life: (settings) => ({ idleSeconds: idleSeconds(settings) }),
		host: async (options, owner, hooks) => (await load()).kubernetesHost(options, owner, hooks),
		trial: (options) => ({ ...options, lifetime: TRIAL_SECONDS, time: TRIAL_MINUTES }),
		leftovers: {
			wheres: async ({ named }) => (await load()).wheres(named),
			list: async ({ id }, signal) => (await load()).list(id, signal),
			remove: async ({ id, engine }) => (await load()).remove(id, engine),
		},
	},
});
