/** Who is in the foreground of a terminal: the processes that get what is typed there. */
import { linkOf, parseStat, readProc, readStat, type Stat } from "../base/proc.js";
import { snapshot } from "../process/tree.js";
import { entries } from "./procfs.js";

/**
 * The living members of the foreground process group of the terminal that `pid` has. A walk down from there finds them
 * in a few reads however many processes the machine has; only if it finds nobody (an orphan) all of /proc is looked at.
 */
export async function foregroundOf(pid: number): Promise<Stat[]> {
	const group = readStat(pid)?.foreground ?? -1;
	if (group <= 0) return [];
	const found = descendants(pid).filter((stat) => stat.pgrp === group);
	if (found.length > 0) return found.filter(alive);
	return [...(await snapshot()).stats.values()].filter((stat) => stat.pgrp === group && alive(stat));
}

/**
 * A program that runs another one on a terminal of its own, as sudo and script do, passes keys on: what the inner one
 * does decides. This is a process on that inner terminal; "none" when nobody is on it (yet); undefined when `pid` is not such a
 * program, or has stopped the inner one for the time being, as mc does with its shell.
 */
export function innerOf(pid: number): number | "none" | undefined {
	const fds = entries(`/proc/${pid}/fd`);
	const hidden = fds.length === 0; // another user's: sudo, most likely
	if (!hidden && !fds.some((fd) => /\/ptmx$/.test(linkOf(`/proc/${pid}/fd/${fd}`) ?? ""))) return undefined;
	const [own, ...below] = descendants(pid);
	const inner = below.find((stat) => stat.session !== own?.session && stat.foreground > 0 && alive(stat));
	if (!inner) return hidden ? undefined : "none";
	return inner.state === "T" ? undefined : inner.pid;
}

/** `pid` itself first, then all below it, nearest first. */
function descendants(pid: number): Stat[] {
	const found: Stat[] = [];
	const queue = [pid];
	for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
		const text = readProc(`/proc/${next}/stat`);
		const stat = text === undefined ? undefined : parseStat(text);
		if (!stat) continue;
		found.push(stat);
		// A child belongs to the thread that made it; Go makes them in any.
		for (const tid of entries(`/proc/${next}/task`)) queue.push(...numbers(readProc(`/proc/${next}/task/${tid}/children`)));
	}
	return found;
}

const numbers = (text: string | undefined): number[] => (text ? text.trim().split(" ").filter(Boolean).map(Number) : []);

const alive = (stat: Stat): boolean => stat.state !== "Z" && stat.state !== "X";
