/**
 * Keeps the replica of one process directory current: copies the remote files at the same offsets and in an order that lets
 * no local program see an end before the output that came before it. Several programs may mirror the same process at the same time: each
 * writes the same bytes to the same place.
 */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DRAIN_MS, errno, type Identity, statIfThere, unlinkIfThere } from "../../base/index.js";
import { NO_VITALS, RECORD_BYTES, type RemoteState, readParts, readRemoteState, segmentName, segmentStarts, writeRemoteState } from "../../keeper/index.js";
import { Looker } from "./look.js";
import type { LookRequest, Seen } from "./seen.js";

const CHUNK = 256 * 1024;
const FLOOD_CHUNK = 1024 * 1024; // a flood waits for a round trip per piece; every other request on the link waits for a piece
const AGAIN_MS = 2_000;
const LOOK_MS = 15_000;
const LATER_MS = 200;
const REMOVED = "its directory there was removed, so what it prints is lost and how it ends will not be known; it runs on, and kill ends it";
/** After the end: how long output may take to reach the log, and the least number of looks at it, however slow the line is. */
const DRAIN_LOOKS = 5;
/** Overwritten in place, so that programs with the files open see it. The last ones report the end. */
const RECORDS = ["meta", "gaps", "killed", "stuck", "shell/ready", "shell/begun", "limit", "state", "exit"];

/** The part of its machine that a mirror needs. */
export interface MirrorSource {
	/** Answers when something differs from the state of the stamp. */
	look(looker: Looker, wanted: LookRequest, how: { readonly onlyLooking: boolean; readonly signal: AbortSignal | undefined }): Promise<Seen>;
	/** The remote clock minus the local one, in milliseconds. */
	readonly skew: number;
	/** Identifies one boot of the machine; "" if unknown. */
	readonly boot: string;
}

export interface Follower {
	complete(): boolean;
	/** Called when the replica is current. */
	seen?(): void;
}

export class Mirror {
	readonly #dir: string;
	readonly #source: MirrorSource;
	/** For a command in a shell: that shell. */
	shell: Identity | undefined;
	/** Tells whether everything that belongs to the command's end has arrived. */
	within: Follower | undefined;
	readonly #looker = new Looker();
	#stamp = "";
	/** The records as last copied. */
	readonly #copied = new Map<string, Buffer>();
	/** The starts of the segments of the remote log at the last look, and of the newest that is here. */
	#starts = "";
	#newest: number | undefined;
	#there: RemoteState | undefined;
	#made = false;
	#following: AbortController | undefined;
	#followers = 0;
	#syncing: Promise<void> | undefined;
	#later: NodeJS.Timeout | undefined;

	constructor(source: MirrorSource, dir: string) {
		this.#source = source;
		this.#dir = dir;
	}

	/** Updates the replica. A caller that asks while an answer is on its way gets the next one. */
	async sync(signal?: AbortSignal): Promise<void> {
		const before = this.#syncing;
		const mine = (async () => {
			await before?.catch(() => {}); // a failure of the previous look is its caller's concern
			await this.#catchUp("", false, signal);
		})();
		this.#syncing = mine;
		try {
			await mine;
			if (this.#later) this.#writeNote(); // the caller has to know why
		} finally {
			if (this.#syncing === mine) this.#syncing = undefined;
		}
	}

	/** Keeps it current until the returned function is called. */
	follow(): () => void {
		this.#followers++;
		if (!this.#following) {
			const following = new AbortController();
			this.#following = following;
			void this.#run(following.signal);
		}
		let ended = false;
		return () => {
			if (ended) return;
			ended = true;
			if (--this.#followers > 0) return;
			this.#following?.abort();
			this.#following = undefined;
		};
	}

	/** Returns true if a caller wants to be told of changes. */
	get followed(): boolean {
		return this.#followers > 0;
	}

	/** Stops looking: no caller watches any more. */
	drop(): void {
		clearTimeout(this.#later);
	}

	/** Notes that the process directory was made or seen on the machine. Before that its absence means nothing: the start may be in progress. */
	made(): void {
		this.#made = true;
	}

	get #wasThere(): boolean {
		this.#made ||= (readRemoteState(this.#dir)?.at ?? 0) > 0;
		return this.#made;
	}

	/** Notes that the process is lost: how it ended cannot be known any more. */
	lose(reason: string): void {
		this.#note({ ...NO_VITALS, drained: true, lost: reason });
	}

	/** Records that the machine is unreachable: the rest of the replica is its last known state. */
	unreachable(reason: string): void {
		const before = this.#there ?? readRemoteState(this.#dir) ?? { ...NO_VITALS, at: 0, boot: "" };
		if (before.unreachable === reason) return;
		this.#there = { ...before, unreachable: reason };
		try {
			writeRemoteState(this.#dir, this.#there);
		} catch {
			// its local directory was pruned meanwhile, or the disk is full: a caller that asks for it is told
		}
	}

	async #run(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			try {
				if (!(await this.#catchUp(this.#stamp, true, signal))) return;
				if (!this.#wasThere) await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {}); // no event reports its arrival
			} catch (error) {
				if (signal.aborted) return;
				this.#stamp = "";
				this.unreachable(error instanceof Error ? error.message : String(error));
				await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {}); // it retries as long as a caller waits
			}
		}
	}

	/** Asks until nothing is left to fetch. Returns false if nothing more can come. */
	async #catchUp(stamp: string, onlyLooking: boolean, signal?: AbortSignal): Promise<boolean> {
		let asked = stamp;
		let giveUp = Number.POSITIVE_INFINITY;
		for (let looks = 0; ; asked = "") {
			const seen = await this.#ask(asked, onlyLooking, signal);
			if (signal?.aborted) return false;
			// The process has ended, and its last output is still being written remotely. If the link broke now, the end would be known locally without that
			// output.
			if (isOver(seen)) giveUp = Math.min(giveUp, performance.now() + DRAIN_MS);
			const patient = isOver(seen) && (looks < DRAIN_LOOKS || performance.now() < giveUp);
			const early = patient && !seen.drained;
			if (!this.#apply(seen, early)) continue;
			if (!early) this.#stamp = seen.stamp;
			// No event reports the rest of the output, or the new directory of its shell.
			if (early || (patient && this.within?.complete() === false)) {
				looks++;
				await sleep(Math.min(looks, 50), undefined, { signal }).catch(() => {});
				continue;
			}
			if (seen.gone && seen.alive.length > 0) {
				if (onlyLooking) await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {}); // no event can come
				return true;
			}
			if (seen.gone) return !this.#wasThere;
			return !(seen.records.get("state")?.bytes.toString("latin1").startsWith("closed") && this.#there?.drained && this.#there.alive.length === 0);
		}
	}

	/** A killed witness sends nothing, so an answer is requested now and then. */
	async #ask(stamp: string, onlyLooking: boolean, signal?: AbortSignal): Promise<Seen> {
		const parts = () => Object.values(readParts(this.#dir));
		const wanted = { offset: this.#end(), times: this.#size("times"), stamp, max: stamp === "" ? FLOOD_CHUNK : CHUNK, shell: this.shell, parts };
		if (stamp === "") return this.#source.look(this.#looker, wanted, { onlyLooking, signal });
		// Not AbortSignal.any of an AbortSignal.timeout: nothing references the latter, and once it is collected it never fires.
		const patience = new AbortController();
		const stop = () => patience.abort();
		const late = setTimeout(stop, LOOK_MS);
		late.unref();
		signal?.addEventListener("abort", stop, { once: true });
		try {
			return await this.#source.look(this.#looker, wanted, { onlyLooking, signal: patience.signal });
		} catch (error) {
			if (!patience.signal.aborted || signal?.aborted) throw error;
			return this.#source.look(this.#looker, { ...wanted, stamp: "", offset: this.#end() }, { onlyLooking, signal });
		} finally {
			clearTimeout(late);
			signal?.removeEventListener("abort", stop);
		}
	}

	/** Returns false if the log has more than came with this look: then the records have to wait. `early`: they have to in any case. */
	#apply(seen: Seen, early: boolean): boolean {
		if (seen.gone && seen.alive.length > 0) {
			this.#note({ ...NO_VITALS, alive: seen.alive, dead: seen.dead, unreachable: REMOVED });
			return true;
		}
		if (seen.gone) {
			if (this.#wasThere) this.#note({ ...NO_VITALS, drained: seen.drained, lost: seen.why ?? "its directory on the other machine is gone" });
			return true;
		}
		this.#segments(seen);
		if (seen.times.length > 0) writeAt(path.join(this.#dir, "times"), seen.times, seen.timesOffset);
		const last = seen.segments.at(-1);
		if (last && last.start + last.size > seen.offset + seen.bytes.length) return false;
		if (early) return true;
		for (const name of RECORDS) {
			const record = seen.records.get(name);
			if (record) this.#record(name, record);
			else if (name === "stuck") unlinkIfThere(path.join(this.#dir, name));
		}
		const { alive, dead, drained, idle, children, reaped } = seen;
		const lost = alive.length === 0 ? (this.#there ?? readRemoteState(this.#dir))?.lost : undefined; // once the reason is known, a later look adds nothing to it
		this.#note({ alive, dead, drained, idle, children, reaped, ...(lost === undefined ? {} : { lost }) });
		this.within?.seen?.();
		return true;
	}

	#note(seen: Omit<RemoteState, "at" | "boot">): void {
		const before = this.#there ?? readRemoteState(this.#dir);
		const boot = before?.boot || this.#source.boot; // the boot of its start, or nearly so
		const restarted = boot !== this.#source.boot && seen.lost === undefined ? { lost: "the machine was restarted while it ran" } : {};
		this.#there = staysDead(before, { ...seen, ...restarted, boot, at: Date.now() });
		if (before && same(before, this.#there)) this.#noteLater();
		else this.#writeNote();
	}

	/** The time of the look, and whether a shell waits, change all the time: writing them at once would cost every command a file. */
	#noteLater(): void {
		this.#later ??= setTimeout(() => {
			try {
				this.#writeNote();
			} catch {
				// as above: pruned, or no room
			}
		}, LATER_MS).unref();
	}

	#writeNote(): void {
		clearTimeout(this.#later);
		this.#later = undefined;
		if (!this.#there) return;
		this.#there = staysDead(readRemoteState(this.#dir), this.#there); // another program may have looked later
		writeRemoteState(this.#dir, this.#there);
	}

	/** Copies the log: the same bytes at the same offsets, in segments of the same names. */
	#segments({ segments, offset, bytes }: Seen): void {
		const starts = segments.map(({ start }) => start).join(" ");
		if (bytes.length === 0 && starts === this.#starts) return;
		const have = segmentStarts(this.#dir);
		for (const { start, size } of segments) {
			if (!have.includes(start) && start <= offset + bytes.length) {
				fs.writeFileSync(this.#segment(start), "", { flag: "a", mode: 0o600 });
				have.push(start);
			}
			const from = Math.max(start, offset);
			const to = Math.min(start + size, offset + bytes.length);
			if (from < to) writeAt(this.#segment(start), bytes.subarray(from - offset, to - offset), from - start);
		}
		const oldest = segments[0]?.start ?? 0;
		for (const start of have) if (start < oldest) unlinkIfThere(this.#segment(start)); // the remote ring has dropped it
		this.#newest = have.at(-1);
		this.#starts = starts;
	}

	#record(name: string, { bytes, at }: { bytes: Buffer; at: number }): void {
		if (bytes.length > 0) {
			// Most records are unchanged at every look. A mark, which is empty, may have been removed locally.
			if (this.#copied.get(name)?.equals(bytes)) return;
			this.#copied.set(name, bytes);
		}
		const file = path.join(this.#dir, name);
		const before = readBytes(file);
		if (before?.equals(bytes)) return;
		// A later look has seen more since this one was sent: neither an end nor a part of the keeper is taken back.
		if (before && ((name === "exit" && isBlank(bytes) && !isBlank(before)) || (name === "meta" && bytes.length < before.length))) return;
		const fd = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o600);
		try {
			// Writes what follows a fixed record first, then the record: it says that everything is there.
			if (bytes.length > RECORD_BYTES) fs.writeSync(fd, bytes, RECORD_BYTES, bytes.length - RECORD_BYTES, RECORD_BYTES);
			if (before && before.length > bytes.length) fs.ftruncateSync(fd, bytes.length);
			const time = new Date(at - this.#source.skew);
			fs.writeSync(fd, bytes, 0, Math.min(bytes.length, RECORD_BYTES), 0);
			fs.futimesSync(fd, time, time);
		} finally {
			fs.closeSync(fd);
		}
	}

	/** How much of the log is local without a gap. */
	#end(): number {
		const known = this.#newest === undefined ? undefined : statIfThere(this.#segment(this.#newest))?.size; // where another program has more, the same bytes are written again
		if (this.#newest !== undefined && known !== undefined) return this.#newest + known;
		const last = segmentStarts(this.#dir).at(-1);
		return last === undefined ? 0 : last + (statIfThere(this.#segment(last))?.size ?? 0);
	}

	#size = (name: string): number => statIfThere(path.join(this.#dir, name))?.size ?? 0;

	#segment = (start: number): string => path.join(this.#dir, segmentName(start));
}

const isBlank = (record: Buffer): boolean => !/^\S/.test(record.toString("latin1", 0, 1));

const isOver = ({ records }: Seen): boolean => !isBlank(records.get("exit")?.bytes ?? Buffer.alloc(0));

/** Keeps dead parts dead, whatever a slower look reports. */
function staysDead(before: RemoteState | undefined, now: RemoteState): RemoteState {
	if (!before || before.dead.every((part) => now.dead.includes(part))) return now;
	const dead = [...new Set([...before.dead, ...now.dead])];
	return { ...now, alive: now.alive.filter((part) => !dead.includes(part)), dead };
}

function same(a: RemoteState, b: Omit<RemoteState, "at" | "boot">): boolean {
	const key = ({ alive, dead, drained, children, lost, unreachable }: Omit<RemoteState, "at" | "boot">) =>
		JSON.stringify([alive, dead, drained, children, lost, unreachable]);
	return key(a) === key(b);
}

/** Writes bytes into a segment. The first byte creates the file; a segment that another mirror has dropped meanwhile stays gone. */
function writeAt(file: string, bytes: Buffer, position: number): void {
	let fd: number;
	try {
		fd = fs.openSync(file, fs.constants.O_WRONLY | (position === 0 ? fs.constants.O_CREAT : 0), 0o600);
	} catch (error) {
		if (errno(error) === "ENOENT") return;
		throw error;
	}
	try {
		for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done);
	} finally {
		fs.closeSync(fd);
	}
}

function readBytes(file: string): Buffer | undefined {
	try {
		return fs.readFileSync(file);
	} catch (error) {
		if (errno(error) === "ENOENT") return undefined;
		throw error;
	}
}
