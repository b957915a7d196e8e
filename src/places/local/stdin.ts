/** The stdin of a local process: its FIFO. */
import fs from "node:fs";
import path from "node:path";
import { errno, fromSystem, HoldfastError, hostIdentity, sameHost, until, writeAtOnce, writeFifo } from "../../base/index.js";
import type { KeptProcess, Stdin } from "../machine.js";
import { Typing } from "./typing.js";
import type { ProcessWatch } from "./watch.js";

export class LocalStdin implements Stdin {
	readonly #of: KeptProcess;
	readonly #watch: ProcessWatch;
	readonly #typing: Typing | undefined;

	constructor(of: KeptProcess, watch: ProcessWatch) {
		this.#watch = watch;
		this.#of = of;
		this.#typing = of.spec.terminal && sameHost(of.spec.host, hostIdentity()) ? new Typing(of.dir) : undefined;
	}

	type(bytes: Buffer): boolean {
		return this.#typing?.type(bytes) ?? false;
	}

	async write(bytes: Buffer, signal: AbortSignal | undefined): Promise<number> {
		const { dir, id } = this.#of;
		let fd: number;
		try {
			fd = fs.openSync(path.join(dir, "in"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
		} catch (error) {
			if (errno(error) === "ENXIO" || errno(error) === "ENOENT")
				throw new HoldfastError("STDIN_CLOSED", `${id} no longer reads its stdin: it closed it or is exiting; its log may say why`, { cause: error });
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

	/** A full pipe whose reader ends must not block us: the end aborts the write. */
	async #writeSlowly(fd: number, bytes: Buffer, signal: AbortSignal | undefined): Promise<number> {
		const ended = new AbortController();
		const watching = until(
			(poke) => this.#watch.watch(this.#of, poke),
			() => this.#of.isOver() || undefined,
			{ signal: ended.signal },
		).finally(() => ended.abort());
		try {
			return await writeFifo(fd, bytes, signal ? AbortSignal.any([signal, ended.signal]) : ended.signal);
		} finally {
			ended.abort();
			await watching;
		}
	}
}
