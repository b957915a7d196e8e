/** A command of the episode's own: a kept process, with its raw output, as whichever user of the place. */
import type { Process, Runtime, Task } from "holdfast";
import { EpisodeError } from "./outcome.js";
import type { Setting } from "./seam.js";

export interface RunOptions {
	/** Seconds; then it is killed with its tree. Default: what the episode has left. */
	readonly timeout?: number;
	/** Undefined: the episode's own; null: the container's; else a name or an id of the image. A place that is no container has one user. */
	readonly user?: string | null;
	readonly env?: Readonly<Record<string, string>>;
	readonly cwd?: string;
	readonly signal?: AbortSignal;
	/** Processes that it leaves running are killed at its end. */
	readonly leaveNothing?: boolean;
}

export interface EndedCommand {
	readonly session_id: string;
	/** Null: it was killed. */
	readonly exit_code: number | null;
	readonly timed_out: boolean;
	/** Pids of its processes that could not be killed. */
	readonly survivors: readonly number[];
	/** Returns the output, or so much of its beginning. */
	bytes(most?: number): Buffer;
	text(): string;
}

export interface CommandPlace {
	readonly task: Task;
	readonly setting: Setting;
	readonly runtime: Runtime;
	readonly signal: AbortSignal;
	left(): number;
}

const GRACE_MS = 2_000;
const PIECE = 1024 * 1024;

export async function runCommand(at: CommandPlace, command: string, options: RunOptions): Promise<EndedCommand> {
	const stop = options.signal ? AbortSignal.any([at.signal, options.signal]) : at.signal;
	stop.throwIfAborted();
	const process = await started(at, command, options);
	let survivors: readonly number[] = [];
	const end = async (): Promise<void> => {
		survivors = (await process.kill({ graceMs: GRACE_MS })).survivors;
	};
	let timed_out: boolean;
	try {
		({ timedOut: timed_out } = await process.wait({ timeout: (options.timeout ?? at.left()) * 1_000, signal: stop }));
	} catch (error) {
		await end();
		throw error;
	}
	if (timed_out || options.leaveNothing) await end();
	const status = process.status();
	if (status.status === "error") throw unavailable(`a command of the episode was not started: ${status.reason}`);
	if (status.status === "lost") throw unavailable(`a command of the episode was lost: ${status.reason}`);
	return {
		...{ session_id: process.id, timed_out, survivors },
		exit_code: timed_out || status.status !== "exited" ? null : status.exitCode,
		bytes: (most) => outputOf(process, most),
		text: () => outputOf(process).toString("utf8"),
	};
}

async function started({ task, setting, runtime }: CommandPlace, command: string, { user, env, cwd }: RunOptions): Promise<Process> {
	if (user === undefined || user === setting.hands || setting.hands === undefined) {
		const where = cwd ?? setting.cwd;
		return task.spawn({ command, ...(env ? { env } : {}), ...(where === undefined ? {} : { cwd: where }) });
	}
	const as = { place: setting.place, ...(user === null ? {} : { user }) };
	const args = { command: `${exportsOf(env)}${command}`, background: true, ...(cwd === undefined ? {} : { workdir: cwd }) };
	const { error, session_id } = await task.terminal(args, as);
	if (session_id === undefined) throw unavailable(error ?? "a command of the episode was not started");
	return runtime.get(session_id);
}

const unavailable = (words: string): EpisodeError => new EpisodeError("place", "unavailable", words, { again: true });

const exportsOf = (env: Readonly<Record<string, string>> = {}): string =>
	Object.entries(env)
		.map(([name, value]) => `export ${name}=${quoted(value)}\n`)
		.join("");

/** A word of the shell, whatever is in it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function outputOf(process: Process, most = Number.MAX_SAFE_INTEGER): Buffer {
	const parts: Buffer[] = [];
	for (let at = 0, size = 0; size < most; ) {
		const { bytes, next } = process.read(at, Math.min(PIECE, most - size));
		if (bytes.length === 0) break;
		parts.push(bytes);
		size += bytes.length;
		at = next;
	}
	return Buffer.concat(parts);
}
