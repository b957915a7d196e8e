/** A kept process, as a view of its directory. Any number of views, in any number of programs, can share one process. */
import fs from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import * as z from "zod";
import { aSignal, HoldfastError, type Kernel, parseOptions, parseStat, perHome, readIfThere, statIfThere, until } from "../base/index.js";
import type { Redactor } from "../base/secrets/index.js";
import { COMMAND_SHOWN, commandOf, readParts, recordParts, type Spec, type Within } from "../keeper/index.js";
import { type KeptProcess, type Machine, sightOf } from "../places/index.js";
import { followLog } from "./follow.js";
import { maskedCommand } from "./hidden.js";
import { Input } from "./input.js";
import { type KillResult, killTree, members } from "./kill.js";
import { wasCutShort, whileKilling } from "./killing.js";
import { checkCount, Log, type Slice } from "./log.js";
import { isOver, mayBeUnderWay, mustRun, readStatus, type Status } from "./status.js";
import { snapshot } from "./tree.js";
import { type WaitOptions, type WaitResult, waitFor } from "./wait.js";

const RESIZE_MS = 2_000; // for a collector to set a size; it may be waiting for disk space

const followSchema = z.lazy(() => z.strictObject({ from: z.number().int().min(0).optional(), signal: aSignal }));
const killSchema = z.lazy(() => z.strictObject({ graceMs: z.number().min(0).optional() }));

/** Directories of processes whose interrupted kill is being finished. */
const finishingIn = perHome(() => new Set<string>());

export class Process implements KeptProcess {
	readonly id: string;
	readonly dir: string;
	readonly spec: Spec;
	readonly log: Log;
	/** The machine that it runs on. */
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

	/** What `console.log(process)` shows. */
	[inspect.custom](): string {
		const { task, name } = this.spec;
		return `Process ${this.id} of task ${task}: ${name ? `${name}: ` : ""}${maskedCommand(this)}`;
	}

	/**
	 * For a remote process: refreshes its state. Without this call or a wait, all answers are its last known state. Resolves with a sentence, and
	 * changes nothing, if the machine is unreachable. With `ms`, gives up after one attempt, or after that time without an answer.
	 */
	async sync(signal?: AbortSignal, ms?: number): Promise<string | undefined> {
		return this.spec.past ? undefined : this.machine.processes.sync(this, { signal, ms });
	}

	/** The reason why its state is stale: its machine could not be reached at the last attempt. */
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
		if (this.spec.past) return status; // its slot may serve another command: there is nothing to settle
		if (isOver(status)) this.#onEnd(this, status);
		if (status.status !== "elsewhere" && wasCutShort(this.dir)) this.#finishKill();
		return status;
	}

	/** Finishes an interrupted kill in the background; a later status shows the result. */
	#finishKill(): void {
		const finishing = finishingIn(this.machine.home);
		if (finishing.has(this.dir)) return;
		finishing.add(this.dir);
		this.kill()
			.catch(() => {}) // unreachable now: a later status retries
			.finally(() => finishing.delete(this.dir));
	}

	/** Returns up to `max` bytes from `offset`; the slice says where it really starts, and where to continue. */
	read(offset: number, max?: number): Slice {
		checkCount(offset, "an offset");
		if (max !== undefined) checkCount(max, "a number of bytes");
		return this.log.read(offset, max);
	}

	/** Returns the whole command, even if `spec.command` is cut. */
	command(): string {
		if (this.spec.argv || this.spec.past || this.spec.restart || this.spec.command.length < COMMAND_SHOWN) return this.spec.command;
		const text = fs.readFileSync(path.join(this.dir, "command"), "utf8");
		const end = text.indexOf("\0"); // a slot that served a shell before may have old text after it
		return end < 0 ? text : text.slice(0, end);
	}

	/**
	 * Yields the output from an offset on, as it arrives. Ends when the command has exited and its output has been read; a grandchild that holds the
	 * pipe open does not prolong it.
	 */
	follow(options: { from?: number; signal?: AbortSignal } = {}): AsyncGenerator<Slice, void> {
		parseOptions("follow", followSchema, options);
		return followLog(this, options);
	}

	/** Calls `changed` on output, at the end, and on any other change: with the name of a file, or null. Returns a function that stops watching. */
	watch(changed: (name: string | null) => void): () => void {
		return this.spec.past ? () => {} : this.machine.processes.watch(this, changed);
	}

	/** Waits until the process exits, any condition of `until` holds, or the time is up. Never affects the process. */
	wait(options: WaitOptions = {}): Promise<WaitResult> {
		return waitFor(this, options);
	}

	/** Writes bytes to its stdin, unchanged. Resolves with their number when they are in the pipe. */
	write(data: Uint8Array | string, options: { signal?: AbortSignal } = {}): Promise<number> {
		return this.#input.write(data, options.signal);
	}

	/** Signals end of input: closes stdin; on a terminal, types Ctrl-D. */
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
		recordParts(this.dir); // the collector finds the terminal in these records
		// The collector records each size after setting it, so that later input reaches the program with the new size.
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

	/** Requests the output times that are known and not yet in `times`. They arrive within moments, if there are any. */
	async askForTimes(): Promise<void> {
		await this.#tell("times");
	}

	/** Sends one signal to the process group, on a terminal to the foreground group. KILL goes only to the command on a terminal; `kill` is for the tree. */
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
		// With script(1), the keeper of a terminal is in the command's group and survives every signal except these two.
		const alone = this.spec.terminal && (signal === "SIGKILL" || signal === "SIGSTOP");
		const [delivery] = await this.kernel.signal([alone ? { pid: command.pid, signal, of: command } : { pid: -group, signal, of: command }]);
		if (delivery === "gone") throw new HoldfastError("ENDED", `${this.id} has just ended`);
		if (delivery === "refused") throw new HoldfastError("DENIED", `not allowed to signal ${this.id}: it runs as another user`);
	}

	/** Signals the jobs of a shell's command, which lead groups of their own. Without a job, the shell itself is at work. */
	async #signalJobs(signal: NodeJS.Signals, { bash, older }: Within): Promise<void> {
		const jobs = (await this.kernel.family(bash.pid)).filter(({ pid, ppid }) => ppid === bash.pid && !older.includes(pid));
		const delivered = await this.kernel.signal(jobs.length === 0 ? [{ pid: bash.pid, signal, of: bash }] : jobs.map((of) => ({ pid: -of.pid, signal, of })));
		const single = jobs.filter((_, at) => delivered[at] !== "sent");
		if (single.length > 0) await this.kernel.signal(single.map((of) => ({ pid: of.pid, signal, of })));
	}

	/** Ends the process and everything it started, and verifies the result. */
	async kill(options: { graceMs?: number } = {}): Promise<KillResult & { status: KillResult["status"]; final: Status }> {
		parseOptions("kill", killSchema, options);
		const before = readStatus(this.dir, this.spec);
		if (before.status === "elsewhere")
			throw new HoldfastError("NOT_HERE", `${this.id} runs on another host (${before.host}) or in another container; kill it there`);
		if (this.spec.past || !(await this.machine.processes.canAsk(this))) {
			await this.sync(); // it may have ended with its container, unnoticed so far
			return { status: "already_exited", method: this.spec.kill, signalled: [], survivors: [], final: this.status() };
		}
		const result = await whileKilling(this.dir, () => killTree(this.kernel, this.dir, this.spec, { over: isOver(before), ...options }));
		if (result.status === "error") return { ...result, final: this.status() };
		await this.wait({ timeout: 2_000 }); // the keeper records the end within moments
		if (!isOver(this.status())) await this.sync(); // unless its directory is gone
		const status = this.status();
		// The process may have ended by itself before the signal reached it.
		return { ...result, status: result.signalled.length === 0 && status.status !== "killed" ? "already_exited" : result.status, final: status };
	}

	/** Returns the processes that it has left running after its end. */
	async leftovers(): Promise<number[]> {
		return !this.spec.past && (await this.machine.processes.canAsk(this)) ? members(await snapshot(this.kernel), this.dir, this.spec) : [];
	}

	/** Drops the oldest output up to an offset (whole segments only). A writer that is paused at its limit continues. */
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
