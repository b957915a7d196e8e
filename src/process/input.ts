/** The stdin of a process. A write arrives whole, or an error says which part arrived. */
import fs from "node:fs";
import path from "node:path";
import { HoldfastError, hostIdentity, sameHost } from "../base/index.js";
import { readExit } from "../keeper/index.js";
import type { KeptProcess, Machine, Stdin } from "../places/index.js";
import { mustRun, type Status } from "./status.js";

/** The process that reads this stdin. */
interface Reader extends KeptProcess {
	readonly machine: Machine;
	status(): Status;
}

export class Input {
	readonly #of: Reader;
	#stdin: Stdin | undefined;

	constructor(of: Reader) {
		this.#of = of;
	}

	async write(data: Uint8Array | string, signal?: AbortSignal): Promise<number> {
		if (typeof data !== "string" && !(data instanceof Uint8Array)) throw new HoldfastError("INVALID", `write: it takes a string or bytes, not ${String(data)}`);
		const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
		const { dir, spec, machine } = this.#of;
		this.#stdin ??= machine.processes.stdin(this.#of);
		if (!signal?.aborted && this.#stdin.type(bytes)) return bytes.length;
		if (readExit(dir) || !sameHost(spec.host, hostIdentity())) this.#mustRun();
		this.#mustRead();
		try {
			return await this.#stdin.write(bytes, signal);
		} catch (error) {
			if (!(error instanceof HoldfastError) || (error.code !== "ABORTED" && error.code !== "ENDED")) this.#mustRun(); // the error that it has ended says more
			throw error;
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
