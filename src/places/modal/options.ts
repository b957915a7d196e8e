/** The options of a Modal sandbox, each with its default. docs/places.md explains them. */
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { directoryProblem } from "../image-name.js";
import { directory, environment, idleSecondsOf, lifetime, MIB, readBy, saying, size } from "../settings.js";
import { modalImageProblem } from "./address.js";

/** Checks a name as the library does. */
const nameProblem = (text: string): string | undefined =>
	/^[a-zA-Z0-9-_.]{1,63}$/.test(text) ? undefined : `is letters, digits, dashes, dots and underscores, at most 63, not ${JSON.stringify(text.slice(0, 100))}`;
const name = saying(nameProblem);

export interface ModalVolume {
	readonly volume: string;
	readonly target: string;
	readonly readOnly: boolean;
}

/** Parses `volume:/path[:ro]`: a Modal volume by its name, and its mount point. */
function parseModalVolume(text: string): ModalVolume {
	const [volume = "", target = "", mode, ...more] = text.split(":");
	const wrong = nameProblem(volume) ?? directoryProblem(target);
	if (wrong !== undefined || more.length > 0 || (mode !== undefined && mode !== "ro" && mode !== "rw"))
		throw new HoldfastError(
			"INVALID",
			`takes the name of a volume of Modal and a path, "volume:/there" or "volume:/there:ro", not ${JSON.stringify(text.slice(0, 200))}`,
		);
	return { volume, target, readOnly: mode === "ro" };
}

export const modalSchema = z.lazy(() =>
	z.strictObject({
		image: saying(modalImageProblem),
		/** Default: the environment of Modal's own profile. */
		modalEnvironment: name.optional(),
		/** Minutes: the fixed end of the sandbox. */
		time: z.number().int().min(1).max(1440).default(240),
		cpus: z.number().min(0.125).max(256).optional(),
		memory: size(128 * MIB).optional(),
		/** A kind, or a kind and a number: "T4", "H100:2". */
		gpu: z
			.string()
			.regex(/^[A-Za-z0-9-]{1,40}(:[1-9]\d?)?$/, 'takes for example "T4" or "H100:2"')
			.optional(),
		/** false: no network access in either direction. */
		network: z.boolean().default(true),
		regions: z.array(name).max(20).default([]),
		volumes: z.array(readBy(parseModalVolume)).max(100).default([]),
		/** Modal secrets by name: commands see their values as variables. */
		secrets: z.array(name).max(50).default([]),
		/** A Modal secret with the login of a private registry: REGISTRY_USERNAME and REGISTRY_PASSWORD. */
		registrySecret: name.optional(),
		environment,
		workdir: directory.optional(),
		/** The end of its task keeps a snapshot of its files, and the next sandbox is made from it. */
		keep: z.boolean().default(false),
		lifetime,
	}),
);

export type ModalOptions = z.input<typeof modalSchema>;
export type ModalSettings = z.output<typeof modalSchema>;

export function modalSettings(options: ModalOptions): ModalSettings {
	const result = checked(modalSchema, options);
	if ("problems" in result) throw new HoldfastError("INVALID", `modal: ${result.problems}`);
	return result.data;
}

export const idleSeconds = ({ lifetime: given }: Pick<ModalSettings, "lifetime">): number => idleSecondsOf(given);
