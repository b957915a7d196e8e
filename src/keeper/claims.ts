/**
 * Claims on directories that are not processes yet, or not at the moment: the file blank/ID.PID.START.HOST names the program that owns one. The claim
 * is created before the directory, so that unfinished work of a dead program is found; it becomes the file in `live` when every program is to see the
 * process.
 */
import fs from "node:fs";
import path from "node:path";
import { errno, type Home, isId, isProgramGone, removeDir, unlinkIfThere, whoAtEnd } from "../base/index.js";
import { BLANK_RECORD, procDir } from "./layout.js";

/** A claim of another host expires after this time: this host cannot tell whether its owner lives, nor whether a process still prints to the directory. */
const ELSEWHERE_MS = 24 * 3_600_000;

/** Fixed-size records, blank before the start. */
export const FIXED_RECORDS = ["exit", "state", "limit", "drained"];

export class Claims {
	readonly #home: Home;
	readonly #self = whoAtEnd();

	constructor(home: Home) {
		this.#home = home;
	}

	/** Returns the path of our claim. */
	file(id: string): string {
		return path.join(this.#home.blank, `${id}.${this.#self}`);
	}

	/** Creates a claimed directory with its records and these empty files. */
	make(id: string, empty: readonly string[]): string {
		const dir = procDir(this.#home, id);
		this.take(id);
		fs.mkdirSync(dir, { mode: 0o700 });
		for (const name of FIXED_RECORDS) fs.writeFileSync(path.join(dir, name), BLANK_RECORD, { mode: 0o600 });
		for (const name of empty) fs.writeFileSync(path.join(dir, name), "", { mode: 0o600 });
		return dir;
	}

	/** Claims an id, whatever its state before. */
	take(id: string): void {
		fs.writeFileSync(this.file(id), "", { mode: 0o600 });
	}

	/** Makes the process visible to every runtime; `as` is the id of the command in it. */
	show(id: string, as = id): void {
		fs.renameSync(this.file(id), path.join(this.#home.live, as));
	}

	/** Hides the process again. Returns false if another program has recorded its end meanwhile. */
	hide(id: string, as = id): boolean {
		try {
			fs.renameSync(path.join(this.#home.live, as), this.file(id));
			return true;
		} catch (error) {
			if (errno(error) !== "ENOENT") throw error;
			return false;
		}
	}

	/** Removes a directory and its claim. */
	remove(id: string, claim = this.file(id)): void {
		removeDir(procDir(this.#home, id));
		unlinkIfThere(claim);
	}
}

/** Returns the id if a name in `blank` is a stale claim: its program died before it used the directory. */
export function desertedBy(home: Home, name: string): string | undefined {
	const [id, pid, start, host] = name.split(".");
	if (!id || !isId(id) || !pid || !start) return undefined;
	const who = host === undefined ? `${pid}.${start}` : `${host}.${pid}.${start}`;
	return isProgramGone(home, who, path.join(home.blank, name), ELSEWHERE_MS) ? id : undefined;
}
