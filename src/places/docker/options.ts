/** The options of a container, each with its default. docs/places.md explains them. */
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { directoryProblem, imageProblem } from "../image-name.js";
import { directory, environment, everyKey, idleSecondsOf, lifetime, MIB, readBy, saying, size } from "../settings.js";
import { isUser, USER_FORM } from "../user.js";
import { parseVolume } from "../volumes.js";
import { containerProblem, DEFAULT_IMAGE } from "./address.js";
import { parseArguments } from "./arguments.js";

interface ProfileDefaults {
	readonly pids: number;
	readonly tmpfs: Readonly<Record<string, number>>;
}
const DEFAULTS: Readonly<Record<"hardened" | "plain", ProfileDefaults>> = {
	hardened: { pids: 256, tmpfs: { "/tmp": 512 * MIB, "/var/tmp": 256 * MIB, "/run": 64 * MIB } },
	plain: { pids: 4096, tmpfs: {} },
};

export const dockerSchema = z.lazy(() =>
	z.strictObject({
		image: saying(imageProblem).default(DEFAULT_IMAGE),
		/** An existing container, by its name or id, instead of a new one. Holdfast never starts, stops or removes it. */
		container: saying(containerProblem).optional(),
		/** "never": a missing image is an error. "missing": it is fetched. */
		pull: z.enum(["never", "missing"]).default("never"),
		/** CPU time in cores; 0.5 is half a core. */
		cpus: z.number().min(0.01).max(1024).optional(),
		memory: size(16 * MIB).optional(),
		/** Size limit of its root file system. Few engines support it; on others it is an error. */
		disk: size(MIB).optional(),
		/** "plain": Docker's default capabilities and the image's own ENTRYPOINT, for programs made for `docker run`. */
		profile: z.enum(["hardened", "plain"]).default("hardened"),
		/** Limit on processes and threads. By default 256; in a plain one 4096. */
		pids: z.number().int().min(32).max(4_194_304).optional(),
		network: z.boolean().default(true),
		volumes: z.array(readBy(parseVolume)).max(100).default([]),
		environment,
		/** "host": the ids of the user that runs Holdfast. Default: the image's user. */
		user: z.string().refine(isUser, USER_FORM).optional(),
		/** Flags of `docker run`, limited to those in arguments.ts. */
		arguments: z.array(z.string()).max(200).default([]),
		/** In-memory directories and their sizes; null drops one of the defaults. A plain container has none by default. */
		tmpfs: z.record(z.string(), size(MIB).nullable()).superRefine(everyKey(directoryProblem)).default({}),
		/** Where a new shell starts. Default: the image's directory, else the user's home. */
		workdir: directory.optional(),
		/** The end of its task stops the container instead of removing it. */
		keep: z.boolean().default(false),
		/** Seconds without a sign of life of any runtime, and without a running process, after which it stops itself. "task": it stays until its task ends. */
		lifetime,
		/** Instead of DOCKER_HOST. */
		engine: z.string().min(1).optional(),
	}),
);

export type DockerOptions = z.input<typeof dockerSchema>;
export interface DockerSettings extends Omit<z.output<typeof dockerSchema>, "pids" | "tmpfs"> {
	readonly pids: number;
	readonly tmpfs: Readonly<Record<string, number>>;
}

export function dockerSettings(options: DockerOptions): DockerSettings {
	const result = checked(dockerSchema, options);
	if ("problems" in result) throw new HoldfastError("INVALID", `docker: ${result.problems}`);
	const { data } = result;
	const others = Object.keys(options).filter((key) => options[key as keyof DockerOptions] !== undefined && !WITH_CONTAINER.includes(key));
	if (data.container !== undefined && others.length > 0)
		throw new HoldfastError(
			"INVALID",
			`docker: "container" names a container that is there already, so ${others.map((key) => JSON.stringify(key)).join(", ")} cannot be set for it; with "container" there are ${WITH_CONTAINER.slice(1).join(", ")}`,
		);
	parseArguments(data.arguments);
	const { pids, tmpfs } = DEFAULTS[data.profile];
	const inMemory = Object.entries({ ...tmpfs, ...data.tmpfs }).filter((pair): pair is [string, number] => pair[1] !== null);
	return { ...data, pids: data.pids ?? pids, tmpfs: Object.fromEntries(inMemory) };
}

/** The options that apply to a container of another program. */
const WITH_CONTAINER = ["container", "workdir", "user", "engine"];

export const idleSeconds = ({ lifetime }: Pick<DockerSettings, "lifetime">): number => idleSecondsOf(lifetime);
