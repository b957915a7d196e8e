/** The options of an instance, each with its default. docs/places.md explains them. The API key is not an option: settings are kept in the home. */
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { directory, environment, MIB, saying, size } from "../settings.js";
import { snapshotProblem } from "./address.js";

export const morphSchema = z.lazy(() =>
	z.strictObject({
		snapshot: saying(snapshotProblem),
		/** Other sizes than those of the snapshot. */
		cpus: z.number().int().min(1).max(1024).optional(),
		memory: size(128 * MIB).optional(),
		disk: size(128 * MIB).optional(),
		environment,
		workdir: directory.optional(),
		/** The end of its task pauses the instance instead of stopping it. */
		keep: z.boolean().default(false),
		/** Seconds without renewal by a program, after which the service acts. */
		lifetime: z.number().int().min(60).max(604_800).default(300),
		/** The action of the service then: "pause" keeps memory and files, "stop" loses them. */
		onIdle: z.enum(["pause", "stop"]).default("pause"),
	}),
);

export type MorphOptions = z.input<typeof morphSchema>;
export type MorphSettings = z.output<typeof morphSchema>;

export function morphSettings(options: MorphOptions): MorphSettings {
	const result = checked(morphSchema, options);
	if ("problems" in result) throw new HoldfastError("INVALID", `morph: ${result.problems}`);
	return result.data;
}
