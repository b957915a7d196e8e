/** Jobs of Slurm, as the table of kinds knows them. docs/places.md. */
import { lazy } from "../../base/index.js";
import { exposesHost } from "../exposure.js";
import { defineKind, NO_BOUNDARY } from "../kind.js";
import { isSlurmAddress, parseSlurmAddress, slurmAddress } from "./address.js";
import { idleSeconds, type SlurmOptions, slurmSchema, slurmSettings } from "./options.js";

const load = lazy(() => import("./index.js"));
const TRIAL_SECONDS = 120;
const TRIAL_MINUTES = 5;

export const slurm = defineKind({
	name: "slurm",
	forms: ["slurm://partition"],
	schema: slurmSchema,
	settings: (options: SlurmOptions) => slurmSettings(options),
	parse: (text): SlurmOptions | undefined => (isSlurmAddress(text) ? parseSlurmAddress(text) : undefined),
	show: ({ partition }) => slurmAddress({ partition }),
	directory: ({ workdir }) => workdir,
	identity: ({ workdir: _, ...rest }) => rest,
	// A job has this user's files and rights, unless a container in it keeps it from them.
	boundary: ({ apptainer }) =>
		apptainer === undefined ? NO_BOUNDARY : { contains: !apptainer.volumes.some(({ source }) => exposesHost(source)), hides: apptainer.volumes.length === 0 },
	runs: {
		life: (settings) => ({ idleSeconds: idleSeconds(settings) }),
		host: async (options, owner, hooks) => (await load()).slurmHost(options, owner, hooks),
		trial: (options) => ({ ...options, lifetime: TRIAL_SECONDS, time: TRIAL_MINUTES }),
		leftovers: {
			wheres: async ({ named }) => (await load()).wheres(named),
			list: async (_where, signal) => (await load()).list(signal),
			remove: async ({ id }) => (await load()).remove(id),
		},
	},
});
