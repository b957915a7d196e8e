/** stdin and stdout as the wire. A client that does not read is not read either until it does: what it leaves would fill our memory. */
import type { Readable, Writable } from "node:stream";
import type { Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** A longer message ends the connection: nobody can tell whose request it was. */
const LONGEST = 64 * 1024 * 1024;
const UNREAD = 1024 * 1024;

export function standardIo(stdin: Readable = process.stdin, stdout: Writable = process.stdout): Transport {
	const wire = new StdioServerTransport(stdin, stdout, { maxBufferSize: LONGEST });
	let full = false;
	let closed = false;
	const goOn = () => {
		full = false;
		if (!closed) stdin.resume();
	};
	const tapped: Transport = {
		start: () => wire.start(),
		close: () => wire.close(),
		send: (message) => {
			const sent = wire.send(message);
			if (!full && stdout.writableLength > UNREAD) {
				full = true;
				stdin.pause();
				stdout.once("drain", goOn);
			}
			return sent;
		},
	};
	wire.onmessage = (message) => tapped.onmessage?.(message);
	wire.onerror = (error) => tapped.onerror?.(error);
	wire.onclose = () => {
		closed = true;
		tapped.onclose?.();
	};
	return tapped;
}
