/**
 * A sign of life of this program in a home, for programs that cannot look it up by its pid: those of another host, boot or pid namespace with the
 * same home. The file alive/WHO is touched every minute while a runtime is open.
 */
import fs from "node:fs";
import path from "node:path";
import { ensureDir, namesIn, readIfThere, statIfThere, unlinkIfThere } from "./files.js";
import { type HostIdentity, hostIdentity, isAlive } from "./proc.js";
import { here, me } from "./who.js";

const SIGN_MS = 60_000;
/** A program of another host or pid namespace that gave no sign for so long is gone. */
const SILENT_MS = 10 * 60_000;

interface Root {
	readonly root: string;
}

const dirOf = (home: Root): string => path.join(home.root, "alive");
const fileOf = (home: Root, who: string): string => path.join(dirOf(home), who);

const shown = new Map<string, { users: number; readonly timer: NodeJS.Timeout }>();

/** From now on until the returned function is called; several in one program share one sign. */
export function showLife(home: Root): () => void {
	const known = shown.get(home.root) ?? { users: 0, timer: setInterval(() => sign(home), SIGN_MS).unref() };
	shown.set(home.root, known);
	if (known.users++ === 0) sign(home);
	let over = false;
	return () => {
		if (over) return;
		over = true;
		if (--known.users > 0) return;
		clearInterval(known.timer);
		shown.delete(home.root);
		try {
			unlinkIfThere(fileOf(home, me()));
		} catch {
			// as in sign
		}
	};
}

function sign(home: Root): void {
	try {
		ensureDir(dirOf(home));
		fs.writeFileSync(fileOf(home, me()), JSON.stringify(hostIdentity()), { mode: 0o600 });
	} catch {
		// a home that is read-only, full or removed: the next sign may succeed, and silence only counts after a while
	}
}

/**
 * Whether the program that made `file` is gone. `who`: HOST.PID.START; without a HOST it is of an earlier version. Never decided by a pid of another
 * namespace: a program there is gone when its machine was restarted since, or when it was silent for `silentMs`.
 */
export function isProgramGone(home: Root, who: string, file: string, silentMs: number = SILENT_MS): boolean {
	const [start, pid, host] = who.split(".").reverse();
	const alive = (host === undefined || host === here()) && isAlive({ pid: Number(pid), start: start ?? "" });
	if (alive || host === here()) return !alive;
	const sign = fileOf(home, who);
	if (wasRestarted(readIfThere(sign))) return true;
	const last = Math.max(statIfThere(sign)?.mtimeMs ?? 0, statIfThere(file)?.ctimeMs ?? 0);
	return Date.now() - last > silentMs;
}

/** The host of that sign has another boot now. */
function wasRestarted(text: string | undefined): boolean {
	try {
		const { host, boot } = JSON.parse(text ?? "null") as HostIdentity;
		return host === hostIdentity().host && boot !== hostIdentity().boot;
	} catch {
		return false; // none, or half written
	}
}

/** Removes the signs of programs that were killed. */
export function sweepPresence(home: Root): void {
	for (const who of namesIn(dirOf(home))) if (isProgramGone(home, who, fileOf(home, who), 24 * 3_600_000)) unlinkIfThere(fileOf(home, who));
}
