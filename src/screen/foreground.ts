/** The foreground of a terminal: the processes that get what is typed there. */
import { isLiving, type Kernel, type Stat } from "../base/index.js";
import { snapshot } from "../process/index.js";

export interface Foreground {
	/** The number of the terminal, 0 when there is none. */
	readonly device: number;
	/** The living processes of its foreground process group. */
	readonly members: readonly Stat[];
	/**
	 * Below the foreground, where it does nothing but wait for them: on the terminal in another group (timeout(1) makes one), or without a
	 * controlling terminal in a session of their own (setsid(1), `su -c`), to which the kernel gives what is typed all the same.
	 */
	readonly below: readonly Stat[];
}

/** Of the terminal that `pid` has: most often they are below it; only if none is (an orphan) all processes are looked at. */
export async function foregroundOf(kernel: Kernel, pid: number): Promise<Foreground> {
	const family = await kernel.family(pid);
	// `setsid -c` takes the terminal away from the session that had it.
	const { terminal: device, foreground: group } = family.find((stat) => stat.terminal !== 0) ?? { terminal: 0, foreground: -1 };
	if (group <= 0) return { device, members: [], below: [] };
	const found = family.filter((stat) => stat.pgrp === group);
	if (found.length === 0) return { device, members: [...(await snapshot(kernel)).stats.values()].filter((stat) => stat.pgrp === group), below: [] };
	const members = found.filter(isLiving);
	const others = family.filter((stat) => stat.pgrp !== group && isLiving(stat) && (stat.terminal === device || stat.terminal === 0));
	return { device, members, below: others.filter((stat) => isBelow(stat, members, family)) };
}

/** Is each of these an ancestor of it? Where one is not, the foreground has something to do besides. */
function isBelow(stat: Stat, members: readonly Stat[], family: readonly Stat[]): boolean {
	const parents = new Map(family.map(({ pid, ppid }) => [pid, ppid]));
	const above = new Set<number>();
	for (let at = parents.get(stat.pid); at !== undefined && !above.has(at); at = parents.get(at)) above.add(at);
	return members.every(({ pid }) => above.has(pid));
}

/**
 * A program that runs another one on a terminal of its own, as sudo and script do, passes keys on: what the inner one
 * does decides. This is a process on that inner terminal; "none" when no process is on it (yet); undefined when `pid` is not such a
 * program, or has stopped the inner one for the time being, as mc does with its shell.
 */
export async function innerOf(kernel: Kernel, pid: number): Promise<number | "none" | undefined> {
	const [fds = []] = await kernel.names([`/proc/${pid}/fd`]);
	const hidden = fds.length === 0; // another user's: sudo, most likely
	const links = await kernel.links(fds.map((fd) => `/proc/${pid}/fd/${fd}`));
	if (!hidden && !links.some((link) => link?.endsWith("/ptmx"))) return undefined;
	const [own, ...below] = await kernel.family(pid);
	const inner = below.find((stat) => stat.session !== own?.session && stat.foreground > 0 && isLiving(stat));
	if (!inner) return hidden ? undefined : "none";
	return inner.state === "T" ? undefined : inner.pid;
}
