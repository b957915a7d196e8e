/** How a container is made: every option with its default. docs/places.md explains them. */
import * as z from "zod";
import { HoldfastError } from "../../base/errors.js";
import { checked } from "../../base/problems.js";
import { parseSize, sizeText } from "../../base/quantity.js";
import { DEFAULT_IMAGE, directoryProblem, imageProblem } from "./address.js";
import { parseArguments } from "./arguments.js";
import { parseVolume } from "./volumes.js";

const MIB = 1024 ** 2;

/** Bytes, as people write them. */
const size = (least: number) =>
	z.union([z.number(), z.string()], 'takes for example "512M" or 536870912').transform((given, context): number => {
		const bytes = typeof given === "string" ? parseSize(given) : given;
		const refuse = (why: string) => {
			context.addIssue({ code: "custom", message: why });
			return z.NEVER;
		};
		if (bytes === undefined || !Number.isSafeInteger(bytes)) return refuse('takes for example "512M" or 536870912');
		return bytes < least ? refuse(`must be at least ${sizeText(least)}`) : bytes;
	});

/** Text that a function of ours reads, which says what is wrong with it. */
const readBy = <T>(read: (text: string) => T) =>
	z.string().transform((text, context): T => {
		try {
			return read(text);
		} catch (error) {
			context.addIssue({ code: "custom", message: (error as Error).message });
			return z.NEVER;
		}
	});

const saying = (problem: (text: string) => string | undefined) =>
	z.string().superRefine((text, context) => {
		const wrong = problem(text);
		if (wrong !== undefined) context.addIssue({ code: "custom", message: wrong });
	});

/** zod does not pass on what is wrong with a key. */
const everyKey = (problem: (key: string) => string | undefined) => (record: Record<string, unknown>, context: z.RefinementCtx) => {
	for (const wrong of Object.keys(record).map(problem)) if (wrong !== undefined) context.addIssue({ code: "custom", message: wrong });
};

const directory = saying(directoryProblem);

export const TMPFS: Readonly<Record<string, number>> = { "/tmp": 512 * MIB, "/var/tmp": 256 * MIB, "/run": 64 * MIB };

export const dockerSchema = z.strictObject({
	image: saying(imageProblem).default(DEFAULT_IMAGE),
	/** "never": an image that is not there is an error. "missing": it is fetched. */
	pull: z.enum(["never", "missing"]).default("never"),
	/** Of how many cores it may have the time; 0.5 is half of one. */
	cpus: z.number().min(0.01).max(1024).optional(),
	memory: size(16 * MIB).optional(),
	/** How large its own files may get; few engines can do that, and then it is an error. */
	disk: size(MIB).optional(),
	/** How many processes and threads at once. */
	pids: z.number().int().min(32).max(4_194_304).default(256),
	network: z.boolean().default(true),
	volumes: z.array(readBy(parseVolume)).max(100).default([]),
	environment: z
		.record(
			z.string(),
			z.string().refine((text) => !text.includes("\0"), "a value cannot contain a NUL byte"),
		)
		.superRefine(
			everyKey((name) => (/^[^=\0]+$/.test(name) ? undefined : `a name cannot be empty or contain "=" or a NUL byte, as ${JSON.stringify(name)} does`)),
		)
		.default({}),
	/** "host": with the ids of whoever runs Holdfast. Without it, as the image says. */
	user: z
		.string()
		.regex(/^[\w.-]+(:[\w.-]+)?$/, 'takes "host", a name or an id, and a group behind a colon: "1000:1000"')
		.optional(),
	/** Flags of `docker run`, of those in arguments.ts. */
	arguments: z.array(z.string()).max(200).default([]),
	/** Directories in memory, and how much each may hold; null: not that one of the defaults. */
	tmpfs: z
		.record(z.string(), size(MIB).nullable())
		.superRefine(everyKey(directoryProblem))
		.default({})
		.transform((given) => Object.fromEntries(Object.entries({ ...TMPFS, ...given }).filter((pair): pair is [string, number] => pair[1] !== null))),
	/** Where a new shell starts. Without it, where the image says, else the user's home. */
	workdir: directory.optional(),
	/** At the end of its task it is stopped, not removed. */
	keep: z.boolean().default(false),
	/** Seconds without a sign of life of any runtime, and without a process that runs, after which it stops itself. */
	lifetime: z.number().int().min(2).max(31_536_000).default(300),
	/** In place of DOCKER_HOST. */
	engine: z.string().min(1).optional(),
});

export type DockerOptions = z.input<typeof dockerSchema>;
export type DockerSettings = z.output<typeof dockerSchema>;

export function dockerSettings(options: DockerOptions): DockerSettings {
	const result = checked(dockerSchema, options);
	if ("problems" in result) throw new HoldfastError("INVALID", `docker: ${result.problems}`);
	parseArguments(result.data.arguments);
	return result.data;
}
