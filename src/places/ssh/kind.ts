/** Machines over SSH, as the table of kinds knows them. docs/places.md. */
import { lazy } from "../../base/index.js";
import { defineKind, NO_BOUNDARY } from "../kind.js";
import { formatSshAddress, parseSshAddress } from "./address.js";
import { type SshOptions, sshSchema, sshSettings } from "./options.js";

const load = lazy(() => import("./index.js"));

export const ssh = defineKind({
	name: "ssh",
	forms: ["ssh://user@host:port/dir"],
	schema: sshSchema,
	settings: (options: SshOptions) => sshSettings(options),
	parse: (text) => (/^ssh:\/\//i.test(text) ? parseSshAddress(text) : undefined),
	suggest: (text) => {
		// A machine as people write it for ssh itself.
		const [, machine] = /^(?:ssh:\/?)?((?:[\w.-]+@)?[a-z\d][\w.-]*(?::\d+)?)$/i.exec(text) ?? [];
		return machine === undefined ? undefined : `; for a machine of that name: ssh://${machine}`;
	},
	show: ({ user, host, port }) => formatSshAddress({ user, host, port }),
	directory: ({ dir }) => dir,
	identity: ({ dir: _, ...machine }) => machine,
	boundary: () => NO_BOUNDARY, // the other machine has things to lose too
	runs: {
		life: () => undefined,
		host: async (options, { home }) => (await load()).sshHost(options, { home }),
		trial: (options) => options,
	},
});
