/** Instances of Apptainer (Singularity), as the table of kinds knows them. docs/places.md. */
import { lazy } from "../../base/index.js";
import { exposesHost } from "../exposure.js";
import { defineKind } from "../kind.js";
import { apptainerAddress, isApptainerAddress, parseApptainerAddress } from "./address.js";
import { type ApptainerOptions, apptainerSchema, apptainerSettings, idleSeconds } from "./options.js";

const load = lazy(() => import("./index.js"));
const TRIAL_SECONDS = 120;

export const apptainer = defineKind({
	name: "apptainer",
	forms: ["apptainer://image", "apptainer:///file.sif"],
	schema: apptainerSchema,
	settings: (options: ApptainerOptions) => apptainerSettings(options),
	parse: (text): ApptainerOptions | undefined => (isApptainerAddress(text) ? (parseApptainerAddress(text) as ApptainerOptions) : undefined),
	suggest: (text) => (/\.sif$/.test(text) ? `; for a SIF file: apptainer://${text.startsWith("/") ? text : "/PATH/OF/IT.sif"}` : undefined),
	show: ({ image }) => apptainerAddress({ image }),
	directory: ({ workdir }) => workdir,
	identity: ({ workdir: _, ...rest }) => rest,
	boundary: ({ volumes }) => ({ contains: !volumes.some(({ source }) => exposesHost(source)), hides: volumes.length === 0 }),
	runs: {
		life: (settings) => ({ idleSeconds: idleSeconds(settings) }),
		host: async (options, owner, hooks) => (await load()).apptainerHost(options, owner, hooks),
		trial: (options) => ({ ...options, keep: false, lifetime: TRIAL_SECONDS }),
		leftovers: {
			wheres: async ({ named }) => (await load()).wheres(named),
			list: async ({ id }, signal) => (await load()).list(id, signal),
			remove: async ({ id, engine }) => (await load()).remove(id, engine),
		},
	},
});
