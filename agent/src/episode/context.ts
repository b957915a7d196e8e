/** The hands of one episode, in its place: for what prepares it and for what scores it. Bytes are neither cut nor masked, and no rule decides about them. */
import fs from "node:fs";
import path from "node:path";
import {
	type CopiedFiles,
	HoldfastError,
	type PlaceObject,
	type Process,
	type Runtime,
	type Task,
	type ToolArgs,
	type ToolName,
	type ToolResults,
} from "holdfast";
import { type EndedCommand, type RunOptions, runCommand } from "./command.js";
import { EpisodeError } from "./outcome.js";
import type { Setting } from "./seam.js";

export interface MovedFiles {
	readonly files: number;
	readonly bytes: number;
	/** The hash of a single file. */
	readonly sha256?: string;
	/** Entries that are neither file, folder nor link, and stay behind. */
	readonly skipped: readonly string[];
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
	/** The directory of this machine for files of the episode. */
	readonly folder: string;
	/** Seconds until the episode has to be over. */
	left(): number;
	/** Runs shell text as a kept process, to its end. */
	run(command: string, options?: RunOptions): Promise<EndedCommand>;
	/** Undefined: there is no such file. Of a larger one, so much of its beginning. */
	read(file: string, most?: number): Promise<Buffer | undefined>;
	write(
		file: string,
		content: string | Uint8Array | AsyncIterable<Uint8Array>,
		options?: { readonly mode?: number },
	): Promise<{ readonly bytes: number; readonly sha256: string }>;
	/** Copies a file or folder of this machine into the place; its directory is made. Every file was compared by its sha256. */
	upload(from: string, to: string): Promise<MovedFiles>;
	/** Links that come out lead wherever the place says: do not follow them. */
	download(from: string, to: string): Promise<MovedFiles>;
	search(args: ToolArgs["search_files"]): Promise<ToolResults["search_files"]>;
	tool<N extends ToolName>(name: N, args: ToolArgs[N]): Promise<ToolResults[N]>;
	/** The same hands in another place; what runs there ends with the episode. */
	beside(setting: Setting): Promise<ToolContext>;
	/** Returns the processes in the background. */
	processes(): Process[];
	/** Which container or sandbox it has now; undefined: a place that is no box. Looking makes one if there is none. */
	box(): Promise<Box | undefined>;
}

export interface ContextOptions {
	readonly task: Task;
	readonly setting: Setting;
	readonly folder: string;
	/** When the episode has to be over, as Date.now() has it. */
	readonly over: number;
	readonly runtime: Runtime;
	readonly signal: AbortSignal;
	beside(setting: Setting): Promise<ToolContext>;
}

const LOOK_SECONDS = 60;

export function toolContext(options: ContextOptions): ToolContext {
	const { task, setting, folder, over, runtime, signal, beside } = options;
	const { files } = task;
	const left = (): number => Math.max(0, (over - Date.now()) / 1_000);
	return {
		...{ task: task.name, place: setting.place, folder, left, beside },
		run: (command, given = {}) => runCommand({ ...options, left }, command, given),
		read: (file, most) => beginningOf(files.stream(file, { signal }), most),
		async write(file, content, given = {}) {
			const { bytes, sha256 } = await files.write(file, content, { signal, ...given });
			return { bytes, sha256 };
		},
		upload: async (from, to) => moved(await files.copyIn(from, to, { signal })),
		async download(from, to) {
			fs.mkdirSync(path.dirname(path.resolve(to)), { recursive: true });
			return moved(await files.copyOut(from, to, { signal }));
		},
		search: (args) => task.searchFiles(args, { signal }),
		tool: (name, args) => task.call(name, args, { signal }),
		processes: () => task.processes({ ended: false }),
		async box() {
			const { error, box } = await task.terminal({ command: ":", timeout: LOOK_SECONDS }, { signal });
			if (error !== null && error !== "") throw new EpisodeError("place", "unavailable", error, { again: true });
			if (box) return { id: box.id, since: box.since };
			return isSandbox(setting.place) ? sandboxOf(runtime, task.name) : undefined;
		},
	};
}

const moved = ({ files, bytes, sha256, skipped }: CopiedFiles): MovedFiles => ({ files, bytes, skipped, ...(sha256 === undefined ? {} : { sha256 }) });

/** Its files are in a directory of this machine. */
export const isLocal = (place: string | PlaceObject): boolean => /^(local|sandbox)(\+|$)/.test(typeof place === "string" ? place : place.kind);

export const isSandbox = (place: string | PlaceObject): boolean => (typeof place === "string" ? place === "local+sandbox" : place.kind === "sandbox");

async function sandboxOf(runtime: Runtime, task: string): Promise<Box | undefined> {
	const own = (await runtime.sandboxes()).sandboxes.find((one) => one.kind === "bubblewrap" && one.task === task);
	return own && { id: own.id, since: own.started_at ?? "" };
}

async function beginningOf(pieces: AsyncIterable<Buffer>, most = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> {
	const parts: Buffer[] = [];
	let size = 0;
	try {
		for await (const piece of pieces) {
			parts.push(piece);
			size += piece.length;
			if (size >= most) break;
		}
	} catch (error) {
		if (error instanceof HoldfastError && error.code === "NOT_FOUND") return undefined;
		throw error;
	}
	const all = Buffer.concat(parts);
	return all.length > most ? all.subarray(0, most) : all;
}
