/** The maker of a file, as a part of its name: HOST.PID.START. */
import { createHash } from "node:crypto";
import { statIfThere } from "./files.js";
import { hostIdentity, isAlive, readStat } from "./proc.js";

const ELSEWHERE_MS = 10 * 60_000;

let known: string | undefined;
/** This host, boot and pid namespace. */
export function here(): string {
	known ??= createHash("sha256").update(Object.values(hostIdentity()).join("\n")).digest("hex").slice(0, 8);
	return known;
}

export const me = (): string => `${here()}.${process.pid}.${readStat(process.pid)?.start ?? "0"}`;

/** The same in the order of names that earlier versions read too: PID.START.HOST, what follows a START is not looked at by them. */
export const whoAtEnd = (): string => `${process.pid}.${readStat(process.pid)?.start ?? "0"}.${here()}`;

/** Has the maker of `file` died? A program of another host or container cannot be looked at: after ten minutes it counts as gone. */
export function isGone(who: string, file: string): boolean {
	const [host, pid, start] = who.split(".");
	if (host === here()) return !isAlive({ pid: Number(pid), start: start ?? "" });
	const stat = statIfThere(file);
	return stat === undefined || Date.now() - stat.ctimeMs > ELSEWHERE_MS;
}
