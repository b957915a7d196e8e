/** Without a terminal the engine sends stdout and stderr in frames on one stream: a byte for the stream, three zero bytes, a length, the bytes. */
const HEADER = 8;

export interface Sinks {
	stdout(bytes: Buffer): void;
	stderr(bytes: Buffer): void;
}

export class Demultiplexer {
	readonly #sinks: Sinks;
	readonly #header = Buffer.alloc(HEADER);
	#have = 0; // bytes of the header
	#left = 0; // bytes of the frame

	constructor(sinks: Sinks) {
		this.#sinks = sinks;
	}

	/** Parses bytes; returns false if they are no frames. Passes bytes on as they arrive, not per complete frame: a frame may be large. */
	take(bytes: Buffer): boolean {
		for (let at = 0; at < bytes.length; ) {
			if (this.#left > 0) {
				const part = bytes.subarray(at, at + this.#left);
				if (this.#header[0] === 2) this.#sinks.stderr(part);
				else this.#sinks.stdout(part);
				this.#left -= part.length;
				at += part.length;
				continue;
			}
			const copied = bytes.copy(this.#header, this.#have, at, at + HEADER - this.#have);
			at += copied;
			this.#have += copied;
			if (this.#have < HEADER) break;
			if (this.#header[0] !== 1 && this.#header[0] !== 2) return false;
			this.#have = 0;
			this.#left = this.#header.readUInt32BE(4);
		}
		return true;
	}
}
