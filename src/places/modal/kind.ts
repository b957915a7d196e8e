/** Modal sandboxes, as the table of kinds knows them. docs/places.md. */
import { lazy } from "../../base/index.js";
import { defineKind } from "../kind.js";
import { isModalAddress, modalAddress, parseModalAddress } from "./address.js";
import { idleSeconds, type ModalOptions, modalSchema, modalSettings } from "./options.js";

const load = lazy(() => import("./index.js"));
const TRIAL_SECONDS = 120;
const TRIAL_MINUTES = 5;

export const modal = defineKind({
	name: "modal",
	forms: ["modal://image"],
	schema: modalSchema,
	settings: (options: ModalOptions) => modalSettings(options),
	parse: (text): ModalOptions | undefined => (isModalAddress(text) ? (parseModalAddress(text) as ModalOptions) : undefined),
	show: ({ image }) => modalAddress({ image }),
	directory: ({ workdir }) => workdir,
	identity: ({ workdir: _, ...rest }) => rest,
	boundary: () => ({ contains: true, hides: true }), // it shares nothing with this machine
	runs: {
		life: (settings) => ({ idleSeconds: idleSeconds(settings) }),
		host: async (options, owner, hooks) => (await load()).modalHost(options, owner, hooks),
		trial: (options) => ({ ...options, lifetime: TRIAL_SECONDS, time: TRIAL_MINUTES, keep: false }),
		leftovers: {
			wheres: async ({ named }) => (await load()).wheres(named),
			list: async ({ id }, signal) => (await load()).list(id, signal),
			remove: async ({ id, engine }) => (await load()).remove(id, engine),
		},
	},
});
