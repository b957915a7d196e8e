/** How a job is asked for: every option with its default. docs/places.md explains them. */
import * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { apptainerSchema } from "../apptainer/options.js";
import { directory, environment, idleSecondsOf, lifetime, MIB, saying, size } from "../settings.js";

const word = (what: string) =>
	saying((text) =>
		/^[\w.+:@,=()*[\]/-]{1,200}$/.test(text) && !text.startsWith("-") ? undefined : `takes ${what}, without spaces and without a dash in front`,
	);

/** Minutes; or as Slurm writes it: 90, "30:00", "4:00:00", "1-12". */
const time = z.lazy(() =>
	z
		.union(
			[z.number().int().min(1).max(1_000_000), z.string().regex(/^(\d+|\d+:\d\d|\d+:\d\d:\d\d|\d+-\d+(:\d\d){0,2})$/)],
			'takes minutes, or text such as "4:00:00" or "1-12"',
		)
		.default(240),
);

/** Settings of a container in the job, without those that belong to the job. */
export const innerSchema = z.lazy(() =>
	apptainerSchema.unwrap().omit({ keep: true, lifetime: true, workdir: true, environment: true, cpus: true, memory: true, pids: true }).strict(),
);

export const slurmSchema = z.lazy(() =>
	z.strictObject({
		/** Without one, the cluster's default. */
		partition: word("the name of a partition").optional(),
		account: word("the name of an account").optional(),
		qos: word("the name of a quality of service").optional(),
		/** The hard end of the job. */
		time,
		cpus: z.number().int().min(1).max(4096).default(1),
		memory: size(16 * MIB).optional(),
		/** How many, of whatever kind; or with a kind: "a100:2". */
		gpus: z.union([z.number().int().min(1).max(64), word('a number, or a kind and a number: "a100:2"')]).optional(),
		constraint: word("what `sbatch --constraint` takes").optional(),
		reservation: word("the name of a reservation").optional(),
		/** Shell text that the job runs first: `module load apptainer`. Others may see it. */
		setup: z
			.string()
			.max(10_000)
			.refine((text) => !text.includes("\0"), "cannot contain a NUL byte")
			.optional(),
		/** Commands run in a container of Apptainer in the job. */
		apptainer: innerSchema.optional(),
		environment,
		workdir: directory.optional(),
		/** A directory of the node for Holdfast's own files; not on a network. */
		scratch: directory.default("/tmp"),
		lifetime,
	}),
);

export type SlurmOptions = z.input<typeof slurmSchema>;
export type SlurmSettings = z.output<typeof slurmSchema>;

export function slurmSettings(options: SlurmOptions): SlurmSettings {
	const result = checked(slurmSchema, options);
	if ("problems" in result) throw new HoldfastError("INVALID", `slurm: ${result.problems}`);
	return result.data;
}

export const idleSeconds = ({ lifetime: given }: Pick<SlurmSettings, "lifetime">): number => idleSecondsOf(given);
