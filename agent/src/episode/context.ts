/** The hands of one episode, in its place: for what prepares it and for what scores it. Bytes are neither cut nor masked, and no rule decides about them. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { PlaceObject, Process, Runtime, Task, ToolArgs, ToolName, ToolResults } from "holdfast";
import { EpisodeError } from "./outcome.js";
import type { Setting } from "./seam.js";

export interface RunOptions {
	/** Seconds; then it is killed with its tree. Default: what the episode has left. */
	readonly timeout?: number;
	/** Undefined: the episode's own; null: the container's; else a name or an id of the image. */
	readonly user?: string | null;
	readonly env?: Readonly<Record<string, string>>;
	readonly cwd?: string;
	readonly signal?: AbortSignal;
}

export interface EndedCommand {
	readonly session_id: string;
	/** Null: it was killed, or it cannot be known how it ended. */
	readonly exit_code: number | null;
	readonly timed_out: boolean;
	/** What of it could not be killed. */
	readonly survivors: readonly number[];
	/** What was printed, or so much of its beginning. */
	bytes(most?: number): Buffer;
	text(): string;
}

export interface MovedFile {
	readonly bytes: number;
	readonly sha256: string;
}

/** Which container or sandbox it is. */
export interface Box {
	readonly id: string;
	readonly since: string;
}

export interface ToolContext {
	/** The name of the episode's task. */
	readonly task: string;
	readonly place: string | PlaceObject;
	/** Where files of the episode go on this machine. */
	readonly folder: string;
	/** Seconds until the episode has to be over. */
	left(): number;
	/** Runs shell text as a kept process, to its end. */
	run(command: string, options?: RunOptions): Promise<EndedCommand>;
	read(file: string): Promise<Buffer>;
	write(file: string, content: string | Uint8Array | AsyncIterable<Uint8Array>, options?: { readonly mode?: number }): Promise<MovedFile>;
	/** Copies a file or folder of this machine into the place; its directory is made. Of a file the sha256 was compared at both ends. */
	upload(from: string, to: string): Promise<MovedFile & { readonly files: number }>;
	download(from: string, to: string): Promise<MovedFile & { readonly files: number }>;
	search(args: ToolArgs["search_files"]): Promise<ToolResults["search_files"]>;
	tool<N extends ToolName>(name: N, args: ToolArgs[N]): Promise<ToolResults[N]>;
	/** What runs in the background. */
	processes(): Process[];
	/** Which container or sandbox it has now; undefined: a place that is no box. Looking makes one if there is none. */
	box(): Promise<Box | undefined>;
}

export interface ContextOptions {
	readonly task: Task;
	readonly setting: Setting;
	readonly folder: string;
	/** When the episode has to be over, as Date.now() has it. */
	readonly over: () => number;
	readonly runtime: Runtime;
	readonly signal: AbortSignal;
}

const GRACE_MS = 2_000;
const NOTHING = createHash("sha256").digest("hex");

export function toolContext({ task, setting, folder, over, runtime, signal }: ContextOptions): ToolContext {
	const left = (): number => Math.max(0, (over() - Date.now()) / 1_000);
	const { files } = task;

	async function started(command: string, { user, env, cwd }: RunOptions): Promise<Process> {
		if (user === undefined || setting.hands === undefined)
			return task.spawn({ command, ...(env ? { env } : {}), ...((cwd ?? setting.cwd) === undefined ? {} : { cwd: cwd ?? setting.cwd }) });
		const text = `${exports(env)}${command}`;
		const as = { place: setting.place, ...(user === null ? {} : { user }) };
		const { error, session_id } = await task.terminal({ command: text, background: true, ...(cwd === undefined ? {} : { workdir: cwd }) }, as);
		if (error !== null || session_id === undefined) throw new EpisodeError("place", "unavailable", error ?? "a command was not started", { again: true });
		return runtime.get(session_id);
	}

	async function sandboxOf(name: string): Promise<Box | undefined> {
		const own = (await runtime.sandboxes()).sandboxes.find((one) => one.kind === "bubblewrap" && one.task === name);
		return own && { id: own.id, since: own.started_at ?? "" };
	}

	return {
		...{ task: task.name, place: setting.place, folder, left },
		async run(command, options = {}) {
			const stop = options.signal ? AbortSignal.any([signal, options.signal]) : signal;
			stop.throwIfAborted();
			const process = await started(command, options);
			let survivors: readonly number[] = [];
			const end = async (): Promise<void> => {
				survivors = (await process.kill({ graceMs: GRACE_MS })).survivors;
			};
			const waited = await process.wait({ timeout: (options.timeout ?? left()) * 1_000, signal: stop }).catch((error: unknown) => error as Error);
			if (waited instanceof Error) {
				await end();
				throw waited;
			}
			if (waited.timedOut) await end();
			const status = process.status();
			if (status.status === "error") throw new EpisodeError("place", "unavailable", `a command was not started: ${status.reason}`, { again: true });
			if (status.status === "lost")
				throw new EpisodeError("place", "unavailable", `it cannot be known how a command of the episode ended: ${status.reason}`, { again: true });
			return {
				...{ session_id: process.id, timed_out: waited.timedOut, survivors },
				exit_code: waited.timedOut || status.status !== "exited" ? null : status.exitCode,
				bytes: (most) => outputOf(process, most),
				text: () => outputOf(process).toString("utf8"),
			};
		},
		read: (file) => files.read(file, { signal }),
		async write(file, content, options = {}) {
			const { bytes, sha256 } = await files.write(file, content, { signal, ...options });
			return { bytes, sha256 };
		},
		async upload(from, to) {
			const copied = await files.copyIn(from, to, { signal });
			refuseSkipped(copied.skipped);
			return { bytes: copied.bytes, files: copied.files, sha256: copied.sha256 ?? NOTHING };
		},
		async download(from, to) {
			fs.mkdirSync(path.dirname(path.resolve(to)), { recursive: true });
			const copied = await files.copyOut(from, to, { signal });
			refuseSkipped(copied.skipped);
			return { bytes: copied.bytes, files: copied.files, sha256: copied.sha256 ?? NOTHING };
		},
		search: (args) => task.searchFiles(args, { signal }),
		tool: (name, args) => task.call(name, args, { signal }),
		processes: () => task.processes({ ended: false }),
		async box() {
			const { error, box } = await task.terminal({ command: ":", timeout: 60 }, { signal });
			if (error !== null && error !== "") throw new EpisodeError("place", "unavailable", error, { again: true });
			if (box) return { id: box.id, since: box.since };
			return isSandbox(setting.place) ? sandboxOf(task.name) : undefined;
		},
	};
}

const isSandbox = (place: string | PlaceObject): boolean => (typeof place === "string" ? place === "local+sandbox" : place.kind === "sandbox");

const exports = (env: Readonly<Record<string, string>> = {}): string =>
	Object.entries(env)
		.map(([name, value]) => `export ${name}=${quoted(value)}\n`)
		.join("");

/** A word of the shell, whatever is in it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function refuseSkipped(skipped: readonly string[]): void {
	if (skipped.length > 0)
		throw new EpisodeError("scorer", "artifacts", `what is neither file, folder nor link cannot be moved: ${skipped.slice(0, 5).join("; ")}`);
}

const PIECE = 1024 * 1024;

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
