/**
 * Control groups, version 2: one for each command, so that a kill is total, and one for all keepers, so that a service
 * manager that kills a whole group on restart does not take them along. Only where this user may make them.
 */
import fs from "node:fs";
import path from "node:path";
import { isId } from "../base/ids.js";
import { readProc } from "../base/proc.js";

export interface Cgroups {
	/** The group of the keepers and relays. */
	readonly keepers: string;
	/** There is something for keepers to get out of. Joining a group can cost a grace period of the kernel, 10 ms and more: not without need. */
	readonly escape: boolean;
	/** Make the group of one command; undefined when that fails, and the command is killed by walking instead. */
	make(id: string): string | undefined;
	remove(id: string): void;
	/** Remove groups that crashed programs left empty, of whatever home. One that is in use cannot be removed. */
	sweep(olderThanMs: number): void;
	pathOf(id: string): string;
}

/** Where groups can be made: as high up as we may write, so as to be outside of whatever we were started in. */
export function findCgroups(): Cgroups | undefined {
	const own = ownGroup();
	for (const parent of candidates(own)) {
		const base = path.join(parent, "holdfast");
		const keepers = path.join(base, "keepers");
		try {
			fs.accessSync(path.join(parent, "cgroup.procs"), fs.constants.W_OK);
			fs.mkdirSync(keepers, { recursive: true });
			fs.accessSync(path.join(keepers, "cgroup.kill"), fs.constants.W_OK);
		} catch {
			continue; // not ours to write, or a kernel before 5.14: the next one down, or none
		}
		return {
			keepers,
			escape: own !== "/",
			pathOf: (id) => path.join(base, id),
			make(id) {
				try {
					fs.mkdirSync(path.join(base, id));
					return path.join(base, id);
				} catch {
					return undefined; // too many groups, for one; killing then walks
				}
			},
			remove(id) {
				try {
					fs.rmdirSync(path.join(base, id));
				} catch {
					// never made, or somebody is left in it: pruning tries again
				}
			},
			sweep(olderThanMs) {
				for (const id of fs.readdirSync(base)) {
					const made = isId(id) ? fs.statSync(path.join(base, id), { throwIfNoEntry: false })?.ctimeMs : undefined;
					if (made !== undefined && Date.now() - made > olderThanMs) this.remove(id);
				}
			},
		};
	}
	return undefined;
}

/** Our own group and those above it, highest first. */
function* candidates(own: string | undefined): Generator<string> {
	const mount = /^\S+ \S+ \S+ \/ (\S+) .* - cgroup2 /m.exec(readProc("/proc/self/mountinfo") ?? "")?.[1];
	if (!mount || !own) return;
	const names = own.split("/").filter((name) => name && name !== "..");
	for (let depth = 0; depth <= names.length; depth++) yield path.join(mount, ...names.slice(0, depth));
}

const ownGroup = (): string | undefined => /^0::(\/.*)$/m.exec(readProc("/proc/self/cgroup") ?? "")?.[1];

/** The unit of a service manager that this program runs in, if it does; it may kill the whole group when it restarts. */
export function serviceUnit(): string | undefined {
	return /\/([^/\s]+\.service)(?:\/|$)/m.exec(readProc("/proc/self/cgroup") ?? "")?.[1];
}
