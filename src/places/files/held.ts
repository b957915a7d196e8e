/**
 * Local directories, opened from the root name by name without following a link, and held open. Names inside are reached through the
 * descriptor (`/proc/self/fd/N/name`; Node has no openat), so it stays the same directory whatever other programs rename or replace meanwhile.
 */
import fs, { constants } from "node:fs";
import path from "node:path";
import { errno, HoldfastError } from "../../base/index.js";
import { fileError } from "./interface.js";

const O_PATH = 0o10000000; // Node has no name for it; it needs no right to list the directory
const DIRECTORY = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

export class HeldDirectory {
	/** Its path when it was opened. */
	readonly path: string;
	/** The topmost directory that was created. */
	readonly made: string | undefined;
	readonly #fd: number;
	#open = true;

	private constructor(fd: number, at: string, made?: string) {
		this.#fd = fd;
		this.path = at;
		this.made = made;
	}

	/** Opens a directory. `make`: creates it and its missing parents. */
	static open(dir: string, options: { make?: boolean } = {}): HeldDirectory {
		const root = new HeldDirectory(fs.openSync("/", DIRECTORY), "/");
		return root.#descend(path.resolve(dir).slice(1), options);
	}

	/** Opens a directory below it: `a/b`, or `.` for the same. */
	below(name: string, options: { make?: boolean } = {}): HeldDirectory {
		return this.#enter(".", {}).#descend(name, options);
	}

	/** Returns the directory itself, for calls that take a path. */
	get self(): string {
		return `/proc/self/fd/${this.#fd}`;
	}

	/** Returns the path of a name inside, for calls that take a path. Not for calls that would follow a link with that name. */
	at(name: string): string;
	at(name: Buffer): Buffer;
	at(name: string | Buffer): string | Buffer;
	at(name: string | Buffer): string | Buffer {
		return typeof name === "string" ? `${this.self}/${name}` : Buffer.concat([Buffer.from(`${this.self}/`), name]);
	}

	stat(name: string): fs.Stats | undefined {
		return fs.lstatSync(this.at(name), { throwIfNoEntry: false });
	}

	/** Removes a name with everything below it. */
	remove(name: string | Buffer): void {
		const stat = fs.lstatSync(this.at(name), { throwIfNoEntry: false });
		if (!stat?.isDirectory()) {
			if (stat) fs.unlinkSync(this.at(name));
			return;
		}
		const inner = new HeldDirectory(fs.openSync(this.at(name), DIRECTORY), path.join(this.path, name.toString()));
		try {
			for (const one of fs.readdirSync(inner.self, { encoding: "buffer" })) inner.remove(one);
		} finally {
			inner.close();
		}
		fs.rmdirSync(this.at(name));
	}

	close(): void {
		if (this.#open) fs.closeSync(this.#fd);
		this.#open = false;
	}

	/** Returns an error with the file's real path instead of the descriptor's. */
	inWords(error: unknown, name: string): HoldfastError {
		const known = fileError(error, path.join(this.path, name));
		if (!known.message.includes("/proc/self/fd/")) return known;
		const message = known.message.replaceAll(`${this.self}/`, this.path === "/" ? "/" : `${this.path}/`).replaceAll(this.self, this.path);
		return new HoldfastError(known.code, message, { cause: error });
	}

	/** Closes this one. */
	#descend(below: string, { make = false }: { make?: boolean }): HeldDirectory {
		let at: HeldDirectory = this;
		for (const name of below.split("/")) {
			if (name === "" || name === ".") continue;
			try {
				const next = at.#enter(name, { make });
				at.close();
				at = next;
			} catch (error) {
				at.close();
				throw at.inWords(error, name);
			}
		}
		return at;
	}

	#enter(name: string, { make = false }: { make?: boolean }): HeldDirectory {
		if (name === "..") throw new HoldfastError("INVALID", `${this.path}/.. is not below ${this.path}`);
		const at = path.join(this.path, name);
		try {
			return new HeldDirectory(fs.openSync(this.at(name), DIRECTORY), at, this.made);
		} catch (error) {
			if (errno(error) === "ENOENT" && make) {
				mkdir(this.at(name));
				return new HeldDirectory(fs.openSync(this.at(name), DIRECTORY), at, this.made ?? at);
			}
			if (this.stat(name)?.isSymbolicLink()) throw linkInTheWay(at);
			throw error;
		}
	}
}

/** Creates a directory unless another program has just created it. */
function mkdir(dir: string): void {
	try {
		fs.mkdirSync(dir);
	} catch (error) {
		if (errno(error) !== "EEXIST") throw error;
	}
}

export const linkInTheWay = (file: string): HoldfastError =>
	new HoldfastError("FORBIDDEN", `${file} is a symbolic link, which a copy does not go through; remove it, or name the file that it leads to`);

/** Opens the directory of a file for as long as `act` takes. */
export async function inDirectory<T>(file: string, act: (dir: HeldDirectory, name: string) => T | Promise<T>, options: { make?: boolean } = {}): Promise<T> {
	const dir = HeldDirectory.open(path.dirname(file), options);
	const name = path.basename(file);
	try {
		return await act(dir, name);
	} catch (error) {
		throw dir.inWords(error, name);
	} finally {
		dir.close();
	}
}
