/** Checks who asks for a password: only our own askpass, run by the real sudo, below a process of a task. The kernel says so, not the program that asks. */
import fs from "node:fs";
import { type Identity, linkOf, namesIn, readProc, readStat } from "../base/index.js";
import { readParts } from "../keeper/index.js";
import type { Runtime } from "../process/index.js";
import { ASKPASS } from "./program.js";

export interface Asker {
	readonly askpass: Identity;
	readonly sudo: Identity;
	readonly task: string;
	/** The name at which it listens. */
	readonly name: string;
}

const HIGHEST = 1_000; // ancestors

/** `name`: where it listens. undefined: it is none of ours, or does not. */
export function askerOf(runtime: Runtime, pid: number, name: string): Asker | undefined {
	const askpass = readStat(pid);
	if (!askpass || !isOwn(pid) || linkOf(`/proc/${pid}/exe`) !== fs.realpathSync(process.execPath)) return undefined;
	if ((readProc(`/proc/${pid}/cmdline`) ?? "").split("\0")[1] !== ASKPASS || !listens(pid, name)) return undefined;
	const sudo = readStat(askpass.ppid);
	// Nothing of this user's can have root's rights under that name but sudo itself.
	if (sudo?.comm !== "sudo" || !/^Uid:\t\d+\t0\t/m.test(readProc(`/proc/${sudo.pid}/status`) ?? "")) return undefined;
	const task = taskAbove(runtime, sudo.ppid);
	return task === undefined ? undefined : { askpass, sudo, task, name };
}

/** An abstract socket has one inode for as long as a program listens on it. */
function listens(pid: number, name: string): boolean {
	// Shown with @ for each NUL; Node fills the name up with those.
	const lines = (readProc("/proc/net/unix") ?? "").split("\n").filter((line) => line.replace(/@+$/, "").endsWith(` @${name}`));
	const held = namesIn(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
	return lines.length > 0 && lines.every((line) => held.includes(`socket:[${line.trim().split(/\s+/)[6]}]`));
}

const isOwn = (pid: number): boolean => fs.statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.getuid?.();

/** Up from a process to one that a task has started. What it says of itself does not count. */
function taskAbove(runtime: Runtime, from: number): string | undefined {
	const started = new Map<string, string>();
	for (const { dir, spec } of runtime.list({ task: null, shells: true, ended: false }))
		for (const part of Object.values(readParts(dir))) if (part) started.set(`${part.pid}.${part.start}`, spec.task);
	let pid = from;
	for (let height = 0; pid > 1 && height < HIGHEST; height++) {
		const stat = readStat(pid);
		if (!stat) return undefined;
		const task = started.get(`${stat.pid}.${stat.start}`);
		if (task !== undefined) return task;
		pid = stat.ppid;
	}
	return undefined;
}
