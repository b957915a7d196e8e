/** A command in a container: as a byte stream with the reason of its end, or run to its end with its output. */
import { Readable, Writable } from "node:stream";
import { HoldfastError } from "../../base/index.js";
import type { Stream } from "../host.js";
import { execs } from "./api.js";
import type { Engine } from "./engine.js";
import { Demultiplexer } from "./frames.js";
import type { EngineSocket } from "./request.js";

export interface ExecOptions {
	readonly argv: readonly string[];
	readonly user?: string;
	readonly signal?: AbortSignal | undefined;
}

/** How much of stderr is kept, for the error text. */
const STDERR_BYTES = 4096;

/** The engine writes this in place of output if it notices too late that it cannot start the command. */
export const NOT_STARTED = "OCI runtime exec failed";

/** Opens a stream to a command. `diagnose` explains what became of the container, or why nothing started, unless only the command ended. */
export async function openExec(
	engine: Engine,
	container: string,
	options: ExecOptions,
	diagnose: (code: number | null, said: string) => Promise<string | undefined>,
): Promise<Stream> {
	const { exec, socket } = await begin(engine, container, options, { stdin: true });
	const stderr = new Tail(STDERR_BYTES);
	let broken: string | undefined;
	let closed = false;
	let begun = false;

	const output = new Readable({
		read: () => void socket.resume(),
		destroy: (error, done) => {
			socket.destroy();
			done(error);
		},
	});
	const frames = new Demultiplexer({
		stdout: (bytes) => {
			if (!begun && bytes.subarray(0, NOT_STARTED.length).toString("latin1") === NOT_STARTED) return stderr.add(bytes);
			begun = true;
			if (!output.push(bytes)) socket.pause();
		},
		stderr: (bytes) => stderr.add(bytes),
	});
	socket.on("data", (bytes: Buffer) => {
		if (frames.take(bytes)) return;
		broken = "the engine sent something that is not a part of the stream";
		socket.destroy();
	});
	socket.on("error", (error) => {
		broken ??= error.message;
	});
	const ended = new Promise<string>((resolve) => {
		socket.on("close", () => {
			if (!output.destroyed) output.push(null);
			input.destroy();
			resolve(closed ? "it was closed from here" : words());
		});
	});
	// Over TLS, the end of input can lose output that arrives at the same moment (seen with Node 20), so a link ends its input last.
	const input = new Writable({
		write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
		final: (done) => void socket.end(done),
	});
	input.on("error", () => {}); // the writer's callback and `ended` report it
	output.on("error", () => {});

	const words = async (): Promise<string> => {
		const code = await exitCode(engine, exec);
		const said = stderr.text();
		const why = await diagnose(code, said);
		const main =
			why ??
			(code !== null
				? `the command in the container ended with exit code ${code}`
				: `the connection to the command in the container broke${broken === undefined ? "" : ` (${broken})`}`);
		return said === "" ? main : `${main}; it said: ${said}`;
	};

	socket.resume();
	return {
		input,
		output,
		ended,
		close: () => {
			closed = true;
			output.destroy();
			socket.destroy();
		},
		hold: (on) => void (on ? socket.ref() : socket.unref()),
	};
}

/** Runs a command to its end, without input. Cuts its output, stdout and stderr, at some kilobytes. */
export async function runExec(engine: Engine, container: string, options: ExecOptions): Promise<{ code: number | null; text: string }> {
	const { exec, socket } = await begin(engine, container, options, { stdin: false });
	const text = new Tail(STDERR_BYTES);
	const frames = new Demultiplexer({ stdout: (bytes) => text.add(bytes), stderr: (bytes) => text.add(bytes) });
	const giveUp = () => socket.destroy();
	const late = setTimeout(giveUp, 30_000);
	options.signal?.addEventListener("abort", giveUp, { once: true });
	if (options.signal?.aborted) giveUp();
	await new Promise<void>((resolve) => {
		socket.on("data", (bytes: Buffer) => void frames.take(bytes));
		socket.on("error", () => {}); // "close" follows
		socket.on("close", resolve);
	});
	clearTimeout(late);
	options.signal?.removeEventListener("abort", giveUp);
	if (options.signal?.aborted) throw new HoldfastError("ABORTED", "preparing the container: given up");
	return { code: await exitCode(engine, exec), text: text.text() };
}

async function begin(
	engine: Engine,
	container: string,
	{ argv, user, signal }: ExecOptions,
	{ stdin }: { stdin: boolean },
): Promise<{ exec: string; socket: EngineSocket }> {
	const doing = "starting a command in the container";
	const body = { AttachStdin: stdin, AttachStdout: true, AttachStderr: true, Tty: false, Cmd: argv, ...(user !== undefined && { User: user }) };
	const { Id: exec } = await engine.call(doing, execs.create(container, body), { signal });
	return { exec, socket: await engine.call(doing, execs.start(exec), { signal }) };
}

/** Returns the exit code; null if the command still runs, or the engine cannot tell. */
async function exitCode(engine: Engine, exec: string): Promise<number | null> {
	try {
		// The stream may end a moment before the engine has noted the exit.
		for (let look = 0; look < 20; look++) {
			const { Running, ExitCode } = await engine.call("looking at a command", execs.inspect(exec), { ms: 5_000 });
			if (!Running) return ExitCode ?? null;
			await new Promise((resolve) => setTimeout(resolve, 25));
		}
	} catch {
		// the engine or the container is gone: the caller finds out which
	}
	return null;
}

/** Keeps the last bytes of a stream. */
class Tail {
	#bytes: Buffer = Buffer.alloc(0);
	#cut = false;
	readonly #most: number;

	constructor(most: number) {
		this.#most = most;
	}

	add(bytes: Buffer): void {
		const all = Buffer.concat([this.#bytes, bytes]);
		this.#cut ||= all.length > this.#most;
		this.#bytes = all.subarray(-this.#most);
	}

	text(): string {
		return `${this.#cut ? "…" : ""}${this.#bytes.toString("utf8").trim()}`;
	}
}
