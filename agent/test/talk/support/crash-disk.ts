/** A disk that can lose what was not synced, tear a write at any byte, and be full: on real files. */
import fs from "node:fs";
import type { LineDisk } from "../../../src/base/index.js";

/** In place of the end of a program in the middle of a write. */
export class Killed extends Error {}

export class CrashDisk implements LineDisk {
	/** By file: how many bytes are on the disk for certain. */
	readonly #synced = new Map<string, number>();
	#fault: { readonly kind: "tear" | "full"; readonly share: number; left: number } | undefined;
	#torn: { readonly file: string; readonly bytes: Buffer } | undefined;
	/** False: what is synced is not; a mistake to be found. */
	syncs: (file: string) => boolean = () => true;

	/** The write after so many more is torn (and the program killed), or is refused for want of space. */
	failLater(kind: "tear" | "full", writes: number, share: number): void {
		this.#fault = { kind, share, left: writes };
	}

	write(fd: number, bytes: Buffer): number {
		const fault = this.#fault;
		if (!fault || fault.left-- > 0) return fs.writeSync(fd, bytes);
		this.#fault = undefined;
		const some = bytes.subarray(0, Math.floor(bytes.length * fault.share));
		if (fault.kind === "full") return fs.writeSync(fd, some);
		this.#torn = { file: nameOf(fd), bytes: some };
		throw new Killed("killed in the middle of a write");
	}

	async sync(fd: number): Promise<void> {
		const file = nameOf(fd);
		if (this.syncs(file)) this.#synced.set(file, fs.fstatSync(fd).size);
	}

	/** What a power cut leaves of the file: all that was synced, and any part of the rest. */
	cut(file: string, share: number): void {
		this.#fault = undefined;
		if (this.#torn?.file === file) fs.appendFileSync(file, this.#torn.bytes);
		if (this.#torn?.file === file) this.#torn = undefined;
		const size = fs.statSync(file, { throwIfNoEntry: false })?.size;
		if (size === undefined) return;
		const safe = Math.min(size, this.#synced.get(file) ?? 0);
		fs.truncateSync(file, safe + Math.floor((size - safe) * share));
	}

	/** The file was written anew and synced by another way. */
	replaced(file: string): void {
		this.#synced.set(file, fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0);
	}
}

const nameOf = (fd: number): string => fs.readlinkSync(`/proc/self/fd/${fd}`);
