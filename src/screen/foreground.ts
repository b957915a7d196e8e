/** The foreground of a terminal: the processes that receive its input. */
import { isLiving, type Kernel, type Stat } from "../base/index.js";
import { snapshot } from "../process/index.js";

export interface Foreground {
	/** The device number of the terminal; 0 if there is none. */
	readonly device: number;
	/** The living processes of its foreground process group. */
	readonly members: readonly Stat[];
	/**
	 * Descendants of the foreground, if all its members only wait for them: on the terminal in another group (timeout(1) creates one), or without a
	 * controlling terminal in a session of their own (setsid(1), `su -c`), where they can still read its input.
	 */
	readonly below: readonly Stat[];
}

/** Returns the foreground of the terminal of `pid`. Its members are usually descendants of `pid`; only if none is (an orphan), searches all processes. */
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

/** Returns true if every member is an ancestor of the process. Otherwise the foreground has other work. */
function isBelow(stat: Stat, members: readonly Stat[], family: readonly Stat[]): boolean {
	const parents = new Map(family.map(({ pid, ppid }) => [pid, ppid]));
	const above = new Set<number>();
	for (let at = parents.get(stat.pid); at !== undefined && !above.has(at); at = parents.get(at)) above.add(at);
	return members.every(({ pid }) => above.has(pid));
}

/**
 * Returns a process on the inner terminal of a program that runs another one on a terminal of its own and passes keys on (sudo, script): the inner
 * program decides. Returns "none" if no process is on the inner terminal (yet); undefined if `pid` is not such a program, or has stopped the inner one
 * for now, as mc does with its shell.
 */
export async function innerOf(kernel: Kernel, pid: number): Promise<number | "none" | undefined> {
	const [fds = []] = await kernel.names([`/proc/${pid}/fd`]);
	const hidden = fds.length === 0; // belongs to another user: most likely sudo
	const links = await kernel.links(fds.map((fd) => `/proc/${pid}/fd/${fd}`));
	if (!hidden && !links.some((link) => link?.endsWith("/ptmx"))) return undefined;
	const [own, ...below] = await kernel.family(pid);
	const inner = below.find((stat) => stat.session !== own?.session && stat.foreground > 0 && isLiving(stat));
	if (!inner) return hidden ? undefined : "none";
	return inner.state === "T" ? undefined : inner.pid;
}
