/** Support for tests of programs that are built on Holdfast: `holdfast/testing`. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { HoldfastError, isAlive, parseOptions } from "../base/index.js";
import { readParts } from "../keeper/index.js";
import { type Clock, useClock } from "../notices/index.js";
import { agentOf } from "./agent.js";
import { openRuntime, type Runtime, type RuntimeOptions } from "./runtime.js";
import type { Task } from "./task.js";
import type { FileEntry, TaskFiles, WrittenFile } from "./task-files.js";

const GONE_MS = 10_000;

/**
 * A clock that stands still until `pass`. It covers when notices are due: `check_interval`, and how often patterns may tell. All else goes by the
 * system's clock, as processes do.
 */
export class FakeClock implements Clock {
	#now = Date.now();
	readonly #timers = new Set<{ at: number; run: () => void }>();

	now = (): number => this.#now;

	after(ms: number, run: () => void): () => void {
		const timer = { at: this.#now + ms, run };
		this.#timers.add(timer);
		return () => this.#timers.delete(timer);
	}

	/** Lets so many milliseconds pass: what is due by then is done, in its order. */
	pass(ms: number): void {
		if (!(ms >= 0)) throw new HoldfastError("INVALID", `FakeClock.pass: it takes a number of milliseconds from 0 on, not ${ms}`);
		this.#now += ms;
		for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
			if (timer.at <= this.#now && this.#timers.delete(timer)) timer.run();
		}
	}
}

export interface TestRuntimeOptions extends Omit<RuntimeOptions, "home"> {
	readonly clock?: FakeClock | undefined;
}

const runtimeOptions = z.looseObject({ clock: z.custom<FakeClock>((value) => value instanceof FakeClock, "must be a FakeClock").optional() });

/**
 * Opens a runtime on a new home in the directory for temporary files. Its end, by `await using` or `close()`, kills all that runs in it, ends its tasks'
 * sandboxes and containers, removes the home, and throws if something is still there.
 */
export async function testRuntime(given: TestRuntimeOptions = {}): Promise<Runtime> {
	const { clock, ...options } = parseOptions("testRuntime", runtimeOptions, given) as TestRuntimeOptions;
	if ("home" in options) throw new HoldfastError("INVALID", "testRuntime: it makes a home of its own, so leave home out");
	const home = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "holdfast-testing-"));
	const runtime = await openRuntime({ warm: 0, ...options, home }).catch((error: unknown) => {
		fs.rmSync(home, { recursive: true, force: true });
		throw error;
	});
	if (clock) useClock(agentOf(runtime).home, clock);
	const release = runtime.close.bind(runtime);
	let closed: Promise<void> | undefined;
	const close = () => {
		closed ??= ended(runtime, release, home);
		return closed;
	};
	return Object.assign(runtime, { close, [Symbol.asyncDispose]: close });
}

async function ended(runtime: Runtime, release: () => Promise<void>, home: string): Promise<void> {
	const agent = agentOf(runtime);
	const processes = agent.list({ task: null, shells: true });
	const parts = processes.flatMap((process) => Object.values(readParts(process.dir)));
	const tasks = new Set([runtime.defaultTask, ...processes.map(({ spec }) => spec.task)]);
	const reports = await Promise.all([...tasks].map((task) => runtime.endTask(task)));
	await release();
	const deadline = Date.now() + GONE_MS;
	while (parts.some(isAlive) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
	const left = [
		...reports.filter(({ gone }) => !gone).flatMap(({ notes }) => notes),
		...parts.filter(isAlive).map(({ pid }) => `process ${pid} is still there`),
	];
	if (left.length > 0) throw new HoldfastError("INTERNAL", `testRuntime: not all of it could be ended, so ${home} stays: ${left.join(" ")}`);
	fs.rmSync(home, { recursive: true, force: true });
}

/** A recorded call of a tool with its result. JSON can hold it. */
export interface RecordedCall {
	readonly tool: string;
	readonly args: unknown;
	readonly result: unknown;
}

/** Returns the same task; what its tools answer through it is kept in `calls`, for `taskDouble`. */
export function recordTask(task: Task): Task & { readonly calls: RecordedCall[] } {
	if (typeof (task as Task | undefined)?.call !== "function") throw new HoldfastError("INVALID", "recordTask: it takes a task, as runtime.task() returns it");
	const calls: RecordedCall[] = [];
	const call = async (tool: unknown, args: unknown, options?: never): Promise<unknown> => {
		const result: unknown = await task.call(tool as string, args, options);
		calls.push(structuredClone({ tool: nameOf(tool), args, result }));
		return result;
	};
	const shown = { calls, call, ...byMethod(call) };
	return new Proxy(task, {
		get: (_, name) => {
			if (name in shown) return shown[name as keyof typeof shown];
			const value: unknown = Reflect.get(task, name, task);
			return typeof value === "function" ? value.bind(task) : value;
		},
	}) as Task & { readonly calls: RecordedCall[] };
}

export interface TaskDoubleOptions {
	readonly name?: string;
	/** In memory, by their paths as they are asked for. */
	readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

export interface TaskDouble extends Task {
	/** Returns the recorded calls that were not made yet. */
	unused(): RecordedCall[];
}

const recordedSchema = z.array(z.object({ tool: z.string(), args: z.unknown(), result: z.unknown() }));
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
const doubleSchema = z.strictObject({
	name: z.string().optional(),
	files: z.record(z.string(), z.union([z.string(), bytes], "must be a string or bytes")).optional(),
});

/**
 * Returns a double of a task: it runs nothing, and answers each call of a tool with the recorded result of the same tool and arguments, each once, in
 * their order. A call that it does not know, and a member of `Task` that it does not have, are errors. `files` has read, stream, write and list.
 */
export function taskDouble(recorded: readonly RecordedCall[], options: TaskDoubleOptions = {}): TaskDouble {
	const left = parseOptions("taskDouble", recordedSchema, recorded) as RecordedCall[];
	const { name = "double", files = {} } = parseOptions("taskDouble", doubleSchema, options);
	let last = new Date();
	const call = async (tool: unknown, args: unknown): Promise<unknown> => {
		const at = left.findIndex((one) => one.tool === nameOf(tool) && isDeepStrictEqual(plain(one.args), plain(args)));
		const [found] = at < 0 ? [] : left.splice(at, 1);
		if (!found) throw unknown(nameOf(tool), args, left);
		last = new Date();
		return structuredClone(found.result);
	};
	const parts = {
		name,
		isBusy: false,
		get lastActivity() {
			return last;
		},
		call,
		...byMethod(call),
		files: filesDouble(files),
		processes: () => [],
		interrupt: async () => 0,
		close: async () => {},
		[Symbol.asyncDispose]: async () => {},
		unused: () => [...left],
	};
	return strict(parts, "taskDouble") as unknown as TaskDouble;
}

/** Returns a double of a runtime that has these tasks, and nothing else. */
export function runtimeDouble(tasks: Readonly<Record<string, Task>>): Runtime {
	parseOptions(
		"runtimeDouble",
		z.record(
			z.string(),
			z.custom<Task>((task) => typeof task === "object" && task !== null, "must be a task"),
		),
		tasks,
	);
	const task = (name: string): Task => {
		const found = tasks[name];
		if (!found)
			throw new HoldfastError("NOT_FOUND", `runtimeDouble: there is no task ${JSON.stringify(name)}; there are ${Object.keys(tasks).join(", ") || "none"}`);
		return found;
	};
	const parts = { task, defaultTask: Object.keys(tasks)[0] ?? "default", placeName: "double", close: async () => {}, [Symbol.asyncDispose]: async () => {} };
	return strict(parts, "runtimeDouble") as unknown as Runtime;
}

const nameOf = (tool: unknown): string => (typeof tool === "string" ? tool : (tool as { name: string }).name);

type AnyCall = (tool: string, args: unknown, options?: never) => Promise<unknown>;

const byMethod = (call: AnyCall) => ({
	terminal: (args: unknown, options?: never) => call("terminal", args, options),
	process: (args: unknown, options?: never) => call("process", args, options),
	readFile: (args: unknown, options?: never) => call("read_file", args, options),
	writeFile: (args: unknown, options?: never) => call("write_file", args, options),
	patch: (args: unknown, options?: never) => call("patch", args, options),
	searchFiles: (args: unknown, options?: never) => call("search_files", args, options),
	upload: (args: unknown, options?: never) => call("upload", args, options),
	download: (args: unknown, options?: never) => call("download", args, options),
});

/** Returns the value as a recording in a file has it. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

const SHOWN = 300;

function unknown(tool: string, args: unknown, left: readonly RecordedCall[]): HoldfastError {
	const shown = (one: { tool: string; args: unknown }) => `${one.tool} ${JSON.stringify(one.args)}`.slice(0, SHOWN);
	const rest = left.slice(0, 5).map(shown).join("; ") || "none";
	return new HoldfastError("INVALID", `taskDouble: no recorded result is left for ${shown({ tool, args })}. Left are: ${rest}`);
}

/** A promise asks for `then`, a printer for symbols: those are not calls of the program. */
const strict = (parts: object, what: string): object =>
	new Proxy(parts, {
		get: (target, name, receiver) => {
			if (name in target || typeof name === "symbol" || name === "then" || name === "toJSON") return Reflect.get(target, name, receiver);
			throw new HoldfastError("UNSUPPORTED", `${what}: this double has no ${name}; test that with testRuntime()`);
		},
	});

function filesDouble(given: Readonly<Record<string, string | Uint8Array>>): TaskFiles {
	const files = new Map(Object.entries(given).map(([file, content]) => [path.posix.normalize(file), Buffer.from(content as string)]));
	const read = async (file: string): Promise<Buffer> => {
		const found = files.get(path.posix.normalize(file));
		if (!found) throw new HoldfastError("NOT_FOUND", `there is no ${file}`);
		return Buffer.from(found);
	};
	const write: TaskFiles["write"] = async (file, content): Promise<WrittenFile> => {
		const pieces: Uint8Array[] = [];
		if (typeof content === "string" || content instanceof Uint8Array) pieces.push(Buffer.from(content as string));
		else for await (const piece of content) pieces.push(piece);
		const [at, bytes] = [path.posix.normalize(file), Buffer.concat(pieces)];
		const created = !files.has(at);
		files.set(at, bytes);
		return { path: at, created, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex"), notes: [] };
	};
	const parts = {
		read,
		async *stream(file: string) {
			yield await read(file);
		},
		write,
		list: async (dir: string, options: { recursive?: boolean } = {}): Promise<FileEntry[]> => {
			const at = path.posix.normalize(`${dir}/`);
			const prefix = at === "./" ? "" : at;
			const below = [...files].filter(([file]) => file.startsWith(prefix)).map(([file, bytes]) => ({ name: file.slice(prefix.length), size: bytes.length }));
			const found = new Map<string, FileEntry>();
			for (const { name, size } of below) {
				const names = name.split("/");
				for (let depth = 1; depth < names.length; depth++) {
					const above = names.slice(0, depth).join("/");
					found.set(above, { name: above, kind: "directory", size: 0, mode: 0o755 });
				}
				found.set(name, { name, kind: "file", size, mode: 0o644 });
			}
			return [...found.values()].filter(({ name }) => options.recursive || !name.includes("/")).sort((a, b) => (a.name < b.name ? -1 : 1));
		},
	};
	return strict(parts, "taskDouble.files") as unknown as TaskFiles;
}
