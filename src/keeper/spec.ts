/** What a process is, written once by the program that starts it: `spec.json`. */
import path from "node:path";
import { HoldfastError, type HostIdentity, hostIdentity, type Identity, isAlive, type LimitName, type LimitsInForce, readIfThere } from "../base/index.js";
import { fill } from "./keepers.js";
import type { Parts } from "./layout.js";

export interface Spec {
	readonly v: 1;
	readonly id: string;
	readonly name?: string;
	readonly task: string;
	/** Shell text, or the words of an argument vector joined for people. Long ones are cut here; `command` has it all. */
	readonly command: string;
	readonly argv?: readonly string[];
	readonly shell?: "bash" | "sh";
	/** It is started again when it ends: the command is what does that. */
	readonly restart?: "always" | "on-failure";
	readonly cwd: string;
	readonly stdin: boolean;
	/** The kept process that started it through Holdfast. */
	readonly parent?: string;
	/** The id that the caller gave the call which started it. */
	readonly call?: string;
	/** A persistent shell, or what keeps a sandbox: it belongs to its task, not into lists of what the task has started. */
	readonly kind?: "shell" | "sandbox";
	/** Of what keeps a sandbox: its working directory, and whether it has the host's network. */
	readonly view?: { readonly directory: string; readonly network: boolean; readonly settings?: Readonly<Record<string, string>> };
	/** The sandbox it runs in, and that this has a network of its own. */
	readonly sandbox?: string;
	readonly ownNetwork?: true;
	/** A foreground command: not a process of its own, but what a persistent shell runs at the moment. */
	readonly within?: Within;
	/** Of a foreground command that has ended, and whose slot has gone on to others: how it ended, and where its part of the log does. */
	readonly past?: { readonly to: number; readonly code: number | null; readonly status: "exited" | "killed" | "lost"; readonly endedAt: number };
	readonly terminal?: { readonly cols: number; readonly rows: number; readonly by: string };
	readonly log: { readonly limit: number; readonly full: "ring" | "block" };
	/** As it is shown. */
	readonly place: string;
	/** The key of the remote machine it is on: a name of a file in `places`. Its directory is a replica then, and `host` is that of its starter. */
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
	readonly process: LimitsInForce;
	readonly task: LimitsInForce;
	readonly by: { readonly [name in LimitName]?: string };
	/** The control groups: `TASK/ID` below each tree; and where the kernel counts what it did for the sake of a limit. */
	readonly group?: string;
	readonly counts?: { readonly memory?: string; readonly pids?: string };
}

export interface Within {
	/** What the shell calls it: see `begun` there. */
	readonly name: string;
	/** The slot it is in, and where in the log of that its own output begins. Absent where it is the only one that the slot ever serves. */
	readonly slot?: string;
	readonly from?: number;
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

/** Returns the command's own process: below the terminal's keeper when there is one; for a foreground command the shell itself. */
export const commandOf = (parts: Parts, spec: Spec): Identity | undefined =>
	spec.within?.bash ?? (spec.terminal ? parts.command : (parts.command ?? parts.child));

/** Returns the process that writes `exit`. */
export const witnessOf = (parts: Parts, spec: Spec): Identity | undefined =>
	spec.within?.keeper ?? (spec.terminal ? (parts.terminal ?? parts.keeper) : parts.keeper);

/** Returns what files about the use of its place have in their names: see placeKey. */
export const keyOfPlace = ({ place, box = place }: Pick<Spec, "place" | "box">): string => box;

/** Returns the directory of another process of the same home. */
export const siblingOf = (dir: string, id: string): string => path.join(dir, "..", "..", id.charAt(5), id);

/** Whether the program that was to start it, or to send it to its shell, is gone for good. What it has sent to a remote machine may still be under way. */
export function starterIsGone({ host, starter }: Spec): boolean {
	const here = hostIdentity();
	if (host.host !== here.host) return false; // it cannot be seen from here
	return host.boot !== here.boot || (host.pidns === here.pidns && !isAlive(starter));
}
