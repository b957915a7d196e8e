/**
 * A byte stream over a local program that relays one: ssh, apptainer, kubectl, srun. The program runs in a session of its own: it has no
 * terminal to prompt on, and Ctrl-C does not reach it.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import type { Socket } from "node:net";
import path from "node:path";
import { childEnvironment, errno, HoldfastError, onlyThese, ownEnvironment } from "../base/index.js";
import { Redactor } from "../base/secrets/index.js";
import type { Stream } from "./host.js";

const KEPT_BYTES = 4_096;
const GRACE_MS = 1_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** A program of this machine, and the error text if it is missing. */
export interface Program {
	/** Its name in PATH, or a path. */
	readonly name: string;
	/** How to install it, as the rest of a sentence. */
	readonly missing: string;
	readonly env: Readonly<Record<string, string>>;
}

export interface ChildExit {
	/** null if a signal ended it. */
	readonly code: number | null;
	readonly signal: string | null;
}

export interface RunningChild {
	readonly child: ChildProcessWithoutNullStreams;
	/** Returns the end of the stderr of the program or of the command behind it. */
	said(): string;
	/** Never rejects. */
	readonly exit: Promise<ChildExit>;
}

/** Returns the environment for a program that outlives a call, without secrets: every command of this user can read it in /proc. */
export const programEnvironment = (
	given: Readonly<Record<string, string | undefined>> = {},
	own: NodeJS.ProcessEnv = ownEnvironment(),
): Record<string, string> => childEnvironment(new Redactor(), own, given);

/** Returns the first of these programs found in PATH. */
export function findProgram(names: readonly string[], searchPath = ""): string | undefined {
	const dirs = searchPath.split(":").filter((dir) => path.isAbsolute(dir));
	return names.find((name) => dirs.some((dir) => isExecutable(path.join(dir, name))));
}

function isExecutable(file: string): boolean {
	try {
		fs.accessSync(file, fs.constants.X_OK);
		return fs.statSync(file).isFile();
	} catch {
		return false;
	}
}

/** Starts a program and resolves when it runs. Throws, with what to do, if it cannot be started. */
export async function startChild(program: Program, args: readonly string[]): Promise<RunningChild> {
	let child: ChildProcessWithoutNullStreams;
	try {
		child = spawn(program.name, args, {
			env: program.env,
			cwd: "/",
			detached: true,
			stdio: onlyThese("pipe", "pipe", "pipe"),
		}) as ChildProcessWithoutNullStreams;
		for (const end of [child.stdin, child.stdout, child.stderr]) end.on("error", () => {}); // it has ended; `exit` reports that
		await once(child, "spawn");
	} catch (error) {
		throw cannotRun(error, program);
	}
	let kept = Buffer.alloc(0);
	child.stderr.on("data", (bytes: Buffer) => {
		kept = Buffer.concat([kept, bytes]).subarray(-KEPT_BYTES);
	});
	const exit = new Promise<ChildExit>((resolve) => {
		child.once("exit", (code, signal) => {
			// Waits a moment for the rest of stderr; a background program may hold it open for longer.
			const tell = () => resolve({ code, signal });
			const late = setTimeout(() => {
				child.stderr.destroy(); // else it keeps this program alive for as long as a remote command hangs
				tell();
			}, 250);
			child.stderr.once("close", () => {
				clearTimeout(late);
				tell();
			});
		});
	});
	return { child, said: () => kept.toString("utf8"), exit };
}

export interface ChildStreamOptions {
	/** Returns why it ended. Not called when this side closed it. */
	why(end: ChildExit, said: string): string | Promise<string>;
	/** Called when this side closes it; `politely`: its input was ended first. */
	onClose?(politely: boolean): void;
	/** Returns details about a stream that this side closed. */
	whyClosed?(child: ChildProcessWithoutNullStreams): string;
}

/** Returns the stream of a running child. `close` sends TERM, then KILL if the program does not exit in time. */
export function childStream({ child, said, exit }: RunningChild, { why, onClose, whyClosed }: ChildStreamOptions): Stream {
	let closed = false;
	const ended = exit.then(async (end) => {
		if (closed) return `it was closed from this side${whyClosed?.(child) ?? ""}`;
		try {
			return await why(end, said());
		} catch (error) {
			return (error as Error).message;
		}
	});
	const close = () => {
		if (closed || child.exitCode !== null || child.signalCode !== null) return;
		closed = true;
		onClose?.(child.stdin.writableEnded);
		child.stdin.destroy();
		child.stdout.destroy();
		child.kill("SIGTERM");
		const late = setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
		void exit.then(() => clearTimeout(late));
	};
	const hold = (on: boolean) => {
		const ends = [child.stdin, child.stdout, child.stderr] as unknown as Socket[];
		for (const handle of [child, ...ends.filter(({ destroyed }) => !destroyed)]) on ? handle.ref() : handle.unref();
	};
	return { input: child.stdin, output: child.stdout, ended, close, hold };
}

export interface Ran {
	readonly code: number | null;
	readonly signal: string | null;
	readonly output: string;
	readonly said: string;
}

export interface RunOptions {
	/** Its stdin. */
	readonly input?: string | Buffer;
	readonly signal?: AbortSignal | undefined;
	/** Time limit; the program is then killed, and the call throws. */
	readonly ms: number;
	/** Called when it runs, with its pid. */
	readonly onStart?: ((pid: number | undefined) => void) | undefined;
	/** Called for each line of stderr as it arrives. */
	readonly onLine?: ((line: string) => void) | undefined;
}

/** Runs a program to its end. Throws UNREACHABLE on a timeout, ABORTED if the caller gives up; a nonzero code is a result. */
export async function runProgram(program: Program, args: readonly string[], { input = "", signal, ms, onStart, onLine }: RunOptions): Promise<Ran> {
	const doing = `${program.name} ${args.find((word) => !word.startsWith("-")) ?? ""}`.trim();
	if (signal?.aborted) throw new HoldfastError("ABORTED", `${doing}: given up`);
	const { child, said, exit } = await startChild(program, args);
	onStart?.(child.pid);
	const parts: Buffer[] = [];
	let length = 0;
	child.stdout.on("data", (bytes: Buffer) => {
		length += bytes.length;
		if (length <= MOST_BYTES) parts.push(bytes);
	});
	if (onLine) linesOf(child, onLine);
	let why: "late" | "aborted" | undefined;
	const end = (reason: "late" | "aborted") => {
		why ??= reason;
		endGroup(child.pid);
	};
	const abort = () => end("aborted");
	const late = setTimeout(() => end("late"), ms);
	signal?.addEventListener("abort", abort, { once: true });
	if (signal?.aborted) abort();
	child.stdin.end(input);
	const closed = new Promise<void>((resolve) => child.stdout.once("close", () => resolve()));
	const { code, signal: by } = await exit;
	clearTimeout(late);
	signal?.removeEventListener("abort", abort);
	// Does not wait for pipes that a background program holds open.
	await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 250).unref())]);
	child.stdout.destroy();
	if (why === "aborted") throw new HoldfastError("ABORTED", `${doing}: given up`);
	if (why === "late") throw new HoldfastError("UNREACHABLE", `${doing}: no answer within ${Math.round(ms / 1000)} s`);
	return { code, signal: by, output: Buffer.concat(parts).toString("utf8"), said: said() };
}

function linesOf(child: ChildProcessWithoutNullStreams, onLine: (line: string) => void): void {
	let rest = "";
	child.stderr.on("data", (bytes: Buffer) => {
		const lines = (rest + bytes.toString("utf8")).split(/\r?\n|\r/);
		rest = (lines.pop() ?? "").slice(-KEPT_BYTES);
		for (const line of lines.map(plain)) if (line !== "") onLine(line);
	});
}

/** Returns one line of a program's output without terminal sequences. */
export const plain = (text: string): string =>
	text
		.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, "")
		.replace(/[\0-\x1f\x7f-\x9f]+/g, " ")
		.trim();

/** Kills a program and its children: it leads a process group of its own. */
export function endGroup(pid: number | undefined): void {
	try {
		if (pid !== undefined) process.kill(-pid, "SIGKILL");
	} catch {
		// gone already
	}
}

function cannotRun(error: unknown, { name, missing }: Program): HoldfastError {
	if (errno(error) === "ENOENT")
		return new HoldfastError("UNSUPPORTED", `there is no ${name} on this machine (no \`${name}\` in PATH); ${missing}`, { cause: error });
	if (errno(error) === "EACCES") return new HoldfastError("UNSUPPORTED", `this user may not run ${name}; ${missing}`, { cause: error });
	if (errno(error) === "E2BIG")
		return new HoldfastError("INVALID", `the command is too long to be given to ${name}; write it to a file there`, { cause: error });
	if (errno(error) === "ERR_INVALID_ARG_VALUE") return new HoldfastError("INVALID", "a command cannot contain a NUL byte", { cause: error });
	if (errno(error) === "EMFILE" || errno(error) === "EAGAIN")
		return new HoldfastError("NO_FILES", `${name} cannot be started: too many files are open or processes running; close something, then try again`, {
			cause: error,
		});
	return new HoldfastError("START_FAILED", `${name} cannot be started (${(error as Error).message})`, { cause: error });
}
