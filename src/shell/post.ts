/** Receives a shell's word that it is stuck: a file in its directory; from within a sandbox, in the part of it that is shared with this program. */
import fs from "node:fs";
import path from "node:path";
import { isSameFile } from "../base/index.js";
import type { Process } from "../process/index.js";

export class Post {
	readonly #process: Process;
	readonly #dir: string;
	readonly #run: string;
	readonly #release: () => void;

	constructor(process: Process, changed: () => void) {
		this.#process = process;
		this.#run = path.join(process.dir, "shell", "run");
		const held = hold(sharedOf(process));
		this.#dir = held === undefined ? process.dir : `/proc/self/fd/${held}`;
		const unwatch = held === undefined ? undefined : process.machine.home.watch.directory(this.#dir, changed); // there is nothing else there
		this.#release = () => {
			unwatch?.();
			if (held !== undefined) fs.closeSync(held);
		};
	}

	isStuck(): boolean {
		try {
			return fs.lstatSync(path.join(this.#dir, "stuck"), { throwIfNoEntry: false }) !== undefined;
		} catch {
			return false; // a process in the sandbox has locked it
		}
	}

	clearStuck(): void {
		try {
			fs.rmSync(path.join(this.#dir, "stuck"), { force: true });
			this.#process.machine.files.remove(this.#process.id, "stuck");
		} catch {
			// a directory of that name, in a sandbox: it stays stuck, and is replaced
		}
	}

	/** Returns whether the files that the shell needs are in place. Any process in a sandbox can move or replace them. */
	isWhole(): boolean {
		const shared = sharedOf(this.#process);
		if (shared === undefined) return fs.existsSync(this.#run);
		return isSameFile(shared, this.#dir) && isSameFile(path.join(this.#dir, "shell", "run"), this.#run);
	}

	close(): void {
		this.#release();
	}
}

/** Returns the directory, outside of a sandbox, that a process inside shares with us. */
export const sharedOf = ({ id, dir, spec }: Process): string | undefined =>
	spec.sandbox && path.resolve(dir, "../../..", "sandboxes", spec.sandbox, "shared", id);

/** Held open: a process in a sandbox could replace it with a link that leads out of the sandbox. */
function hold(shared: string | undefined): number | undefined {
	try {
		return shared === undefined ? undefined : fs.openSync(shared, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW);
	} catch {
		return undefined; // it was replaced or removed already: then a stuck shell of that sandbox is not noticed
	}
}
