/** How a container is made: every option with its default. docs/places.md explains them. */
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
		/** "never": an image that is not there is an error. "missing": it is fetched. */
		pull: z.enum(["never", "missing"]).default("never"),
		/** Of how many cores it may have the time; 0.5 is half of one. */
		cpus: z.number().min(0.01).max(1024).optional(),
		memory: size(16 * MIB).optional(),
		/** How large its own files may get; few engines can do that, and then it is an error. */
		disk: size(MIB).optional(),
		/** "plain": with Docker's own rights and the image's own way to start, as programs expect that were made for `docker run`. */
		profile: z.enum(["hardened", "plain"]).default("hardened"),
		/** How many processes and threads at once. By default 256; in a plain one 4096. */
		pids: z.number().int().min(32).max(4_194_304).optional(),
		network: z.boolean().default(true),
		volumes: z.array(readBy(parseVolume)).max(100).default([]),
		environment,
		/** "host": with the ids of whoever runs Holdfast. Without it, as the image says. */
		user: z.string().refine(isUser, USER_FORM).optional(),
		/** Flags of `docker run`, of those in arguments.ts. */
		arguments: z.array(z.string()).max(200).default([]),
		/** Directories in memory, and how much each may hold; null: not that one of the defaults. A plain one has none by default. */
		tmpfs: z.record(z.string(), size(MIB).nullable()).superRefine(everyKey(directoryProblem)).default({}),
		/** Where a new shell starts. Without it, where the image says, else the user's home. */
		workdir: directory.optional(),
		/** At the end of its task it is stopped, not removed. */
		keep: z.boolean().default(false),
		/** Seconds without a sign of life of any runtime, and without a process that runs, after which it stops itself. "task": it stays until its task is ended. */
		lifetime,
		/** In place of DOCKER_HOST. */
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

/** What can be chosen for a container that somebody else has made. */
const WITH_CONTAINER = ["container", "workdir", "user", "engine"];

export const idleSeconds = ({ lifetime }: Pick<DockerSettings, "lifetime">): number => idleSecondsOf(lifetime);
