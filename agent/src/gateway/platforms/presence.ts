/** The connection of a platform that has one: sending waits a while for it to come back. */
import { anySignal } from "../../base/index.js";
import { PlatformError } from "./platform.js";

const PATIENCE_MS = 30_000;

export class Presence<Line> {
	readonly #what: string;
	#line: Line | undefined;
	#failure: PlatformError | undefined;
	readonly #waiting = new Set<() => void>();

	constructor(what: string) {
		this.#what = what;
	}

	get now(): Line | undefined {
		return this.#line;
	}

	came(line: Line): void {
		this.#line = line;
		this.#wake();
	}

	went(): void {
		this.#line = undefined;
	}

	/** No connection will come any more: the key is wrong, or another program has it. Returns the error. */
	failed(error: PlatformError): PlatformError {
		this.#line = undefined;
		this.#failure = error;
		this.#wake();
		return error;
	}

	/** Resolves with the connection; rejects with `not-sent` if none comes within 30 seconds. */
	async up(signal: AbortSignal): Promise<Line> {
		const limit = anySignal([signal, AbortSignal.timeout(PATIENCE_MS)]);
		while (!this.#line) {
			if (this.#failure) throw this.#failure;
			if (limit.aborted) throw new PlatformError("not-sent", `not connected to ${this.#what}`);
			await new Promise<void>((resolve) => {
				const wake = (): void => {
					this.#waiting.delete(wake);
					limit.removeEventListener("abort", wake);
					resolve();
				};
				this.#waiting.add(wake);
				limit.addEventListener("abort", wake);
			});
		}
		return this.#line;
	}

	#wake(): void {
		for (const wake of [...this.#waiting]) wake();
	}
}
