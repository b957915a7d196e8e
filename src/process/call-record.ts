/**
 * A call with an id from its caller is recorded in calls/TASK/HASH.N in the home: one JSON line per step, on disk before the next step. `begun` is
 * written before anything is done, `effect` just before the first visible effect, `end` before the answer is sent. After a crash, another program can
 * tell how far the call got. An id may be reused only after a call that had no effect; the new call gets the next N.
 */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ensureDir, errno, type Home, me, namesIn, readIfThere, statIfThere, taskKey, unlinkIfThere } from "../base/index.js";

/**
 * How a file or a new directory is put in place: a rename from `temp` to `target`. `removes`: a rename from `target` to `temp`. `null`: cannot be
 * verified afterwards.
 */
export type FileEffect = { readonly temp: string; readonly target: string; readonly identity: string; readonly removes?: true } | null;

/** The effect that a call was about to have. */
export type CallEffect = { readonly session: string } | { readonly files: readonly FileEffect[] } | { readonly act: string };

export interface CallEnd {
	readonly status: string | null;
	readonly exit_code?: number | null;
	readonly session_id?: string;
}

export interface CallState {
	readonly file: string;
	readonly id: string;
	readonly task: string;
	readonly tool: string;
	readonly keep: boolean;
	readonly begun: number;
	/** The program that made the call. */
	readonly by: string;
	readonly effect?: CallEffect;
	readonly end?: CallEnd;
	/** The result, while it is kept. */
	readonly result?: unknown;
	readonly settled?: true;
	/** The process of the call was removed from the home. */
	readonly removed?: true;
}

const DAY_MS = 24 * 3_600_000;
/** How long an unsettled result is kept. */
const UNSETTLED_MS = 30 * DAY_MS;
const PRUNED = "pruned";
const FRESH = "fresh."; // a record that is being created

const dirOf = (home: Home, task: string): string => path.join(home.calls, taskKey(task));
const nameOf = (id: string): string => createHash("sha256").update(id).digest("hex").slice(0, 24);

/** Files of the calls in progress in this program. */
const underWay = new Set<string>();

/** Returns the last call with this id; undefined if there is no record. */
export function readCall(home: Home, task: string, id: string): CallState | undefined {
	const dir = dirOf(home, task);
	const numbers = namesIn(dir).flatMap((name) => (name.startsWith(`${nameOf(id)}.`) ? [Number(name.slice(25))] : []));
	if (numbers.length === 0) return undefined;
	return readFile(path.join(dir, `${nameOf(id)}.${Math.max(...numbers)}`));
}

function readFile(file: string): CallState | undefined {
	const lines = (readIfThere(file) ?? "").split("\n").slice(0, -1); // text after the last newline is an incomplete line
	const [first, ...rest] = lines.flatMap((line): Record<string, unknown>[] => {
		try {
			return [JSON.parse(line) as Record<string, unknown>];
		} catch {
			return [];
		}
	});
	return first && (Object.assign({ file }, first, ...rest) as CallState);
}

/** Returns true if records of old calls of this task were pruned: a call without a record may be one of them. */
export const werePruned = (home: Home, task: string): boolean => fs.existsSync(path.join(dirOf(home, task), PRUNED));

/** Returns the tasks that have a call with this id. */
export const tasksWith = (home: Home, id: string): string[] =>
	namesIn(home.calls).flatMap((key) => {
		const name = namesIn(path.join(home.calls, key)).find((one) => one.startsWith(`${nameOf(id)}.`));
		const state = name === undefined ? undefined : readFile(path.join(home.calls, key, name));
		return state ? [state.task] : [];
	});

export const isUnderWay = ({ file }: CallState): boolean => underWay.has(file);

/** A call in progress in this program. */
export class CallRecord {
	readonly #file: string;
	readonly #fd: number;

	private constructor(file: string, fd: number) {
		this.#file = file;
		this.#fd = fd;
	}

	/** Records the start of a call. `after`: the previous call with the same id. Returns undefined if another program was faster. */
	static begin(home: Home, call: { id: string; task: string; tool: string; keep: boolean }, after: CallState | undefined): CallRecord | undefined {
		const dir = dirOf(home, call.task);
		ensureDir(dir);
		const file = path.join(dir, `${nameOf(call.id)}.${after ? Number(path.extname(after.file).slice(1)) + 1 : 1}`);
		const fresh = path.join(dir, `${FRESH}${randomBytes(6).toString("hex")}`);
		const fd = fs.openSync(fresh, "ax", 0o600);
		try {
			append(fd, { ...call, begun: Date.now(), by: me() });
			fs.linkSync(fresh, file); // a record under its final name always has its first line
			underWay.add(file);
			sync(dir);
			return new CallRecord(file, fd); // the earlier record stays, so that its name cannot be reused
		} catch (error) {
			fs.closeSync(fd);
			if (errno(error) === "EEXIST") return undefined;
			if (underWay.delete(file)) unlinkIfThere(file); // nothing was done
			throw error;
		} finally {
			unlinkIfThere(fresh);
		}
	}

	/** Records the effect that is about to happen. Throws if the record cannot be written; the caller must then not proceed. */
	effect(effect: CallEffect): void {
		append(this.#fd, { effect });
	}

	/** Records the end. Returns false if that could not be written. */
	end(end: CallEnd, result?: unknown): boolean {
		try {
			append(this.#fd, { end, ...(result === undefined ? {} : { result }) });
			return true;
		} catch {
			return false; // the disk is full, or the home is gone
		}
	}

	/** Releases the record: the call is no longer in progress. */
	close(): void {
		underWay.delete(this.#file);
		fs.closeSync(this.#fd);
	}
}

function append(fd: number, line: object): void {
	const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
	for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
	fs.fdatasyncSync(fd);
}

function sync(dir: string): void {
	const fd = fs.openSync(dir, "r");
	try {
		fs.fsyncSync(fd);
	} finally {
		fs.closeSync(fd);
	}
}

/** Drops the result of a call; the record of the call stays. */
export function settleCall({ file, id, task, tool, begun, by, end, effect }: CallState): void {
	const temp = `${file}.${process.pid}`;
	fs.writeFileSync(temp, `${JSON.stringify({ id, task, tool, keep: false, begun, by, effect, end, settled: true })}\n`, { mode: 0o600 });
	fs.renameSync(temp, file);
}

/** Records that the process of a call is about to be removed from the home. */
export function noteRemoved(home: Home, { task, call }: { readonly task: string; readonly call?: string }): void {
	const state = call === undefined ? undefined : readCall(home, task, call);
	if (state) fs.appendFileSync(state.file, `${JSON.stringify({ removed: true })}\n`);
}

/** Removes records of old calls. Leaves a marker, since from then on a call without a record may be one of them. */
export function pruneCalls(home: Home, olderThanMs: number, now = Date.now()): void {
	for (const key of namesIn(home.calls)) {
		const dir = path.join(home.calls, key);
		for (const name of namesIn(dir).filter((one) => one !== PRUNED)) {
			const file = path.join(dir, name);
			const age = now - (statIfThere(file)?.mtimeMs ?? now);
			if (age <= olderThanMs || (age <= UNSETTLED_MS && readFile(file)?.result !== undefined)) continue;
			if (!name.startsWith(FRESH)) fs.writeFileSync(path.join(dir, PRUNED), "", { mode: 0o600 });
			unlinkIfThere(file);
		}
	}
}
