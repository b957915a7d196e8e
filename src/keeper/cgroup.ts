/**
 * Cgroups: one per command, so that a kill is complete and the command can have limits, below one per task, for limits on the whole task; and one for
 * all keepers, so that they survive a service manager that kills a whole cgroup on restart. Uses version 2 if it has what is needed; each controller
 * that the machine has in version 1 has its own tree, with the same names. Only where this user may create cgroups.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { errno, isId, type LimitsInForce, readProc } from "../base/index.js";
import { type CgroupTree, CONTROLLERS, type Controller, writeLimits } from "./controllers.js";

/** The cgroups of one command. */
export interface CommandCgroups {
	/** `TASK/ID`, the same below every tree. */
	readonly name: string;
	/** The directory in version 2, by which the whole cgroup can be killed. */
	readonly kill: string | undefined;
	/** All directories to join, separated by colons; the first is `kill`, or empty. */
	readonly all: string;
}

export class Cgroups {
	readonly #trees: readonly CgroupTree[];
	readonly #kill: CgroupTree | undefined;
	/**
	 * True if keepers must leave the cgroup that this program runs in. Joining a cgroup can cost a kernel grace period of 10 ms or more, so it is
	 * avoided otherwise.
	 */
	readonly escape: boolean;

	constructor(kill: CgroupTree | undefined, others: readonly CgroupTree[], leave: boolean) {
		this.#kill = kill;
		this.#trees = kill ? [kill, ...others] : others;
		this.escape = leave;
	}

	/** True if commands can be killed by their cgroup. */
	get kills(): boolean {
		return this.#kill !== undefined;
	}

	/** The cgroups of the keepers and relays. */
	get keepers(): string {
		return this.#all("keepers");
	}

	treeOf(controller: Controller): CgroupTree | undefined {
		return this.#trees.find((tree) => tree.controllers.includes(controller));
	}

	/** Creates the cgroups of one command. Returns undefined on failure: the command is then killed by walking processes, and has only ulimit limits. */
	make(task: string, id: string, limits: Pick<LimitsInForce, Controller>, options: { swap: boolean }): CommandCgroups | undefined {
		const name = path.join(task, id);
		try {
			for (const tree of this.#trees) this.#makeIn(tree, task, id, limits, options);
		} catch {
			this.remove(name); // for instance too many cgroups
			return undefined;
		}
		return { name, kill: this.#kill && path.join(this.#kill.base, name), all: this.#all(name) };
	}

	#makeIn(tree: CgroupTree, task: string, id: string, limits: Pick<LimitsInForce, Controller>, options: { swap: boolean }): void {
		const above = path.join(tree.base, task);
		for (let tries = 0; ; tries++) {
			try {
				const fresh = fs.mkdirSync(above, { recursive: true }) !== undefined;
				if (fresh && tree.version === 2) enable(above, tree.controllers);
				try {
					writeLimits(tree, above, limits, { ...options, fresh });
				} catch (error) {
					if (errno(error) === "ENOENT") throw error;
					// version 1: current use exceeds the new limit, so the old limit stays
				}
				fs.mkdirSync(path.join(above, id));
				return;
			} catch (error) {
				if (errno(error) !== "ENOENT" || tries > 10) throw error; // else another program has just removed the task's empty cgroup
			}
		}
	}

	/** Sets the limits of one command before it runs. Throws if the kernel refuses them. */
	limit(name: string, limits: Pick<LimitsInForce, Controller>): void {
		for (const tree of this.#trees) writeLimits(tree, path.join(tree.base, name), limits);
	}

	/** Removes the cgroups of an ended command, and those of its task after the last command. */
	remove(name: string): void {
		for (const tree of this.#trees) {
			if (removeGroup(path.join(tree.base, name))) removeGroup(path.join(tree.base, path.dirname(name)), 0);
		}
	}

	/** Removes the cgroups of a command whose task is unknown. */
	removeOf(id: string): void {
		const tasks = new Set(this.#trees.flatMap((tree) => namesBelow(tree.base)).filter((name) => TASK.test(name)));
		for (const task of tasks) this.remove(path.join(task, id));
	}

	/** Removes empty cgroups that crashed programs of any home left. A cgroup in use cannot be removed. */
	sweep(olderThanMs: number): void {
		for (const tree of this.#trees) {
			for (const task of fs.readdirSync(tree.base)) {
				const dir = path.join(tree.base, task);
				if (isId(task)) removeOld(dir, olderThanMs);
				if (!TASK.test(task)) continue;
				for (const id of namesBelow(dir)) if (isId(id)) removeOld(path.join(dir, id), olderThanMs);
				removeOld(dir, olderThanMs);
			}
		}
	}

	#all(name: string): string {
		return [
			this.#kill ? path.join(this.#kill.base, name) : "",
			...this.#trees.filter((tree) => tree !== this.#kill).map((tree) => path.join(tree.base, name)),
		].join(":");
	}
}

const TASK = /^[0-9a-f]{12}$/;

const namesBelow = (dir: string): string[] => {
	try {
		return fs.readdirSync(dir);
	} catch {
		return []; // removed meanwhile
	}
};

/** Returns false if a process is left in the cgroup, or it does not exist. A runtime that ran inside may have created cgroups below it. */
function removeGroup(dir: string, depth = 4): boolean {
	try {
		fs.rmdirSync(dir);
		return true;
	} catch (error) {
		if (depth === 0 || errno(error) === "ENOENT") return false;
	}
	const groups = namesBelow(dir).filter((name) => name === "holdfast" || name === "keepers" || isId(name) || TASK.test(name));
	for (const name of groups) removeGroup(path.join(dir, name), depth - 1);
	return groups.length > 0 && removeGroup(dir, 0);
}

function removeOld(dir: string, olderThanMs: number): void {
	const made = fs.statSync(dir, { throwIfNoEntry: false })?.ctimeMs;
	if (made !== undefined && Date.now() - made > olderThanMs) removeGroup(dir, isId(path.basename(dir)) ? 4 : 0);
}

/** Returns the trees in which cgroups can be created; undefined if there are none. */
export function findCgroups(): Cgroups | undefined {
	const kill = findKillTree();
	const found = new Set(kill?.tree.controllers ?? []);
	const others = new Map<string, CgroupTree>();
	for (const controller of CONTROLLERS) {
		const tree = found.has(controller) ? undefined : findTree1(controller);
		if (tree) others.set(tree.base, { ...tree, controllers: [...(others.get(tree.base)?.controllers ?? []), controller] }); // controllers may share a tree
	}
	if (!kill && others.size === 0) return undefined;
	return new Cgroups(kill?.tree, [...others.values()], kill?.escape ?? false);
}

/** Returns the highest writable cgroup, in order to be outside of the one that this program was started in. */
function findKillTree(): { tree: CgroupTree; escape: boolean } | undefined {
	const mount = /^\S+ \S+ \S+ \/ (\S+) .* - cgroup2 /m.exec(readProc("/proc/self/mountinfo") ?? "")?.[1];
	const own = /^0::(\/.*)$/m.exec(readProc("/proc/self/cgroup") ?? "")?.[1];
	if (!mount || !own) return undefined;
	for (const parent of fromTheTop(mount, own)) {
		const base = path.join(parent, "holdfast");
		const keepers = path.join(base, "keepers");
		try {
			fs.accessSync(path.join(parent, "cgroup.procs"), fs.constants.W_OK);
			fs.mkdirSync(keepers, { recursive: true });
			fs.accessSync(path.join(keepers, "cgroup.kill"), fs.constants.W_OK);
		} catch {
			continue; // not writable, or a kernel before 5.14: try the next lower one
		}
		enable(parent, CONTROLLERS); // may be refused, because that cgroup has processes
		return { tree: { version: 2, base, controllers: enable(base, CONTROLLERS) }, escape: own !== "/" };
	}
	return undefined;
}

/** Enables controllers for the cgroups below this one. Returns those that are enabled now. */
function enable(group: string, controllers: readonly Controller[]): Controller[] {
	const file = path.join(group, "cgroup.subtree_control");
	const has = (name: string) => (readProc(path.join(group, name)) ?? "").trim().split(" ");
	const on = has("cgroup.subtree_control");
	const offered = has("cgroup.controllers");
	return controllers.filter((controller) => {
		if (on.includes(controller)) return true;
		if (!offered.includes(controller)) return false;
		try {
			fs.writeFileSync(file, `+${controller}`);
			return true;
		} catch {
			return false;
		}
	});
}

/** For version 1: returns the highest writable cgroup that does not escape a limit. */
function findTree1(controller: Controller): CgroupTree | undefined {
	const mounts = (readProc("/proc/self/mountinfo") ?? "").matchAll(/^\S+ \S+ \S+ \/ (\S+) .* - cgroup \S+ (\S+)$/gm);
	const mount = [...mounts].find(([, , options]) => options?.split(",").includes(controller))?.[1];
	const own = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(/.*)$`, "m").exec(readProc("/proc/self/cgroup") ?? "")?.[1];
	if (!mount || !own) return undefined;
	const parents = [...fromTheTop(mount, own)];
	const limited = parents.findLastIndex((group) => isLimited(group, controller));
	for (const parent of parents.slice(Math.max(0, limited))) {
		const base = path.join(parent, "holdfast");
		try {
			fs.accessSync(path.join(parent, "cgroup.procs"), fs.constants.W_OK);
			fs.mkdirSync(path.join(base, "keepers"), { recursive: true });
			if (controller === "cpu") weigh(base);
		} catch {
			continue;
		}
		return { version: 1, base, controllers: [controller] };
	}
	return undefined;
}

const SHARES = 1024; // the default of a new cgroup, and the weight of a single process in the parent

/**
 * Raises the share of our tree. In version 1 a cgroup competes with each single process beside it, and such machines often keep all processes there:
 * with the share of one process, all our commands would hardly run. Within the tree, tasks have equal shares.
 */
function weigh(base: string): void {
	const file = path.join(base, "cpu.shares");
	if (Number(readProc(file)) === SHARES) fs.writeFileSync(file, String(SHARES * 4 * os.availableParallelism()));
}

const UNLIMITED = 2 ** 62;

function isLimited(group: string, controller: Controller): boolean {
	const read = (name: string) => (readProc(path.join(group, name)) ?? "").trim();
	if (controller === "memory") return Number(read("memory.limit_in_bytes") || UNLIMITED) < UNLIMITED;
	if (controller === "pids") return !["", "max"].includes(read("pids.max"));
	return Number(read("cpu.cfs_quota_us") || -1) >= 0;
}

/** Yields our own cgroup and those above it, highest first. */
function* fromTheTop(mount: string, own: string): Generator<string> {
	const names = own.split("/").filter((name) => name && name !== "..");
	for (let depth = 0; depth <= names.length; depth++) yield path.join(mount, ...names.slice(0, depth));
}

/** Returns the service unit that this program runs in, if any; its service manager may kill the whole cgroup on restart. */
export function serviceUnit(): string | undefined {
	return /\/([^/\s]+\.service)(?:\/|$)/m.exec(readProc("/proc/self/cgroup") ?? "")?.[1];
}
