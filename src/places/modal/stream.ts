/** A byte stream to a command in a sandbox. */
import { Readable, Writable } from "node:stream";
import type { ContainerProcess } from "modal";
import type { Stream } from "../host.js";
import { hold, noted } from "./calls.js";

const MOST_WAITING = 1024 * 1024;
/** How long a program stays alive to deliver the end of an input. */
const GRACE_MS = 1_000;

/** Returns a stream. `why` returns the reason of its end, unless only the command ended. */
export function modalStream(command: ContainerProcess<Uint8Array>, why: () => Promise<string | undefined>): Stream {
	const writer = command.stdin.getWriter();
	writer.closed.catch(() => {}); // the writer's callback reports it
	// Each write is a separate call, answered before the next is sent: bytes that have gathered meanwhile go together.
	const send = (bytes: Uint8Array, done: (error?: Error) => void) => void noted(() => writer.write(bytes)).then(() => done(), done);
	const input = new Writable({
		highWaterMark: MOST_WAITING,
		write: (chunk: Buffer, _encoding, done) => send(chunk, done),
		writev: (chunks, done) => send(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
		final: (done) => void noted(() => writer.close()).then(() => done(), done),
	});
	input.on("error", () => {});

	const reader = command.stdout.getReader();
	let broken: string | undefined;
	let over = () => {};
	const atEnd = new Promise<void>((resolve) => {
		over = resolve;
	});
	const output = new Readable({
		read: () => {
			noted(() => reader.read()).then(
				({ done, value }) => {
					if (done) over();
					output.push(done ? null : Buffer.from(value));
				},
				(error: Error) => {
					broken = error.message;
					over();
					output.push(null);
				},
			);
		},
		destroy: (error, done) => {
			over();
			noted(() => reader.cancel()).catch(() => {}); // it had ended
			done(error);
		},
	});
	output.on("error", () => {});

	let closed = false;
	let held = true;
	hold(true);
	const letGo = (on: boolean) => {
		if (held === on) return;
		held = on;
		hold(on);
	};
	const ended = atEnd.then(async (): Promise<string> => {
		try {
			if (closed) return "it was closed from this side";
			const told = await why().catch((error: Error) => error.message);
			if (told !== undefined) return told;
			if (broken !== undefined) return `the connection to the sandbox broke (${broken})`;
			return `the command there ended with exit code ${await noted(() => command.wait())}`;
		} catch (error) {
			return `the connection to the sandbox broke (${(error as Error).message})`;
		} finally {
			letGo(false);
		}
	});
	return {
		input,
		output,
		ended,
		// No call ends a command: the end of its input does, which the remote end of a link obeys.
		close: () => {
			if (closed) return;
			closed = true;
			hold(true);
			const late = setTimeout(() => input.destroy(), GRACE_MS);
			input.once("close", () => {
				clearTimeout(late);
				hold(false);
			});
			input.end();
			output.destroy();
		},
		hold: (on) => {
			if (!closed) letGo(on);
		},
	};
}
