/** MorphCloud instances, as the table of kinds knows them. docs/places.md. */
import { lazy } from "../../base/index.js";
import { defineKind } from "../kind.js";
import { isMorphAddress, morphAddress, parseMorphAddress } from "./address.js";
import { type MorphOptions, morphSchema, morphSettings } from "./options.js";

const load = lazy(() => import("./index.js"));
const TRIAL_SECONDS = 120;

export const morph = defineKind({
	name: "morph",
	forms: ["morph://snapshot"],
	schema: morphSchema,
	settings: (options: MorphOptions) => morphSettings(options),
	parse: (text): MorphOptions | undefined => (isMorphAddress(text) ? (parseMorphAddress(text) as MorphOptions) : undefined),
	show: ({ snapshot }) => morphAddress({ snapshot }),
	directory: ({ workdir }) => workdir,
	identity: ({ workdir: _, ...rest }) => rest,
	boundary: () => ({ contains: true, hides: true }), // it shares nothing with this machine
	runs: {
		life: ({ lifetime, onIdle }) => ({ idleSeconds: lifetime, rests: onIdle === "pause" }),
		host: async (options, owner, hooks) => (await load()).morphHost(options, owner, hooks),
		trial: (options) => ({ ...options, keep: false, lifetime: TRIAL_SECONDS, onIdle: "stop" as const }),
		leftovers: {
			wheres: async ({ named }) => (await load()).wheres(named),
			list: async (_where, signal) => (await load()).list(signal),
			remove: async ({ id }) => (await load()).remove(id),
		},
	},
});
