/** Where a shell leaves word that it is stuck: in its directory; from within a sandbox, in what it shares with us of that. */
import fs from "node:fs";
import path from "node:path";
import { isSameFile } from "../base/files.js";
import { watchDirectory } from "../base/watch.js";
import type { Process } from "../process/process.js";

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
		const unwatch = held === undefined ? undefined : watchDirectory(this.#dir, changed); // there is nothing else there
		this.#release = () => {
			unwatch?.();
			if (held !== undefined) fs.closeSync(held);
		};
	}

	isStuck(): boolean {
		try {
			return fs.lstatSync(path.join(this.#dir, "stuck"), { throwIfNoEntry: false }) !== undefined;
		} catch {
			return false; // somebody in a sandbox has locked it
		}
	}

	clearStuck(): void {
		try {
			fs.rmSync(path.join(this.#dir, "stuck"), { force: true });
			this.#process.box?.remove(this.#process.id, "stuck");
		} catch {
			// a directory of that name, in a sandbox: it stays stuck, and is replaced
		}
	}

	/** What the shell runs commands with is where it looks for it. In a sandbox anybody can move that away, or put something else in its place. */
	isWhole(): boolean {
		const { box } = this.#process;
		if (box) return true; // what is here is a replica
		const shared = sharedOf(this.#process);
		if (shared === undefined) return fs.existsSync(this.#run);
		return isSameFile(shared, this.#dir) && isSameFile(path.join(this.#dir, "shell", "run"), this.#run);
	}

	close(): void {
		this.#release();
	}
}

/** Where what a process in a sandbox shares with us is, out here. */
export const sharedOf = ({ id, dir, spec }: Process): string | undefined =>
	spec.sandbox && path.resolve(dir, "../../..", "sandboxes", spec.sandbox, "shared", id);

/** Held open: whoever is in a sandbox can put a link to somewhere out here in its place. */
function hold(shared: string | undefined): number | undefined {
	try {
		return shared === undefined ? undefined : fs.openSync(shared, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW);
	} catch {
		return undefined; // he has already, or has removed it: then nobody hears that his shell is stuck
	}
}
