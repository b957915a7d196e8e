/** A kept process, as a view of its directory. Any number of views, in any number of programs, can look at the same process. */
import fs from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import * as z from "zod";
import { aSignal, HoldfastError, type Kernel, parseOptions, parseStat, perHome, readIfThere, statIfThere, until } from "../base/index.js";
import type { Redactor } from "../base/secrets/index.js";
import { COMMAND_SHOWN, commandOf, readParts, recordParts, type Spec, type Within } from "../keeper/index.js";
import { type KeptProcess, type Machine, sightOf } from "../places/index.js";
import { followLog } from "./follow.js";
import { Input } from "./input.js";
import { type KillResult, killTree, members } from "./kill.js";
import { wasCutShort, whileKilling } from "./killing.js";
import { checkCount, Log, type Slice } from "./log.js";
import { isOver, mayBeUnderWay, mustRun, readStatus, type Status } from "./status.js";
import { snapshot } from "./tree.js";
import { type WaitOptions, type WaitResult, waitFor } from "./wait.js";

const RESIZE_MS = 2_000; // for a collector to set a size; it may be waiting for room on the disk

const followSchema = z.lazy(() => z.strictObject({ from: z.number().int().min(0).optional(), signal: aSignal }));
const killSchema = z.lazy(() => z.strictObject({ graceMs: z.number().min(0).optional() }));

/** Directories of processes whose kill was cut short and is being finished. */
const finishingIn = perHome(() => new Set<string>());

export class Process implements KeptProcess {
	readonly id: string;
	readonly dir: string;
	readonly spec: Spec;
	readonly log: Log;
	/** The machine it runs on. */
	readonly machine: Machine;
	readonly kernel: Kernel;
	/** The values that are masked in texts about it. */
	readonly secrets: Redactor;
	readonly #onEnd: (process: Process, status: Status) => void;
	readonly #input: Input;

	constructor(dir: string, spec: Spec, machine: Machine, onEnd: (process: Process, status: Status) => void) {
		this.id = spec.id;
		this.dir = dir;
		this.spec = spec;
		this.machine = machine;
		this.kernel = machine.kernel;
		this.secrets = machine.home.secrets;
		this.log = new Log(dir, { from: spec.within?.from ?? 0, to: spec.past?.to ?? Number.POSITIVE_INFINITY });
		this.#onEnd = onEnd;
		this.#input = new Input(this);
	}

	/**
	 * For a remote process: refreshes its state. What is asked of it without this, or without a wait, is answered as it was last seen. If its
	 * machine cannot be reached this says so, and nothing has changed. With `ms` that is so after one try, or when there is no answer for so long.
	 */
	sync(signal?: AbortSignal, ms?: number): Promise<string | undefined> {
		return this.machine.processes.sync(this, { signal, ms });
	}

	/** Why its state is old: its machine could not be reached at the last try. */
	get unreachable(): string | undefined {
		return sightOf(this.dir, this.spec).stale?.reason;
	}

	isOver(): boolean {
		return isOver(this.status());
	}

	mayBeUnderWay(): boolean {
		return mayBeUnderWay(this.dir, this.spec);
	}

	/** The pid of the command itself; null before it has one. */
	get pid(): number | null {
		return commandOf(readParts(this.dir), this.spec)?.pid ?? null;
	}

	status(): Status {
		const status = readStatus(this.dir, this.spec);
		if (this.spec.past) return status; // of its slot, which may serve another command, nothing is to be settled
		if (isOver(status)) this.#onEnd(this, status);
		if (status.status !== "elsewhere" && wasCutShort(this.dir)) this.#finishKill();
		return status;
	}

	/** In the background: a later look sees what became of it. */
	#finishKill(): void {
		const finishing = finishingIn(this.machine.home);
		if (finishing.has(this.dir)) return;
		finishing.add(this.dir);
		this.kill()
			.catch(() => {}) // out of reach now: a later look tries again
			.finally(() => finishing.delete(this.dir));
	}

	/** Up to `max` bytes from `offset`; the slice says where it really starts, and where to read on. */
	read(offset: number, max?: number): Slice {
		checkCount(offset, "an offset");
		if (max !== undefined) checkCount(max, "a number of bytes");
		return this.log.read(offset, max);
	}

	/** The whole command, also where `spec.command` is cut. */
	command(): string {
		if (this.spec.argv || this.spec.past || this.spec.restart || this.spec.command.length < COMMAND_SHOWN) return this.spec.command;
		const text = fs.readFileSync(path.join(this.dir, "command"), "utf8");
		const end = text.indexOf("\0"); // a log that served a shell before may have more behind it
		return end < 0 ? text : text.slice(0, end);
	}

	/**
	 * The output from an offset on, as it comes. Ends when the command has exited and what it printed has been read; a
	 * grandchild that holds the pipe does not keep it going.
	 */
	follow(options: { from?: number; signal?: AbortSignal } = {}): AsyncGenerator<Slice, void> {
		parseOptions("follow", followSchema, options);
		return followLog(this, options);
	}

	/** Calls `changed` when there is output, at the end, and when anything else changes: with the name of a file, or null. Returns a function that ends that. */
	watch(changed: (name: string | null) => void): () => void {
		return this.machine.processes.watch(this, changed);
	}

	/** Waits until it exits, or any condition of `until` holds, or the time is up. Never touches the process. */
	wait(options: WaitOptions = {}): Promise<WaitResult> {
		return waitFor(this, options);
	}

	/** Bytes to its stdin, as they are. Resolves when they are in the pipe, with how many. */
	write(data: Uint8Array | string, options: { signal?: AbortSignal } = {}): Promise<number> {
		return this.#input.write(data, options.signal);
	}

	/** End of input: the last writer closes stdin; on a terminal, Ctrl-D is typed. */
	async closeStdin(): Promise<void> {
		if (this.spec.terminal) {
			await this.write("\x04");
			return;
		}
		mustRun(this, "close its stdin");
		if (!this.spec.stdin) return;
		fs.writeFileSync(path.join(this.dir, "eof"), "", { mode: 0o600 });
		await this.#tell("close");
	}

	async resize(cols: number, rows: number): Promise<void> {
		if (!this.spec.terminal) throw new HoldfastError("NO_TERMINAL", `${this.id} has no terminal; start it with one to give it a size`);
		for (const size of [cols, rows])
			if (!Number.isInteger(size) || size < 1 || size > 10_000) throw new HoldfastError("INVALID", "cols and rows must be whole numbers from 1 to 10000");
		mustRun(this, "resize it");
		recordParts(this.dir); // the collector looks for the terminal there
		// The collector notes each size that it has set: what is typed after this finds the program with the new one.
		const times = path.join(this.dir, "times");
		const from = statIfThere(times)?.size ?? 0;
		const isSet = () =>
			(readIfThere(times) ?? "")
				.slice(from)
				.split("\n")
				.some((line) => line.startsWith("size ") && line.endsWith(` ${cols} ${rows}`));
		await this.#tell(`size ${rows} ${cols}`);
		await until(
			(poke) => this.watch(poke),
			() => isSet() || isOver(this.status()) || undefined,
			{ deadline: performance.now() + RESIZE_MS },
		);
	}

	/** Ask for the times of its output that are known and not yet in `times`. They come within moments, or there are none. */
	async askForTimes(): Promise<void> {
		await this.#tell("times");
	}

	/** Sends one signal to the process group, on a terminal to the foreground group. KILL goes to the command alone; `kill` is for the tree. */
	async signal(signal: NodeJS.Signals): Promise<void> {
		if (!Object.hasOwn(constants.signals, signal))
			throw new HoldfastError("INVALID", `there is no signal "${signal}"; there are ${Object.keys(constants.signals).join(", ")}`);
		const command = commandOf(readParts(this.dir), this.spec);
		mustRun(this, `send it ${signal}`);
		const [text] = command ? await this.kernel.read([`/proc/${command.pid}/stat`]) : [];
		const stat = text === undefined ? undefined : parseStat(text);
		if (!command || !stat || stat.start !== command.start) throw new HoldfastError("ENDED", `${this.id} has just ended`);
		if (this.spec.within) {
			await this.#signalJobs(signal, this.spec.within);
			return;
		}
		const group = this.spec.terminal && stat.foreground > 0 ? stat.foreground : stat.pgrp;
		// Under script(1) the keeper of a terminal is in the command's group and shrugs off everything but these two.
		const alone = this.spec.terminal && (signal === "SIGKILL" || signal === "SIGSTOP");
		const [delivery] = await this.kernel.signal([alone ? { pid: command.pid, signal, of: command } : { pid: -group, signal, of: command }]);
		if (delivery === "gone") throw new HoldfastError("ENDED", `${this.id} has just ended`);
		if (delivery === "refused") throw new HoldfastError("DENIED", `not allowed to signal ${this.id}: it runs as another user`);
	}

	/** A shell's command: its jobs lead groups of their own. Without one it is the shell that is at work. */
	async #signalJobs(signal: NodeJS.Signals, { bash, older }: Within): Promise<void> {
		const jobs = (await this.kernel.family(bash.pid)).filter(({ pid, ppid }) => ppid === bash.pid && !older.includes(pid));
		const delivered = await this.kernel.signal(jobs.length === 0 ? [{ pid: bash.pid, signal, of: bash }] : jobs.map((of) => ({ pid: -of.pid, signal, of })));
		const single = jobs.filter((_, at) => delivered[at] !== "sent");
		if (single.length > 0) await this.kernel.signal(single.map((of) => ({ pid: of.pid, signal, of })));
	}

	/** End it and everything it started, and look whether that worked. */
	async kill(options: { graceMs?: number } = {}): Promise<KillResult & { status: KillResult["status"]; final: Status }> {
		parseOptions("kill", killSchema, options);
		const before = readStatus(this.dir, this.spec);
		if (before.status === "elsewhere")
			throw new HoldfastError("NOT_HERE", `${this.id} runs on another host (${before.host}) or in another container; kill it there`);
		if (this.spec.past || !(await this.machine.processes.canAsk(this))) {
			await this.sync(); // it may not be known yet that it has ended with its container
			return { status: "already_exited", method: this.spec.kill, signalled: [], survivors: [], final: this.status() };
		}
		const result = await whileKilling(this.dir, () => killTree(this.kernel, this.dir, this.spec, { over: isOver(before), ...options }));
		if (result.status === "error") return { ...result, final: this.status() };
		await this.wait({ timeout: 2_000 }); // the keeper writes the end within moments
		if (!isOver(this.status())) await this.sync(); // unless there is no directory for it any more
		const status = this.status();
		// The process may have ended by itself before a signal of ours reached it.
		return { ...result, status: result.signalled.length === 0 && status.status !== "killed" ? "already_exited" : result.status, final: status };
	}

	/** Processes it has left running after its end. */
	async leftovers(): Promise<number[]> {
		return !this.spec.past && (await this.machine.processes.canAsk(this)) ? members(await snapshot(this.kernel), this.dir, this.spec) : [];
	}

	/** Drops the oldest output up to an offset (whole segments only). A writer paused at its limit goes on. */
	async discard(before: number): Promise<number> {
		checkCount(before, "an offset");
		const first = this.log.discard(before);
		await this.machine.files.discard(this.id, first);
		await this.#tell("again");
		return first;
	}

	#tell(message: string): Promise<void> {
		return this.machine.processes.tell(this.id, message);
	}
}
