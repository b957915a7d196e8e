/**
 * Room for the commands that make room: the file `reserve` in the home. When a command cannot start since the disk is full, the reserve is
 * removed and the command tries again; the next command that finds enough room makes a new one.
 */
import fs from "node:fs";
import path from "node:path";
import { errno, fromSystem, HoldfastError, unlinkIfThere } from "../base/index.js";

const BYTES = 1024 * 1024; // a command that prints little takes about a tenth of that while it runs
const ENOUGH = 4 * BYTES; // free besides it

export class Reserve {
	readonly #file: string;
	#made = false;

	constructor(home: string) {
		this.#file = path.join(home, "reserve");
	}

	/** Gives the reserve up if the disk was full. Returns whether to try again. */
	helps(error: unknown): boolean {
		if (!(error instanceof HoldfastError) || error.code !== "NO_SPACE") return false;
		this.#made = false;
		try {
			unlinkIfThere(this.#file); // or another command has just done so: this one tries again all the same
		} catch {
			// not ours to remove: the second try fails as the first one did
		}
		return true;
	}

	/** Sees to it that there is one, once the answer is out. */
	keep(): void {
		if (!this.#made) setImmediate(() => this.#make());
	}

	#make(): void {
		try {
			const { bavail, bsize } = fs.statfsSync(path.dirname(this.#file));
			if (bavail * bsize < ENOUGH) return;
			fs.writeFileSync(this.#file, Buffer.alloc(BYTES, 1), { flag: "wx", mode: 0o600 }); // not zeros, for which some file systems keep no room
			this.#made = true;
		} catch (error) {
			this.#made = errno(error) === "EEXIST";
		}
	}
}

/** An error of the file system as NO_SPACE, if that is what it is. */
export const asNoSpace = (error: unknown): unknown => (errno(error) === "ENOSPC" || errno(error) === "EDQUOT" ? fromSystem(error, "nothing ran") : error);
