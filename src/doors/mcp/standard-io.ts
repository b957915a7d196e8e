/** stdin and stdout as the wire. A client that does not read is not read either until it does: what it leaves would fill our memory. */
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** A longer message ends the connection: which request it was cannot be known. */
const LONGEST = 64 * 1024 * 1024;
const UNREAD = 1024 * 1024;

export const standardIo = (stdin: Readable = process.stdin, stdout: Writable = process.stdout): Transport => new StandardIo(stdin, stdout);

class StandardIo extends StdioServerTransport {
	readonly #stdin: Readable;
	readonly #stdout: Writable;
	#full = false;
	#closed = false;

	constructor(stdin: Readable, stdout: Writable) {
		super(stdin, stdout, { maxBufferSize: LONGEST });
		this.#stdin = stdin;
		this.#stdout = stdout;
	}

	override send(message: JSONRPCMessage): Promise<void> {
		const sent = super.send(message);
		if (!this.#full && this.#stdout.writableLength > UNREAD) {
			this.#full = true;
			this.#stdin.pause();
			this.#stdout.once("drain", () => {
				this.#full = false;
				if (!this.#closed) this.#stdin.resume();
			});
		}
		return sent;
	}

	override close(): Promise<void> {
		this.#closed = true;
		return super.close();
	}
}
