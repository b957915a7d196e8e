/** What a process is, written once by whoever started it: `spec.json`. */
import path from "node:path";
import * as z from "zod";
import { HoldfastError } from "../base/errors.js";
import { readIfThere } from "../base/files.js";
import { fill } from "../keeper/keepers.js";

const identity = z.object({ pid: z.number(), start: z.string() });

const schema = z.object({
	v: z.literal(1),
	id: z.string(),
	name: z.string().optional(),
	task: z.string(),
	/** Shell text, or the words of an argument vector joined for people. Long ones are cut here; `command` has it all. */
	command: z.string(),
	argv: z.array(z.string()).optional(),
	shell: z.enum(["bash", "sh"]).optional(),
	cwd: z.string(),
	stdin: z.boolean(),
	terminal: z.object({ cols: z.number(), rows: z.number(), by: z.string() }).optional(),
	log: z.object({ limit: z.number(), full: z.enum(["ring", "block"]) }),
	place: z.string(),
	kill: z.enum(["cgroup", "subreaper", "walk"]),
	cgroup: z.string().optional(),
	startedAt: z.number(),
	host: z.object({ host: z.string(), boot: z.string(), pidns: z.string() }),
	starter: identity,
});

export type Spec = z.infer<typeof schema>;

export const COMMAND_SHOWN = 4096;

export function writeSpec(dir: string, spec: Spec): void {
	fill(dir, "spec.json", `${JSON.stringify(spec)}\n`);
}

/** undefined: not written yet. A file that cannot be understood is an error that names it. */
export function readSpec(dir: string): Spec | undefined {
	const text = readIfThere(path.join(dir, "spec.json"));
	if (!text) return undefined;
	try {
		return schema.parse(JSON.parse(text));
	} catch (cause) {
		throw new HoldfastError("INTERNAL", `${dir}/spec.json cannot be read; \`holdfast doctor --clean\` moves such directories aside`, { cause });
	}
}
