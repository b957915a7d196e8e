/**
 * Control groups: one for each command, so that a kill is total and it can have limits, below one for each task, so that all
 * that the task runs can have limits together; and one for all keepers, so that a service manager that kills a whole group on
 * restart does not take them along. In version 2 where that has what is needed; controllers that the machine has
 * in version 1 have a tree each, with the same names in it. Only where this user may make them.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { errno, isId, type LimitsInForce, readProc } from "../base/index.js";
import { type CgroupTree, CONTROLLERS, type Controller, writeLimits } from "./controllers.js";

/** The groups of one command. */
export interface CommandCgroups {
	/** `TASK/ID`: the same below every tree. */
	readonly name: string;
	/** In version 2, where it can be killed as one. */
	readonly kill: string | undefined;
	/** Every directory to join, joined by colons; the first is `kill`, or empty. */
	readonly all: string;
}

export class Cgroups {
	readonly #trees: readonly CgroupTree[];
	readonly #kill: CgroupTree | undefined;
	/** There is something for keepers to get out of. Joining a group can cost a grace period of the kernel, 10 ms and more: not without need. */
	readonly escape: boolean;

	constructor(kill: CgroupTree | undefined, others: readonly CgroupTree[], leave: boolean) {
		this.#kill = kill;
		this.#trees = kill ? [kill, ...others] : others;
		this.escape = leave;
	}

	/** Commands can be killed by their group. */
	get kills(): boolean {
		return this.#kill !== undefined;
	}

	/** The groups of the keepers and relays. */
	get keepers(): string {
		return this.#all("keepers");
	}

	treeOf(controller: Controller): CgroupTree | undefined {
		return this.#trees.find((tree) => tree.controllers.includes(controller));
	}

	/** Make the groups of one command; undefined when that fails, and it is killed by walking, and has no limits but those of ulimit. */
	make(task: string, id: string, limits: Pick<LimitsInForce, Controller>, options: { swap: boolean }): CommandCgroups | undefined {
		const name = path.join(task, id);
		try {
			for (const tree of this.#trees) this.#makeIn(tree, task, id, limits, options);
		} catch {
			this.remove(name); // too many groups, for one
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
					// more is in use than it is to have from now on (version 1): it keeps the limit it has
				}
				fs.mkdirSync(path.join(above, id));
				return;
			} catch (error) {
				if (errno(error) !== "ENOENT" || tries > 10) throw error; // else another program has just removed the task's, which was empty
			}
		}
	}

	/** Limits of one command, before it runs. Throws when the kernel refuses them. */
	limit(name: string, limits: Pick<LimitsInForce, Controller>): void {
		for (const tree of this.#trees) writeLimits(tree, path.join(tree.base, name), limits);
	}

	/** Remove the groups of a command that is over, and those of its task with the last one. */
	remove(name: string): void {
		for (const tree of this.#trees) {
			if (removeGroup(path.join(tree.base, name))) removeGroup(path.join(tree.base, path.dirname(name)), 0);
		}
	}

	/** The same where its task is not known any more. */
	removeOf(id: string): void {
		const tasks = new Set(this.#trees.flatMap((tree) => namesBelow(tree.base)).filter((name) => TASK.test(name)));
		for (const task of tasks) this.remove(path.join(task, id));
	}

	/** Remove groups that crashed programs left empty, of whatever home. One that is in use cannot be removed. */
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

/** Returns false if a process is left in it, or it does not exist. A runtime that ran in it may have made groups below. */
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

/** Where groups can be made; undefined when there is no such place. */
export function findCgroups(): Cgroups | undefined {
	const kill = findKillTree();
	const found = new Set(kill?.tree.controllers ?? []);
	const others = new Map<string, CgroupTree>();
	for (const controller of CONTROLLERS) {
		const tree = found.has(controller) ? undefined : findTree1(controller);
		if (tree) others.set(tree.base, { ...tree, controllers: [...(others.get(tree.base)?.controllers ?? []), controller] }); // several may share a tree
	}
	if (!kill && others.size === 0) return undefined;
	return new Cgroups(kill?.tree, [...others.values()], kill?.escape ?? false);
}

/** As high up as we may write, so as to be outside of whatever we were started in. */
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
			continue; // not ours to write, or a kernel before 5.14: the next one down, or none
		}
		enable(parent, CONTROLLERS); // may be refused: other processes are in that group
		return { tree: { version: 2, base, controllers: enable(base, CONTROLLERS) }, escape: own !== "/" };
	}
	return undefined;
}

/** Have the groups below this one limited by what there is; returns which controllers they have now. */
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

/** In version 1: as high up as we may write, but not out of a group that has a limit. */
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

const SHARES = 1024; // what a new group has, and a single process of the group above

/**
 * In version 1 a group competes with each process beside it, and machines with version 1 often have all their processes there:
 * with the share of one process, all that we run would hardly get on beside them. Within it each task has the same share.
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

/** Our own group and those above it, highest first. */
function* fromTheTop(mount: string, own: string): Generator<string> {
	const names = own.split("/").filter((name) => name && name !== "..");
	for (let depth = 0; depth <= names.length; depth++) yield path.join(mount, ...names.slice(0, depth));
}

/** The unit of a service manager that this program runs in, if it does; it may kill the whole group when it restarts. */
export function serviceUnit(): string | undefined {
	return /\/([^/\s]+\.service)(?:\/|$)/m.exec(readProc("/proc/self/cgroup") ?? "")?.[1];
}
