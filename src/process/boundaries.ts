/** The limits of processes and tasks, and the mechanism that enforces each one on this machine. docs/limits.md. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { HoldfastError, type LimitName, type LimitsAsked, type LimitsInForce, type ProcessLimitsAsked } from "../base/index.js";
import {
	type Cgroups,
	CONTROLLERS,
	type CommandCgroups,
	type Controller,
	type KeptLimits,
	limitFile,
	oomFile,
	PIDS_EVENTS,
	type Spec,
	type SpecLimits,
} from "../keeper/index.js";
import type { Machine } from "../places/index.js";

/** Defaults that keep one runaway task from taking down the machine. */
const DEFAULT_TASK = { memoryShare: 0.9, pids: 4096 };

/** The mechanism that can enforce a limit on this machine; undefined: none. */
export type LimitMeans = "cgroup" | "ulimit" | "keeper" | undefined;

export class Boundaries {
	readonly #asked: LimitsAsked;
	readonly #cgroups: Cgroups | undefined;
	/** Limits for everything a task runs together; only those that can be enforced. */
	readonly task: Pick<LimitsInForce, Controller>;

	constructor(asked: LimitsAsked, cgroups: Cgroups | undefined) {
		this.#asked = asked;
		this.#cgroups = cgroups;
		const { task } = asked;
		const defaults: Pick<LimitsInForce, Controller> = { memory: Math.floor(os.totalmem() * DEFAULT_TASK.memoryShare), pids: DEFAULT_TASK.pids };
		this.task = Object.fromEntries(
			CONTROLLERS.filter((name) => cgroups?.treeOf(name)).flatMap((name) => {
				const value = task[name] === undefined ? defaults[name] : task[name];
				return typeof value === "number" ? [[name, value]] : [];
			}),
		);
	}

	get processes(): number | undefined {
		return this.#asked.task.processes;
	}

	group(task: string, id: string): CommandCgroups | undefined {
		return this.#cgroups?.make(task, id, this.task, { swap: typeof this.#asked.task.memory === "number" });
	}

	means(name: LimitName, scope: "process" | "task"): LimitMeans {
		if (name === "time" || name === "output" || name === "output_rate") return "keeper";
		if (name === "cpu_time" || name === "file_size") return "ulimit";
		if (this.#cgroups?.treeOf(name)) return "cgroup";
		if (scope === "task" || name === "cpu") return undefined;
		return name === "memory" || process.getuid?.() !== 0 ? "ulimit" : undefined; // the kernel does not hold root to ulimit -u
	}

	/** Returns the name of the mechanism. */
	by(name: LimitName, scope: "process" | "task"): string | undefined {
		const means = this.means(name, scope);
		if (means === "keeper") return "keeper";
		if (means === "ulimit") return `ulimit -${new Map(LETTERS).get(name)}`;
		const tree = means && this.#cgroups?.treeOf(name as Controller);
		return tree && `cgroup v${tree.version} ${limitFile(tree, name as Controller)}`;
	}

	/** Returns the limits of a process that is about to start. Throws if a requested limit cannot be enforced on this machine. */
	forProcess(given: ProcessLimitsAsked = {}, kind?: Spec["kind"]): { limits: LimitsInForce; kept: KeptLimits; explicit: boolean } {
		const all = { ...this.#asked.process, ...given };
		const limits: { [name in LimitName]?: number } = {};
		for (const [name, value] of Object.entries(all) as [LimitName, number | null | undefined][]) {
			if (typeof value !== "number" || kind === "sandbox" || (kind === "shell" && NOT_OF_SHELLS.includes(name))) continue;
			if (!this.means(name, "process")) throw cannot(name, "process");
			limits[name] = value;
		}
		for (const name of CONTROLLERS) if (typeof this.#asked.task[name] === "number" && !this.means(name, "task")) throw cannot(name, "task");
		const ulimit = LETTERS.flatMap(([name, letter]) => {
			const value = limits[name];
			return value === undefined || this.means(name, "process") !== "ulimit" ? [] : [[letter, inUnits(name, value)] as const];
		});
		const explicit = CONTROLLERS.some((name) => limits[name] !== undefined || typeof this.#asked.task[name] === "number");
		const { time, output, output_rate } = limits;
		return { limits, explicit, kept: { strict: explicit && this.#cgroups !== undefined, time, output, output_rate, ulimit } };
	}

	/** Returns the limits that the keeper of a foreground command enforces, in addition to the limits of its shell. */
	forCommand(): Pick<LimitsInForce, "time" | "output" | "output_rate"> {
		const { time, output, output_rate } = this.#asked.process;
		return { ...(time ? { time } : {}), ...(output ? { output } : {}), ...(output_rate ? { output_rate } : {}) };
	}

	/** Returns the files in which the kernel counts. */
	#counts({ name }: CommandCgroups): { memory?: string; pids?: string } {
		const memory = this.#cgroups?.treeOf("memory");
		const pids = this.#cgroups?.treeOf("pids");
		return {
			...(memory ? { memory: path.join(memory.base, name, oomFile(memory)) } : {}),
			...(pids ? { pids: path.join(pids.base, name, PIDS_EVENTS) } : {}),
		};
	}

	/** Applies the limits to the cgroup of a process. Returns the limits in force, for its spec. */
	apply(
		group: CommandCgroups | undefined,
		{ limits, explicit }: { limits: LimitsInForce; explicit: boolean },
		{ name, keepers }: Machine,
	): SpecLimits | undefined {
		if (explicit && this.#cgroups && !keepers.groups)
			throw new HoldfastError(
				"UNSUPPORTED",
				`nothing ran: ${CONTROLLERS.join(", ")} of a process, or of a task in config.json, cannot be limited on ${name}; leave them out there (time, output, output_rate, cpu_time and file_size hold everywhere; a container has settings of its own)`,
			);
		if (explicit && this.#cgroups && !group)
			throw new HoldfastError(
				"START_FAILED",
				"nothing ran: no control group could be made for it, so its limits would not hold; try again, or start it without",
			);
		if (group) {
			try {
				this.#cgroups?.limit(group.name, limits);
			} catch (error) {
				throw new HoldfastError("START_FAILED", `nothing ran: the kernel refuses its limits (${(error as Error).message})`, { cause: error });
			}
		}
		const task = group ? this.task : {};
		const names = new Set([...Object.keys(limits), ...Object.keys(task)]) as Set<LimitName>;
		if (names.size === 0 && !group) return undefined;
		const by = Object.fromEntries([...names].map((name) => [name, this.by(name, limits[name] === undefined ? "task" : "process")]));
		return { process: limits, task, by, ...(group ? { group: group.name, counts: this.#counts(group) } : {}) };
	}
}

/** Limits of a foreground command, not of its shell. The CPU time of a shell would be that of its whole life. */
const NOT_OF_SHELLS: readonly LimitName[] = ["time", "output", "output_rate", "cpu_time"];

const LETTERS: readonly (readonly [LimitName, string])[] = [
	["memory", "d"],
	["pids", "u"],
	["cpu_time", "t"],
	["file_size", "f"],
];

/** Converts to the units of ulimit(1) in a POSIX shell. `ulimit -u` counts all processes of the user, so those that run now are added. */
function inUnits(name: LimitName, value: number): number {
	if (name === "memory") return Math.ceil(value / 1024);
	if (name === "file_size") return Math.ceil(value / 512);
	return name === "pids" ? value + threadsOfUser() : value;
}

function threadsOfUser(): number {
	const uid = process.getuid?.();
	let count = 0;
	for (const name of fs.readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		try {
			if (fs.statSync(`/proc/${name}`).uid === uid) count += fs.readdirSync(`/proc/${name}/task`).length;
		} catch {
			// exited meanwhile
		}
	}
	return count;
}

function cannot(name: LimitName, scope: "process" | "task"): HoldfastError {
	const why = name === "pids" && scope === "process" ? ", and root is not held to ulimit -u" : "";
	return new HoldfastError(
		"UNSUPPORTED",
		`nothing ran: cannot enforce the limit "${name}" of a ${scope} here: no cgroup with that controller is available${why}; \`holdfast doctor\` says what can, or do without it (null)`,
	);
}
