/** The options of an instance, each with its default. docs/places.md explains them. */
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { directory, environment, idleSecondsOf, lifetime, MIB, readBy, saying, size } from "../settings.js";
import { parseVolume } from "../volumes.js";
import { sourceProblem } from "./address.js";

export const apptainerSchema = z.lazy(() =>
	z.strictObject({
		/** An image of a registry, or the absolute path of a SIF file. */
		image: saying(sourceProblem),
		/** "missing": fetches a registry image once and converts it to a SIF file. "never": a missing image is an error. */
		pull: z.enum(["never", "missing"]).default("missing"),
		/** The registry has no TLS. */
		insecure: z.boolean().default(false),
		/** Commands run as root inside, as far as Apptainer can do that. */
		fakeroot: z.boolean().default(false),
		/** Exposes NVIDIA's devices and libraries. */
		gpu: z.boolean().default(false),
		/** false: loopback only. */
		network: z.boolean().default(true),
		/** These need cgroups that this user may use; otherwise they are an error. */
		cpus: z.number().min(0.01).max(1024).optional(),
		memory: size(16 * MIB).optional(),
		pids: z.number().int().min(32).max(4_194_304).optional(),
		volumes: z.array(readBy(parseVolume)).max(100).default([]),
		environment,
		/** Where a new shell starts; created if missing. */
		workdir: directory.optional(),
		/** Directory for images and the files of instances. */
		scratch: saying((text) => (/^\/[^\0\n:,]*$/.test(text) ? undefined : "must be an absolute path without a colon or a comma")).optional(),
		/** The end of its task stops the instance and keeps its files. */
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
