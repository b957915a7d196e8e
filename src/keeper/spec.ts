/** The description of a process, written once by the program that starts it: `spec.json`. */
import path from "node:path";
import { HoldfastError, type HostIdentity, hostIdentity, type Identity, isAlive, type LimitName, type LimitsInForce, readIfThere } from "../base/index.js";
import { fill } from "./keepers.js";
import type { Parts } from "./layout.js";

export interface Spec {
	readonly v: 1;
	readonly id: string;
	readonly name?: string;
	readonly task: string;
	/** Shell text, or an argument vector joined for display. Long ones are cut here; the file `command` has the full text. */
	readonly command: string;
	readonly argv?: readonly string[];
	readonly shell?: "bash" | "sh";
	/** Restarted when it ends: the command itself does that. */
	readonly restart?: "always" | "on-failure";
	readonly cwd: string;
	readonly stdin: boolean;
	/** The kept process that started it through Holdfast. */
	readonly parent?: string;
	/** The caller's id of the call that started it. */
	readonly call?: string;
	/** A persistent shell, or the holder of a sandbox: it belongs to its task, but is not listed among the task's processes. */
	readonly kind?: "shell" | "sandbox";
	/** For the holder of a sandbox: its working directory, and whether it has the host's network. */
	readonly view?: { readonly directory: string; readonly network: boolean; readonly settings?: Readonly<Record<string, string>> };
	/** The sandbox that it runs in, and whether that has its own network. */
	readonly sandbox?: string;
	readonly ownNetwork?: true;
	/** A foreground command: not a process of its own, but the current command of a persistent shell. */
	readonly within?: Within;
	/** For an ended foreground command whose slot now serves others: how it ended, and where its part of the log ends. */
	readonly past?: { readonly to: number; readonly code: number | null; readonly status: "exited" | "killed" | "lost"; readonly endedAt: number };
	readonly terminal?: { readonly cols: number; readonly rows: number; readonly by: string };
	readonly log: { readonly limit: number; readonly full: "ring" | "block" };
	/** The display name. */
	readonly place: string;
	/** The key of its remote machine: the name of a file in `places`. Then its directory is a replica, and `host` is that of its starter. */
	readonly box?: string;
	readonly kill: "cgroup" | "namespace" | "subreaper" | "walk";
	readonly cgroup?: string;
	/** Resource limits. */
	readonly limits?: SpecLimits;
	readonly startedAt: number;
	readonly host: HostIdentity;
	readonly starter: Identity;
}

/** The limits in force, and what enforces each. */
export interface SpecLimits {
	readonly process: LimitsInForce;
	readonly task: LimitsInForce;
	readonly by: { readonly [name in LimitName]?: string };
	/** The cgroups: `TASK/ID` below each tree; and the files in which the kernel counts limit events. */
	readonly group?: string;
	readonly counts?: { readonly memory?: string; readonly pids?: string };
}

export interface Within {
	/** The shell's name for the command: see `begun` there. */
	readonly name: string;
	/** Its slot, and where its output begins in the slot's log. Absent if it is the only command that the slot ever serves. */
	readonly slot?: string;
	readonly from?: number;
	/** The id of the shell, and its bash process. */
	readonly shell: string;
	readonly bash: Identity;
	/** The process that sees bash end. */
	readonly keeper: Identity;
	/** The cgroup of the shell, with all processes that its commands have started. */
	readonly group?: string;
	/** Earlier children of bash, started by other commands. */
	readonly older: readonly number[];
}

export const COMMAND_SHOWN = 4096;

export function writeSpec(dir: string, spec: Spec): void {
	fill(dir, "spec.json", `${JSON.stringify(spec)}\n`);
}

/** Returns undefined if not written yet. Throws an error that names an unreadable file. */
export function readSpec(dir: string): Spec | undefined {
	const text = readIfThere(path.join(dir, "spec.json"));
	if (!text) return undefined;
	try {
		const value: unknown = JSON.parse(text);
		if (isSpec(value)) return value;
	} catch {
		// not JSON: reported below, like any other invalid content
	}
	throw new HoldfastError("INTERNAL", `${dir}/spec.json cannot be read; \`holdfast doctor --clean\` moves such directories aside`);
}

/** Checks by hand, because a list reads thousands. Other errors in a file that only we write are harmless. */
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

/** Returns the command's own process: below the terminal's keeper if there is one; for a foreground command the shell itself. */
export const commandOf = (parts: Parts, spec: Spec): Identity | undefined =>
	spec.within?.bash ?? (spec.terminal ? parts.command : (parts.command ?? parts.child));

/** Returns the process that writes `exit`. */
export const witnessOf = (parts: Parts, spec: Spec): Identity | undefined =>
	spec.within?.keeper ?? (spec.terminal ? (parts.terminal ?? parts.keeper) : parts.keeper);

/** Returns the key in the names of files about the use of its place: see placeKey. */
export const keyOfPlace = ({ place, box = place }: Pick<Spec, "place" | "box">): string => box;

/** Returns the directory of another process of the same home. */
export const siblingOf = (dir: string, id: string): string => path.join(dir, "..", "..", id.charAt(5), id);

/**
 * Returns true if the program that was to start it, or to send it to its shell, is gone for good. Data that it sent to a remote machine may still be
 * in transit.
 */
export function starterIsGone({ host, starter }: Spec): boolean {
	const here = hostIdentity();
	if (host.host !== here.host) return false; // another host: unknown
	return host.boot !== here.boot || (host.pidns === here.pidns && !isAlive(starter));
}
