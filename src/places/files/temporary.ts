/** Names of what is not finished yet: they say whose it is, so that what somebody who was killed has left is known for what it is. */
import { createHash, randomBytes } from "node:crypto";
import { hostIdentity, isAlive, readStat } from "../../base/index.js";

export const TEMPORARY = ".holdfast-tmp.";
/** A draft that was not written to for so long is stale. */
export const TEMPORARY_MINUTES = 60;

let own: { readonly host: string; readonly writer: string } | undefined;

function ours(): { readonly host: string; readonly writer: string } {
	if (!own) {
		const { host, boot, pidns } = hostIdentity();
		const key = createHash("sha256").update(`${host}\0${boot}\0${pidns}`).digest("hex").slice(0, 12);
		own = { host: key, writer: `${process.pid}-${readStat(process.pid)?.start ?? 0}` };
	}
	return own;
}

/** Those of this program that are being worked on. */
const used = new Set<string>();

/** `.holdfast-tmp.HOST.PID-START.RANDOM` */
export function temporaryName(): string {
	const name = `${TEMPORARY}${ours().host}.${ours().writer}.${randomBytes(6).toString("hex")}`;
	used.add(name);
	return name;
}

/** Whether it was removed, or moved, or could not be: nobody works on it any more. */
export const discarded = (name: string): void => void used.delete(name);
/** What begins like this was left by a program of this machine, wherever it is. */
export const ownTemporary = (): string => `${TEMPORARY}${ours().host}.`;
export const isTemporary = (name: string): boolean => name.startsWith(TEMPORARY);

/** The writer was a program of this machine, and has ended or given the draft up. */
export function isAbandoned(name: string): boolean {
	const [, pid, start] = (name.startsWith(ownTemporary()) ? /^(\d+)-(\d+)\./.exec(name.slice(ownTemporary().length)) : null) ?? [];
	if (pid === undefined || start === undefined) return false;
	return `${pid}-${start}` === ours().writer ? !used.has(name) : !isAlive({ pid: Number(pid), start });
}
