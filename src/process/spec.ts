/** What a process is, written once by whoever started it: `spec.json`. */
import path from "node:path";
import { HoldfastError } from "../base/errors.js";
import { readIfThere } from "../base/files.js";
import type { LimitName, Limits } from "../base/limits.js";
import type { HostIdentity, Identity } from "../base/proc.js";
import { fill } from "../keeper/keepers.js";

export interface Spec {
	readonly v: 1;
	readonly id: string;
	readonly name?: string;
	readonly task: string;
	/** Shell text, or the words of an argument vector joined for people. Long ones are cut here; `command` has it all. */
	readonly command: string;
	readonly argv?: readonly string[];
	readonly shell?: "bash" | "sh";
	readonly cwd: string;
	readonly stdin: boolean;
	/** The kept process that started it through Holdfast. */
	readonly parent?: string;
	/** A persistent shell, or what keeps a sandbox: it belongs to its task, not into lists of what the task has started. */
	readonly kind?: "shell" | "sandbox";
	/** Of what keeps a sandbox: its working directory, and whether it has the host's network. */
	readonly view?: { readonly directory: string; readonly network: boolean };
	/** The sandbox it runs in, and that this has a network of its own. */
	readonly sandbox?: string;
	readonly ownNetwork?: true;
	/** A foreground command: not a process of its own, but what a persistent shell runs at the moment. */
	readonly within?: Within;
	readonly terminal?: { readonly cols: number; readonly rows: number; readonly by: string };
	readonly log: { readonly limit: number; readonly full: "ring" | "block" };
	/** As it is shown. */
	readonly place: string;
	/** The box it is on, when that is another machine: a name of a file in `places`. Its directory is a replica then, and `host` is that of its starter. */
	readonly box?: string;
	readonly kill: "cgroup" | "namespace" | "subreaper" | "walk";
	readonly cgroup?: string;
	/** What it may use of the machine. */
	readonly limits?: SpecLimits;
	readonly startedAt: number;
	readonly host: HostIdentity;
	readonly starter: Identity;
}

/** What holds, and by what it is kept. */
export interface SpecLimits {
	readonly process: Limits;
	readonly task: Limits;
	readonly by: { readonly [name in LimitName]?: string };
	/** The control groups: `TASK/ID` below each tree; and where the kernel counts what it did for the sake of a limit. */
	readonly group?: string;
	readonly counts?: { readonly memory?: string; readonly pids?: string };
}

export interface Within {
	/** What the shell calls it: see `begun` there. */
	readonly name: string;
	/** The id of the shell, and its bash. */
	readonly shell: string;
	readonly bash: Identity;
	/** Who sees that bash end. */
	readonly keeper: Identity;
	/** The control group of the shell, with all that its commands have started. */
	readonly group?: string;
	/** Children that bash had before: other commands started those. */
	readonly older: readonly number[];
}

export const COMMAND_SHOWN = 4096;

export function writeSpec(dir: string, spec: Spec): void {
	fill(dir, "spec.json", `${JSON.stringify(spec)}\n`);
}

/** undefined: not written yet. A file that cannot be understood is an error that names it. */
export function readSpec(dir: string): Spec | undefined {
	const text = readIfThere(path.join(dir, "spec.json"));
	if (!text) return undefined;
	try {
		const value: unknown = JSON.parse(text);
		if (isSpec(value)) return value;
	} catch {
		// not JSON: said below, as of anything else that is no spec
	}
	throw new HoldfastError("INTERNAL", `${dir}/spec.json cannot be read; \`holdfast doctor --clean\` moves such directories aside`);
}

/** By hand, because a list looks at thousands. What else may be wrong with a file that only we write does no harm. */
function isSpec(value: unknown): value is Spec {
	const spec = value as Spec | null;
	return (
		typeof spec === "object" &&
		spec !== null &&
		spec.v === 1 &&
		[spec.id, spec.task, spec.command, spec.cwd, spec.place, spec.kill].every((field) => typeof field === "string") &&
		[spec.host?.host, spec.host?.boot, spec.host?.pidns, spec.starter?.start].every((field) => typeof field === "string") &&
		[spec.startedAt, spec.starter?.pid, spec.log?.limit].every((field) => typeof field === "number")
	);
}
