/** How a sandbox of Modal is made: every option with its default. docs/places.md explains them. */
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { directoryProblem } from "../image-name.js";
import { directory, environment, idleSecondsOf, lifetime, MIB, readBy, saying, size } from "../settings.js";
import { modalImageProblem } from "./address.js";

/** As the library checks them. */
const nameProblem = (text: string): string | undefined =>
	/^[a-zA-Z0-9-_.]{1,63}$/.test(text) ? undefined : `is letters, digits, dashes, dots and underscores, at most 63, not ${JSON.stringify(text.slice(0, 100))}`;
const name = saying(nameProblem);

export interface ModalVolume {
	readonly volume: string;
	readonly target: string;
	readonly readOnly: boolean;
}

/** `volume:/there[:ro]`: a volume of Modal by its name. */
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
		/** Without it, that of Modal's own profile. */
		modalEnvironment: name.optional(),
		/** Minutes: the hard end of the sandbox. */
		time: z.number().int().min(1).max(1440).default(240),
		cpus: z.number().min(0.125).max(256).optional(),
		memory: size(128 * MIB).optional(),
		/** A kind, or a kind and a number: "T4", "H100:2". */
		gpu: z
			.string()
			.regex(/^[A-Za-z0-9-]{1,40}(:[1-9]\d?)?$/, 'takes for example "T4" or "H100:2"')
			.optional(),
		/** false: nothing in it reaches a network, nor is it reached. */
		network: z.boolean().default(true),
		regions: z.array(name).max(20).default([]),
		volumes: z.array(readBy(parseModalVolume)).max(100).default([]),
		/** Secrets of Modal by their names: commands see their values as variables. */
		secrets: z.array(name).max(50).default([]),
		/** A secret of Modal with the login of a private registry: REGISTRY_USERNAME and REGISTRY_PASSWORD. */
		registrySecret: name.optional(),
		environment,
		workdir: directory.optional(),
		/** At the end of its task a snapshot of its files is kept, and the next one is made of it. */
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
