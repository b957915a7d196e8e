import fs from "node:fs";
import net from "node:net";
import { errno } from "./errors.js";

const ATOMIC = 4096; // PIPE_BUF: a write of this size happens whole or not at all, so the count below is exact

/** Write a few bytes to the non-blocking descriptor of a FIFO and close it. False, and nothing done, if that is not possible at once. */
export function writeAtOnce(fd: number, bytes: Buffer): boolean {
	if (bytes.length > ATOMIC) return false;
	try {
		fs.writeSync(fd, bytes);
	} catch (error) {
		if (errno(error) === "EAGAIN" || errno(error) === "EPIPE") return false;
		fs.closeSync(fd);
		throw error;
	}
	fs.closeSync(fd);
	return true;
}

/**
 * Write `bytes` to the non-blocking descriptor of a FIFO and close it. Usually that is one system call; when the pipe is
 * full the rest waits for its reader in the event loop. Resolves with the number of bytes written: fewer than asked
 * when the reader went away or `signal` was aborted.
 */
export async function writeFifo(fd: number, bytes: Buffer, signal?: AbortSignal): Promise<number> {
	let done = 0;
	try {
		while (done < bytes.length) done += fs.writeSync(fd, bytes, done, bytes.length - done);
	} catch (error) {
		if (errno(error) === "EAGAIN") return done + (await writeWhenReady(fd, bytes.subarray(done), signal));
		fs.closeSync(fd);
		if (errno(error) === "EPIPE") return done;
		throw error;
	}
	fs.closeSync(fd);
	return done;
}

/** The socket owns the descriptor from here on. */
function writeWhenReady(fd: number, bytes: Buffer, signal?: AbortSignal): Promise<number> {
	return new Promise((resolve) => {
		const socket = new net.Socket({ fd, readable: false, writable: true });
		let [done, handed] = [0, 0];
		const next = () => {
			if (done === bytes.length) return socket.destroy();
			const chunk = bytes.subarray(done, done + ATOMIC);
			handed += chunk.length;
			socket.write(chunk, (error) => {
				if (error || socket.destroyed) return; // of one that was destroyed meanwhile it says "no error", written or not
				done = handed;
				next();
			});
		};
		const abort = () => {
			if (!socket.destroyed) done = handed - socket.writableLength;
			socket.destroy();
		};
		socket.on("error", () => socket.destroy()); // EPIPE: the reader is gone
		socket.on("close", () => {
			signal?.removeEventListener("abort", abort);
			resolve(done);
		});
		signal?.addEventListener("abort", abort, { once: true });
		if (signal?.aborted) abort();
		else next();
	});
}
