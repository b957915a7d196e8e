/** The output of a process to one viewer, in order and by offset, at most one window ahead of what that viewer has acknowledged. */
import { type Process, type Size, Sizes, starredSlices } from "../../process/index.js";
import { FRAME_HEAD, type ServerMessage, WINDOW_BYTES } from "./messages.js";

const FRAME_BYTES = 64 * 1024;

export interface OutflowOptions {
	readonly process: Process;
	readonly from: number;
	/** With stars in place of secrets. */
	readonly mask: boolean;
	readonly signal: AbortSignal;
	readonly say: (message: ServerMessage) => void;
	readonly frame: (bytes: Buffer) => void;
}

export class Outflow {
	readonly #options: OutflowOptions;
	readonly #sizes: Sizes | undefined;
	#pending: Size[] = [];
	#sent: number;
	#acked: number;
	#acknowledged: (() => void) | undefined;

	constructor(options: OutflowOptions) {
		this.#options = options;
		this.#sent = options.from;
		this.#acked = options.from;
		if (options.process.spec.terminal) {
			this.#sizes = new Sizes(options.process.dir);
			this.#pending = this.#sizes.next().filter(({ offset }) => offset >= options.from);
		}
		options.signal.addEventListener("abort", () => this.#acknowledged?.(), { once: true });
	}

	/** Until all is sent and the process has ended: true. False when it was stopped. */
	async run(): Promise<boolean> {
		const { process, from, mask, signal } = this.#options;
		const slices = process.follow({ from, signal });
		for await (const slice of mask ? starredSlices(process, slices) : slices) {
			if (signal.aborted) return false;
			if (slice.offset > this.#sent) this.#skip(slice.offset);
			this.sizes();
			for (let at = 0; at < slice.bytes.length; ) {
				while (this.#sent - this.#acked >= WINDOW_BYTES && !signal.aborted) await new Promise<void>((resolve) => (this.#acknowledged = resolve));
				if (signal.aborted) return false;
				const room = Math.min(FRAME_BYTES, WINDOW_BYTES - (this.#sent - this.#acked), (this.#pending[0]?.offset ?? Number.POSITIVE_INFINITY) - this.#sent);
				const piece = slice.bytes.subarray(at, at + room);
				this.#frame(piece, Math.max(slice.next, this.#sent + piece.length));
				at += piece.length;
				this.#tellSizes();
			}
		}
		this.sizes(true);
		return !signal.aborted;
	}

	ack(offset: number): void {
		if (offset > this.#sent) return; // of something that was never sent
		this.#acked = Math.max(this.#acked, offset);
		this.#acknowledged?.();
	}

	/** New sizes may have been noted. `all`: also those for output that will never come. */
	sizes(all = false): void {
		this.#pending.push(...(this.#sizes?.next() ?? []));
		this.#tellSizes(all);
	}

	#tellSizes(all = false): void {
		for (let size = this.#pending[0]; size && (all || size.offset <= this.#sent); size = this.#pending[0]) {
			this.#options.say({ type: "size", offset: size.offset, cols: size.cols, rows: size.rows });
			this.#pending.shift();
		}
	}

	#skip(to: number): void {
		this.#options.say({ type: "gap", from: this.#sent, to });
		this.#sent = to;
		this.#acked = Math.max(this.#acked, to - WINDOW_BYTES / 2);
	}

	#frame(bytes: Buffer, end: number): void {
		const frame = Buffer.allocUnsafe(FRAME_HEAD + bytes.length);
		frame.writeBigUInt64BE(BigInt(this.#sent), 0);
		frame.writeBigUInt64BE(BigInt(Math.max(end, this.#behind())), 8);
		bytes.copy(frame, FRAME_HEAD);
		this.#sent += bytes.length;
		this.#options.frame(frame);
	}

	/** Returns the end of the log, looked up only when there is more than a piece to send. */
	#behind(): number {
		return this.#sent - this.#acked > FRAME_BYTES ? this.#options.process.log.bounds().end : 0;
	}
}
