/** The kernel's facts about processes, from /proc. Linux only. */
import fs from "node:fs";
import os from "node:os";
import { readIfThere } from "./files.js";

/** A process, safe against reuse of its number: start is field 22 of /proc/PID/stat, in clock ticks since boot. */
export interface Identity {
	readonly pid: number;
	readonly start: string;
}

export interface Stat extends Identity {
	readonly comm: string;
	readonly state: string;
	readonly ppid: number;
	readonly pgrp: number;
	readonly session: number;
	readonly terminal: number; // the device of the terminal that it belongs to, 0 without one
	readonly foreground: number; // process group in the foreground of its terminal, -1 without one
}

export function parseStat(text: string): Stat | undefined {
	const open = text.indexOf("(");
	const close = text.lastIndexOf(")");
	if (open < 0 || close < 0) return undefined;
	const f = text.slice(close + 2).split(" ");
	return {
		pid: Number.parseInt(text, 10),
		comm: text.slice(open + 1, close),
		state: f[0] ?? "",
		ppid: Number(f[1]),
		pgrp: Number(f[2]),
		session: Number(f[3]),
		terminal: Number(f[4]),
		foreground: Number(f[5]),
		start: f[19] ?? "",
	};
}

export function readStat(pid: number): Stat | undefined {
	const text = readProc(`/proc/${pid}/stat`);
	return text === undefined ? undefined : parseStat(text);
}

/** kill(pid, 0) would succeed on a zombie and on a stranger with the same number: look at state and start time. */
export function isAlive(id: Identity): boolean {
	const stat = readStat(id.pid);
	return stat !== undefined && stat.start === id.start && stat.state !== "Z" && stat.state !== "X";
}

export function childrenOf(pid: number): number[] {
	const text = readProc(`/proc/${pid}/task/${pid}/children`);
	return text ? text.trim().split(" ").filter(Boolean).map(Number) : [];
}

/** A file of /proc as text; undefined when the process is gone or not ours to look at. */
export function readProc(path: string): string | undefined {
	try {
		return fs.readFileSync(path, "utf8"); // Node has a short way for this encoding, and this is called often
	} catch {
		return undefined; // ENOENT, ESRCH, EACCES: in each case nothing is known
	}
}

/** From /proc/PID/syscall: it waits in read(2) of its standard input, on x86-64 and on arm64. Of a shell: it has read all that it was sent. */
export const readsStdin = (syscall: string | undefined): boolean => /^(0|63) 0x0 /.test(syscall ?? "");

export function linkOf(path: string): string | undefined {
	try {
		return fs.readlinkSync(path);
	} catch {
		return undefined; // as in readProc
	}
}

/** The scope in which a pid is valid: another boot, host or pid namespace has other processes behind the same numbers. */
export interface HostIdentity {
	readonly host: string;
	readonly boot: string;
	readonly pidns: string;
}

let here: HostIdentity | undefined;
export function hostIdentity(): HostIdentity {
	here ??= {
		host: readIfThere("/etc/machine-id")?.trim() || os.hostname(),
		boot: readProc("/proc/sys/kernel/random/boot_id")?.trim() ?? "",
		pidns: linkOf("/proc/self/ns/pid") ?? "",
	};
	return here;
}

export const sameHost = (a: HostIdentity, b: HostIdentity): boolean => a.host === b.host && a.boot === b.boot && a.pidns === b.pidns;

/** Sends a signal. Returns false if there was no such process. */
export function sendSignal(pid: number, signal: NodeJS.Signals | number): boolean {
	try {
		process.kill(pid, signal);
		return true;
	} catch {
		return false; // ESRCH: gone. EPERM: not ours; the caller looks afterwards which processes survived
	}
}

/** The same for the process that was seen, and never for another that has its number by now. */
export const sendSignalTo = (id: Identity, signal: NodeJS.Signals): boolean => isAlive(id) && sendSignal(id.pid, signal);

/** A file of /proc that is looked at again and again: one read each time, and a reused pid cannot be mistaken for the old one. */
export class ProcFile {
	static readonly #buffer = Buffer.allocUnsafeSlow(4096);
	#fd: number | undefined;

	constructor(path: string) {
		try {
			this.#fd = fs.openSync(path, "r");
		} catch {
			// gone already: it reads as nothing
		}
	}

	/** Undefined once the process has gone. */
	read(): string | undefined {
		if (this.#fd === undefined) return undefined;
		try {
			return ProcFile.#buffer.toString("latin1", 0, fs.readSync(this.#fd, ProcFile.#buffer, 0, 4096, 0));
		} catch {
			return undefined;
		}
	}

	close(): void {
		if (this.#fd !== undefined) fs.closeSync(this.#fd);
		this.#fd = undefined;
	}
}
