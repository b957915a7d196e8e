/** Containers of a Docker engine, as the table of kinds knows them. docs/places.md. */
import { exposesHost } from "../exposure.js";
import { defineKind, NO_BOUNDARY } from "../kind.js";
import { DEFAULT_IMAGE, dockerAddress, parseDockerAddress } from "./address.js";
import { containerLeftovers } from "./leftovers.js";
import { loadDocker } from "./load.js";
import { type DockerOptions, dockerSchema, dockerSettings, idleSeconds } from "./options.js";

const TRIAL_SECONDS = 120;

export const docker = defineKind({
	name: "docker",
	forms: ["docker://image", "docker://container=name"],
	schema: dockerSchema,
	settings: (options: DockerOptions) => dockerSettings(options),
	parse: (text): DockerOptions | undefined => (/^docker:\/\//i.test(text) ? parseDockerAddress(text) : undefined),
	show: ({ image, container }) => dockerAddress({ image, container }),
	directory: ({ workdir }) => workdir,
	identity: ({ workdir: _, ...rest }) => (rest.container === undefined ? { image: DEFAULT_IMAGE, ...rest } : rest),
	// A container is only as tight as its mounts, which are unknown for a container of another program.
	boundary: ({ container, volumes }) =>
		container === undefined ? { contains: !volumes.some(({ source }) => exposesHost(source)), hides: volumes.length === 0 } : NO_BOUNDARY,
	runs: {
		users: true,
		life: (settings) => (settings.container === undefined ? { idleSeconds: idleSeconds(settings) } : undefined),
		host: async (options, owner, hooks) => (await loadDocker()).dockerHost(options, owner, hooks),
		trial: (options) => (options.container === undefined ? { ...options, keep: false, lifetime: TRIAL_SECONDS } : options),
		leftovers: containerLeftovers,
	},
});
