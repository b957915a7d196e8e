/** The transcript of a task: its commands and processes in the order of their start, as far as the home still has them. */
import type { Slice } from "./log.js";
import type { Process } from "./process.js";
import type { Registry } from "./registry.js";
import type { Runtime } from "./runtime.js";
import { standing } from "./summary.js";

/** A command of a task's shell, or a process that it has started. */
export interface TranscriptCommand {
	/** Opens its log, while that is kept. */
	readonly id: string;
	readonly task: string;
	/** The id that the caller gave the call. */
	readonly call?: string;
	/** Secrets are masked. Cut after 4096 characters. */
	readonly command: string;
	readonly cwd: string;
	readonly place: string;
	/** The process has a terminal. */
	readonly pty: boolean;
	readonly status: "running" | "exited" | "killed" | "lost";
	/** null while it runs, and if its end was not seen. */
	readonly exit_code: number | null;
	readonly started_at: string;
	readonly ended_at: string | null;
	/** Bytes of output. */
	readonly bytes: number;
	/** Returns up to `max` bytes of its output from `offset`, not masked. */
	read(offset: number, max?: number): Slice;
}

const TURN = 200; // directories read before yielding to the event loop
const OPEN_DIRECTORIES = 8; // whose commands stay in memory while the transcript is read

interface TranscriptOptions {
	/** Only commands that began at or after this time, in milliseconds. */
	readonly since?: number;
	readonly signal?: AbortSignal | undefined;
}

/** The location of a command. The command itself is read on demand, so that a task may have very many. */
interface Entry {
	readonly id: string;
	readonly startedAt: number;
	readonly from: number;
	/** The directory, as the id that it was created with. */
	readonly directory: string;
}

/** The commands and processes of a task at the time of the call, in the order of their start. */
export class ServedCommands {
	readonly #registry: Registry;
	readonly #task: string;
	readonly entries: readonly Entry[];
	readonly #served = new Map<string, readonly Process[]>();

	private constructor(registry: Registry, task: string, entries: readonly Entry[]) {
		this.#registry = registry;
		this.#task = task;
		this.entries = entries;
	}

	/** Collects the entries. Skips the directories of processes that ended before `since` or belonged to another task. */
	static async of({ registry }: Pick<Runtime, "registry">, task: string, { since = 0, signal }: TranscriptOptions = {}): Promise<ServedCommands> {
		const entries: Entry[] = [];
		const others = registry.endedOtherwise(task, since);
		let read = 0;
		for (const directory of registry.directories()) {
			if (others.has(directory)) continue;
			if (++read % TURN === 0) await new Promise((resolve) => setImmediate(resolve));
			signal?.throwIfAborted();
			for (const { spec } of registry.servedFor(task, directory))
				if (spec.startedAt >= since) entries.push({ id: spec.id, startedAt: spec.startedAt, from: spec.within?.from ?? 0, directory });
		}
		return new ServedCommands(
			registry,
			task,
			entries.sort((a, b) => a.startedAt - b.startedAt || a.from - b.from),
		);
	}

	/** Returns the process of an entry; undefined if it was removed meanwhile. */
	open({ id, startedAt, directory }: Entry): Process | undefined {
		const served = this.#served.get(directory) ?? this.#registry.servedFor(this.#task, directory);
		this.#served.delete(directory);
		this.#served.set(directory, served); // most recently used last
		for (const old of this.#served.keys()) {
			if (this.#served.size <= OPEN_DIRECTORIES) break;
			this.#served.delete(old);
		}
		return served.find(({ spec }) => spec.id === id && spec.startedAt === startedAt);
	}
}

/** Yields the commands that existed at the time of the call, oldest first. */
export async function* transcriptOf(
	runtime: Pick<Runtime, "registry">,
	task: string,
	options: TranscriptOptions = {},
): AsyncGenerator<TranscriptCommand, void> {
	const transcript = await ServedCommands.of(runtime, task, options);
	for (const entry of transcript.entries) {
		options.signal?.throwIfAborted();
		const process = transcript.open(entry);
		const shown = process && commandIn(process);
		if (shown) yield shown;
	}
}

/** Returns the entry for a process; undefined if it never started. */
export function commandIn(process: Process): TranscriptCommand | undefined {
	const { spec } = process;
	const { command, cwd, place, pty, status, exit_code, started_at, ended_at } = standing(process);
	if (status === "error") return undefined;
	return {
		id: spec.id,
		task: spec.task,
		...(spec.call === undefined ? {} : { call: spec.call }),
		command,
		cwd,
		place,
		pty,
		status,
		exit_code,
		started_at,
		ended_at: spec.past ? new Date(spec.past.endedAt).toISOString() : ended_at,
		bytes: process.log.bounds().end,
		read: (offset, max) => process.read(offset, max),
	};
}
