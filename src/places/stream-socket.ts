/** A byte stream of a host in the shape of a socket, as far as `node:http` and its agents use one. */
import { Duplex } from "node:stream";
import type { Stream } from "./host.js";

export class StreamSocket extends Duplex {
	readonly #stream: Stream;
	#idle: NodeJS.Timeout | undefined;
	/** For http.Agent, which compares it. */
	timeout: number | undefined;

	/** `silent` is the error of one that ends before anything has come. */
	constructor(stream: Stream, silent: (why: string) => Error) {
		super({ allowHalfOpen: false }); // as a socket: the end of what comes ends what goes, and then it is closed
		this.#stream = stream;
		let answered = false;
		stream.output.on("data", (bytes: Buffer) => {
			answered = true;
			this.#idle?.refresh();
			if (!this.push(bytes)) stream.output.pause();
		});
		stream.output.once("end", async () => {
			const why = await stream.ended;
			if (answered) this.push(null);
			else this.destroy(silent(why));
		});
		stream.output.once("error", (error) => this.destroy(error));
	}

	override _read(): void {
		this.#stream.output.resume();
	}

	override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
		this.#idle?.refresh();
		this.#stream.input.write(chunk, done);
	}

	override _final(done: (error?: Error | null) => void): void {
		this.#stream.input.end();
		done(); // not when the end was taken: where the command has ended already, nothing tells of that
	}

	override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
		clearTimeout(this.#idle);
		this.#stream.input.destroy();
		this.#stream.close();
		done(error);
	}

	ref(): this {
		this.#stream.hold?.(true);
		return this;
	}

	unref(): this {
		this.#stream.hold?.(false);
		return this;
	}

	/** "timeout" when nothing has passed for so long; 0: never. */
	setTimeout(ms: number): this {
		this.timeout = ms;
		clearTimeout(this.#idle);
		this.#idle = ms > 0 ? setTimeout(() => this.emit("timeout"), ms).unref() : undefined;
		return this;
	}

	setKeepAlive(): this {
		return this;
	}

	setNoDelay(): this {
		return this;
	}
}
