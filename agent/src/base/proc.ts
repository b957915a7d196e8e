/** Programs, told apart by pid and start time: a pid is used again, the pair is not. Linux only, as the core is. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";

export interface ProgramIdentity {
	readonly pid: number;
	/** Field 22 of /proc/PID/stat: clock ticks since boot. */
	readonly start: string;
	/** Host, boot and pid namespace: elsewhere the same pid is another program. */
	readonly host: string;
}

let own: ProgramIdentity | undefined;
export function thisProgram(): ProgramIdentity {
	own ??= { pid: process.pid, start: startOf(process.pid)?.start ?? "0", host: thisHost() };
	return own;
}

/** Undefined: it belongs to another host or pid namespace, from where it cannot be looked at. */
export function isRunning(program: ProgramIdentity): boolean | undefined {
	if (program.host !== thisHost()) return undefined;
	const now = startOf(program.pid);
	return now !== undefined && now.start === program.start && now.state !== "Z" && now.state !== "X";
}

/** Reads the fields behind the last parenthesis: the name of a program may have parentheses and spaces in it. */
function startOf(pid: number): { readonly state: string; readonly start: string } | undefined {
	const text = readText(`/proc/${pid}/stat`);
	const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
	return fields ? { state: fields[0] ?? "", start: fields[19] ?? "" } : undefined;
}

let host: string | undefined;
function thisHost(): string {
	const pidns = (() => {
		try {
			return fs.readlinkSync("/proc/self/ns/pid");
		} catch {
			return ""; // a /proc that hides it
		}
	})();
	host ??= createHash("sha256")
		.update([readText("/etc/machine-id")?.trim() || os.hostname(), readText("/proc/sys/kernel/random/boot_id")?.trim() ?? "", pidns].join("\n"))
		.digest("hex")
		.slice(0, 12);
	return host;
}

function readText(file: string): string | undefined {
	try {
		return fs.readFileSync(file, "utf8");
	} catch {
		return undefined; // gone, or not ours to look at
	}
}
