/** The stdin of a process. What is written arrives whole, or an error says what of it did. */
import fs from "node:fs";
import path from "node:path";
import { errno, fromSystem, HoldfastError } from "../base/errors.js";
import { writeAtOnce, writeFifo } from "../base/fifo.js";
import { hostIdentity, sameHost } from "../base/proc.js";
import { Wakeup } from "../base/watch.js";
import { readExit } from "../keeper/layout.js";
import type { Box } from "../places/far/box.js";
import type { Spec } from "./spec.js";
import { isOver, mustRun, type Status } from "./status.js";
import { Typing } from "./typing.js";

/** What it has to know of the process. */
export interface Reader {
	readonly id: string;
	readonly dir: string;
	readonly spec: Spec;
	readonly box: Box | undefined;
	status(): Status;
	watch(changed: () => void): () => void;
}

export class Input {
	readonly #of: Reader;
	readonly #typing: Typing | undefined;

	constructor(of: Reader) {
		this.#of = of;
		this.#typing = of.spec.terminal && !of.box && sameHost(of.spec.host, hostIdentity()) ? new Typing(of.dir) : undefined;
	}

	async write(data: Uint8Array | string, signal?: AbortSignal): Promise<number> {
		const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
		if (this.#typing && !signal?.aborted && this.#typing.type(bytes)) return bytes.length;
		const { box, dir, id, spec } = this.#of;
		if (box) return this.#writeThere(box, bytes, signal);
		if (readExit(dir) || !sameHost(spec.host, hostIdentity())) this.#mustRun();
		this.#mustRead();
		let fd: number;
		try {
			fd = fs.openSync(path.join(dir, "in"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
		} catch (error) {
			this.#mustRun();
			if (errno(error) === "ENXIO" || errno(error) === "ENOENT")
				throw new HoldfastError("STDIN_CLOSED", `nobody reads the stdin of ${id} any more: it closed it, or is ending; its log may say why`, { cause: error });
			throw fromSystem(error, `cannot write to ${id}`);
		}
		if (!signal?.aborted && writeAtOnce(fd, bytes)) return bytes.length;
		const written = await this.#writeSlowly(fd, bytes, signal);
		if (written < bytes.length) {
			if (signal?.aborted) throw new HoldfastError("ABORTED", `interrupted after ${written} of ${bytes.length} bytes had been written to ${id}`);
			throw new HoldfastError("ENDED", `${id} stopped reading after ${written} of ${bytes.length} bytes`);
		}
		return written;
	}

	/** A full pipe whose reader ends must not hold us: the end aborts the write. */
	async #writeSlowly(fd: number, bytes: Buffer, signal: AbortSignal | undefined): Promise<number> {
		const ended = new AbortController();
		const wakeup = new Wakeup();
		const unwatch = this.#of.watch(wakeup.poke);
		const watching = (async () => {
			while (!ended.signal.aborted) {
				if (isOver(this.#of.status())) ended.abort();
				else await wakeup.next(undefined, ended.signal);
			}
		})();
		try {
			return await writeFifo(fd, bytes, signal ? AbortSignal.any([signal, ended.signal]) : ended.signal);
		} finally {
			ended.abort();
			unwatch();
			await watching;
		}
	}

	async #writeThere(box: Box, bytes: Buffer, signal: AbortSignal | undefined): Promise<number> {
		this.#mustRun();
		this.#mustRead();
		const { id } = this.#of;
		const unfollow = box.follow(id); // its end ends the write
		try {
			return await box.input(id, bytes, () => isOver(this.#of.status()), signal);
		} catch (error) {
			this.#mustRun();
			throw error;
		} finally {
			unfollow();
		}
	}

	#mustRun(): void {
		mustRun(this.#of, "write to it");
	}

	#mustRead(): void {
		const { id, dir, spec } = this.#of;
		if (!spec.stdin && !spec.terminal) {
			this.#mustRun();
			throw new HoldfastError("STDIN_CLOSED", `${id} was started without stdin; start it with stdin, or with a terminal`);
		}
		if (fs.existsSync(path.join(dir, "eof"))) throw new HoldfastError("STDIN_CLOSED", `the stdin of ${id} was closed before; start a new process to send more`);
	}
}
