/** How an instance is made: every option with its default. docs/places.md explains them. */
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { directory, environment, idleSecondsOf, lifetime, MIB, readBy, saying, size } from "../settings.js";
import { parseVolume } from "../volumes.js";
import { sourceProblem } from "./address.js";

export const apptainerSchema = z.lazy(() =>
	z.strictObject({
		/** An image of a registry, or the absolute path of a SIF file. */
		image: saying(sourceProblem),
		/** "missing": an image of a registry is fetched once, and made a SIF file. "never": one that is not there is an error. */
		pull: z.enum(["never", "missing"]).default("missing"),
		/** The registry has no TLS. */
		insecure: z.boolean().default(false),
		/** Commands are root in there, as far as Apptainer can make them that. */
		fakeroot: z.boolean().default(false),
		/** NVIDIA's devices and libraries. */
		gpu: z.boolean().default(false),
		/** false: loopback alone. */
		network: z.boolean().default(true),
		/** These need control groups that this user may use; else they are an error. */
		cpus: z.number().min(0.01).max(1024).optional(),
		memory: size(16 * MIB).optional(),
		pids: z.number().int().min(32).max(4_194_304).optional(),
		volumes: z.array(readBy(parseVolume)).max(100).default([]),
		environment,
		/** Where a new shell starts; made if it is not there. */
		workdir: directory.optional(),
		/** Where images and the files of instances are. */
		scratch: saying((text) => (/^\/[^\0\n:,]*$/.test(text) ? undefined : "must be an absolute path without a colon or a comma")).optional(),
		/** At the end of its task it is stopped, with its files. */
		keep: z.boolean().default(false),
		lifetime,
	}),
);

export type ApptainerOptions = z.input<typeof apptainerSchema>;
export type ApptainerSettings = z.output<typeof apptainerSchema>;

export function apptainerSettings(options: ApptainerOptions): ApptainerSettings {
	const result = checked(apptainerSchema, options);
	if ("problems" in result) throw new HoldfastError("INVALID", `apptainer: ${result.problems}`);
	return result.data;
}

export const idleSeconds = ({ lifetime: given }: Pick<ApptainerSettings, "lifetime">): number => idleSecondsOf(given);
