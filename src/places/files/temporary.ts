/** Names of drafts. A name identifies the writer, so that the draft of a killed writer is recognised as stale. */
import { createHash, randomBytes } from "node:crypto";
import { hostIdentity, isAlive, readStat } from "../../base/index.js";

export const TEMPORARY = ".holdfast-tmp.";
/** A draft without a write for so long is stale. */
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

/** Drafts of this program in use. */
const used = new Set<string>();

/** `.holdfast-tmp.HOST.PID-START.RANDOM` */
export function temporaryName(): string {
	const name = `${TEMPORARY}${ours().host}.${ours().writer}.${randomBytes(6).toString("hex")}`;
	used.add(name);
	return name;
}

/** Marks a draft as unused: it was removed, moved, or could not be removed. */
export const discarded = (name: string): void => void used.delete(name);
/** Returns the prefix of all drafts by programs of this machine. */
export const ownTemporary = (): string => `${TEMPORARY}${ours().host}.`;
export const isTemporary = (name: string): boolean => name.startsWith(TEMPORARY);

/** Returns true if the writer was a program of this machine that has ended or given the draft up. */
export function isAbandoned(name: string): boolean {
	const [, pid, start] = (name.startsWith(ownTemporary()) ? /^(\d+)-(\d+)\./.exec(name.slice(ownTemporary().length)) : null) ?? [];
	if (pid === undefined || start === undefined) return false;
	return `${pid}-${start}` === ours().writer ? !used.has(name) : !isAlive({ pid: Number(pid), start });
}
