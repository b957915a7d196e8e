/** One kept process: a view of its directory. Any number of these, in any number of programs, can look at the same one. */
import fs from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errno, fromSystem, HoldfastError } from "../base/errors.js";
import { writeFifo } from "../base/fifo.js";
import { readIfThere, statIfThere } from "../base/files.js";
import type { Kernel } from "../base/kernel.js";
import { nearKernel } from "../base/near.js";
import { checked } from "../base/problems.js";
import { hostIdentity, parseStat, sameHost } from "../base/proc.js";
import { Wakeup, watchDirectory } from "../base/watch.js";
import { readParts, recordParts } from "../keeper/layout.js";
import { asLastSeen, readThere } from "../keeper/there.js";
import type { Box } from "../places/far/box.js";
import { guard } from "./guard.js";
import { Input } from "./input.js";
import { httpAnswersInside, portOpensInside } from "./inside.js";
import { type KillResult, killTree, members } from "./kill.js";
import { wasCutShort, whileKilling } from "./killing.js";
import { Log, LogCursor, type Slice } from "./log.js";
import { httpAnswers, portOpens } from "./probes.js";
import { COMMAND_SHOWN, type Spec, type Within } from "./spec.js";
import { commandOf, endsWithShell, isDrained, isOver, mayBeUnderWay, mustRun, readStatus, type Status, siblingOf, starterIsGone } from "./status.js";
import { httpAnswersThere, portOpensThere } from "./there.js";
import { snapshot } from "./tree.js";
import { type Condition, PatternSearch, type Until, untilSchema } from "./until.js";

const DRAIN_STALL_MS = 3_000; // after the exit: how long without a new byte until the rest is given up. On a full disk the collector looks every second
const RESIZE_MS = 2_000; // for a collector to set a size; it may be waiting for room on the disk
const DRAIN_LOOK_MS = 2;
const BEGUN_LOOK_MS = 2_000;
const FLOOD_BYTES = 4 * 1024;
const FLOOD_MS = { least: 1, most: 16 };

export interface WaitOptions {
	readonly until?: Until;
	/** Milliseconds. Default: as long as it takes. */
	readonly timeout?: number;
	readonly signal?: AbortSignal;
	/** Where a pattern starts to look. Default: the oldest output there is. */
	readonly from?: number;
}

export interface WaitResult {
	/** Which condition held; null when the time was up first. */
	readonly matched: Condition | null;
	readonly timedOut: boolean;
	readonly status: Status;
	/** Where the match of a pattern ends, so that a search can go on there; else the end of the output. */
	readonly offset: number;
	/** The text a pattern found. */
	readonly match?: string;
}

const finishing = new Set<string>(); // directories of those whose kill was cut short

export class Process {
	readonly id: string;
	readonly dir: string;
	readonly spec: Spec;
	readonly log: Log;
	/** Of the machine it runs on. */
	readonly kernel: Kernel;
	readonly #onEnd: (process: Process, status: Status) => void;
	readonly #input: Input;
	/** The machine that it is on, if that is not this one. */
	readonly box: Box | undefined;

	constructor(dir: string, spec: Spec, onEnd: (process: Process, status: Status) => void, box?: Box) {
		this.box = box;
		this.id = spec.id;
		this.dir = dir;
		this.spec = spec;
		this.log = new Log(dir);
		this.kernel = box?.kernel ?? nearKernel;
		this.#onEnd = onEnd;
		this.#input = new Input(this);
	}

	/**
	 * Of one on another machine: see how it is now. Whatever is asked of it without this, or without a wait, is answered as it was last seen. When
	 * its machine cannot be reached this says so, and nothing has changed. With `ms` that is so after one try, or when there is no answer for so long.
	 */
	async sync(signal?: AbortSignal, ms?: number): Promise<string | undefined> {
		const { box } = this;
		if (!box || isSettled(this.dir, this.status())) return undefined;
		const stop = new AbortController();
		const given = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
		const late = ms === undefined ? undefined : sleep(ms, "late" as const, { signal: stop.signal, ref: false });
		const failed = ms === undefined ? undefined : box.failure(stop.signal).then(() => "failed" as const);
		const synced = this.#look(box, given);
		try {
			const first = await (late && failed ? Promise.race([synced, late, failed]) : synced);
			if (first !== "late" && first !== "failed") return undefined;
			return this.#unreached(box, box.trouble ?? `no answer within ${(ms ?? 0) / 1000} s`);
		} catch (error) {
			if (errno(error) === "ENOENT" && !fs.existsSync(this.dir)) return undefined; // another program has removed it meanwhile
			if (!(error instanceof HoldfastError) || (error.code !== "UNREACHABLE" && error.code !== "START_FAILED")) throw error;
			return this.#unreached(box, box.trouble ?? error.message);
		} finally {
			stop.abort();
			for (const rest of [synced, late]) rest?.catch(() => {}); // whichever came second
		}
	}

	/** Whether it has started at all is decided there, and by nothing that was seen before whoever was to start it was gone. */
	async #look(box: Box, signal: AbortSignal): Promise<void> {
		const { id, dir, spec } = this;
		const nobodyStartsIt = starterIsGone(spec) || box.gaveUp(id);
		const shell = spec.within?.bash;
		await Promise.all([box.sync(id, { signal, shell }), spec.within ? box.sync(spec.within.shell, { signal }) : undefined]);
		if (endsWithShell(dir, spec)) await box.sync(id, { signal, shell });
		if (!nobodyStartsIt || !mayBeUnderWay(dir, spec)) return;
		try {
			await box.withdraw(id, spec.within);
			await box.sync(id, { signal, shell });
		} catch (error) {
			if (!(error instanceof HoldfastError) || error.code !== "ENDED") throw error;
			box.lose(id, error.message); // with all that ran there
		}
	}

	#unreached(box: Box, reason: string): string {
		box.unreachable(this.id, reason);
		return asLastSeen(this.spec.place, reason, readThere(this.dir)?.at);
	}

	/** Why there is no newer word of it, if its machine could not be reached the last time that anybody tried. */
	get unreachable(): string | undefined {
		return this.box && readThere(this.dir)?.unreachable;
	}

	/** The pid of the command itself; null before it has one. */
	get pid(): number | null {
		return commandOf(readParts(this.dir), this.spec)?.pid ?? null;
	}

	status(): Status {
		const status = readStatus(this.dir, this.spec);
		if (isOver(status)) this.#onEnd(this, status);
		if (status.status !== "elsewhere" && wasCutShort(this.dir)) this.#finishKill();
		return status;
	}

	/** In the background: a later look sees what became of it. */
	#finishKill(): void {
		if (finishing.has(this.dir)) return;
		finishing.add(this.dir);
		this.kill()
			.catch(() => {}) // out of reach now: a later look tries again
			.finally(() => finishing.delete(this.dir));
	}

	/** Up to `max` bytes from `offset`; the slice says where it really starts, and where to read on. */
	read(offset: number, max?: number): Slice {
		checkCount(offset, "an offset");
		checkCount(max, "a number of bytes");
		return this.log.read(offset, max);
	}

	/** The whole command, also where `spec.command` is cut. */
	command(): string {
		if (this.spec.argv || this.spec.command.length < COMMAND_SHOWN) return this.spec.command;
		const text = fs.readFileSync(path.join(this.dir, "command"), "utf8");
		const end = text.indexOf("\0"); // a log that served a shell before may have more behind it
		return end < 0 ? text : text.slice(0, end);
	}

	/**
	 * The output from an offset on, as it comes. Ends when the command has exited and what it printed has been read; a
	 * grandchild that holds the pipe does not keep it going.
	 */
	async *follow(options: { from?: number; signal?: AbortSignal } = {}): AsyncGenerator<Slice, void> {
		checkCount(options.from, "an offset");
		const cursor = new LogCursor(this.dir, options.from ?? 0);
		const wakeup = new Wakeup();
		const unwatch = this.watch(wakeup.poke);
		try {
			let stalledSince: number | undefined;
			let over = false;
			let flood = false;
			let pause: number = FLOOD_MS.least;
			for (;;) {
				// Output is an event of its own, and the common one: then the rest need not be looked at.
				const slice = cursor.read();
				if (slice.bytes.length > 0) {
					stalledSince = undefined;
					flood = slice.bytes.length >= FLOOD_BYTES;
					if (!flood) pause = FLOOD_MS.least;
					yield slice;
					continue;
				}
				if (flood && !options.signal?.aborted) {
					// Read a flood in large pieces, a moment later, rather than block by block as it is written; the longer it lasts the larger.
					flood = false;
					await sleep(pause);
					pause = Math.min(2 * pause, FLOOD_MS.most);
					continue;
				}
				if (options.signal?.aborted) return;
				if (wakeup.more) {
					wakeup.more = false;
					over ||= isOver(this.status());
				}
				if (over) {
					if (isDrained(this.dir)) {
						// What is in the log now, when it was already over and drained, is all there is.
						for (let rest = cursor.read(); rest.bytes.length > 0; rest = cursor.read()) yield rest;
						return;
					}
					stalledSince ??= Date.now();
					if (Date.now() - stalledSince > DRAIN_STALL_MS) return;
				}
				await wakeup.next(over ? DRAIN_LOOK_MS : undefined, options.signal);
			}
		} finally {
			cursor.close();
			unwatch();
		}
	}

	/**
	 * Be told of output, of the end, and of whatever else changes: the name of a file, or null. Inotify tells; of a witness that was
	 * killed, only a look now and then. Returns what ends that.
	 */
	watch(changed: (name: string | null) => void): () => void {
		const ends = [watchDirectory(this.dir, changed)];
		if (this.box) {
			ends.push(this.box.follow(this.id, { shell: this.spec.within?.bash }));
			if (this.spec.within) ends.push(this.box.follow(this.spec.within.shell));
			ends.push(this.#untilBegun());
		} else ends.push(guard(this.dir, this.spec, () => changed(null)));
		if (this.spec.within) ends.push(this.#watchShell(this.spec.within, changed)); // it may end with its shell
		return () => {
			for (const end of ends) end();
		};
	}

	/** Nothing in its own directory tells that a remote shell has ended: a look at it has to follow. */
	#watchShell({ shell }: Within, changed: (name: string | null) => void): () => void {
		let looking = false;
		const look = async () => {
			if (looking || !this.box || !endsWithShell(this.dir, this.spec)) return;
			looking = true;
			await this.sync().catch(() => {}); // a later look says what is wrong
			looking = false;
		};
		void look();
		return watchDirectory(siblingOf(this.dir, shell), (name) => {
			changed(name);
			void look();
		});
	}

	/** Whoever was to start it may be killed meanwhile, and nobody tells. */
	#untilBegun(): () => void {
		let timer: NodeJS.Timeout | undefined;
		const look = () => {
			if (!mayBeUnderWay(this.dir, this.spec)) return;
			if (starterIsGone(this.spec)) this.sync().catch(() => {}); // a later look says what is wrong
			timer = setTimeout(look, BEGUN_LOOK_MS).unref();
		};
		look();
		return () => clearTimeout(timer);
	}

	/** Wait until it exits, or any condition of `until` holds, or the time is up. Never touches the process. */
	async wait(options: WaitOptions = {}): Promise<WaitResult> {
		const until = parseUntil(options.until);
		checkCount(options.from, "an offset");
		if (options.timeout !== undefined && !(options.timeout >= 0))
			throw new HoldfastError("INVALID", `timeout must be a number of milliseconds from 0 on, not ${options.timeout}`);
		const search = until.pattern === undefined ? undefined : new PatternSearch(until.pattern);
		const stop = new AbortController();
		const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
		const deadline = options.timeout === undefined ? undefined : performance.now() + options.timeout;
		const wakeup = new Wakeup();
		const unwatch = this.watch(wakeup.poke);
		const cursor = new LogCursor(this.dir, options.from ?? 0);
		const begin = Math.max(cursor.offset, this.log.bounds().first);
		let probed: Condition | undefined;
		let hopeless: unknown;
		const probe = (name: Condition, promise: Promise<void>) => {
			promise.then(
				() => {
					probed ??= name;
					wakeup.poke();
				},
				(error: unknown) => {
					if (signal.aborted) return; // the wait is over
					hopeless = error;
					wakeup.poke();
				},
			);
		};
		const { port, http, status: wanted } = until;
		if (port !== undefined) probe("port", this.#portOpens(port, signal));
		if (http !== undefined) probe("http", this.#httpAnswers(http, wanted, signal));
		try {
			let end = this.log.bounds().end;
			let quietSince = performance.now();
			const result = (matched: Condition | null, status: Status): WaitResult => ({
				matched,
				timedOut: matched === null,
				status,
				offset: matched === "pattern" ? begin + (search?.matchEnd ?? 0) : this.log.bounds().end,
				...(search?.match === undefined ? {} : { match: search.match }),
			});
			for (;;) {
				if (options.signal?.aborted) throw new HoldfastError("ABORTED", "the wait was interrupted; the process goes on", { cause: options.signal.reason });
				const status = this.status();
				const drained = isOver(status) && isDrained(this.dir);
				if (search) {
					for (let slice = cursor.read(); slice.bytes.length > 0; slice = cursor.read()) {
						if (search.push(slice.bytes)) return result("pattern", status);
					}
					if (drained && search.end()) return result("pattern", status);
				}
				if (probed) return result(probed, status);
				if (hopeless !== undefined) throw hopeless;
				const now = performance.now();
				if (isOver(status)) {
					if (drained || now - quietSince > DRAIN_STALL_MS) return result("exit", status);
				}
				let next = deadline;
				if (until.silence !== undefined || isOver(status)) {
					const size = this.log.bounds().end;
					if (size !== end) {
						end = size;
						quietSince = now;
					}
				}
				if (until.silence !== undefined) {
					const quietAt = quietSince + until.silence * 1000;
					if (now >= quietAt) return result("silence", status);
					next = Math.min(next ?? quietAt, quietAt);
				}
				if (deadline !== undefined && now >= deadline) return result(null, status);
				if (isOver(status)) next = now + DRAIN_LOOK_MS;
				await wakeup.next(next === undefined ? undefined : next - now, options.signal);
			}
		} finally {
			stop.abort();
			cursor.close();
			unwatch();
		}
	}

	/** On the network that it is on itself. */
	#portOpens(port: number, signal: AbortSignal): Promise<void> {
		if (this.box) return portOpensThere(this.box, port, signal);
		return this.spec.ownNetwork ? portOpensInside(this.dir, this.spec, port, signal) : portOpens(port, signal);
	}

	#httpAnswers(url: string, status: number | undefined, signal: AbortSignal): Promise<void> {
		if (this.box) return httpAnswersThere(this.box, { url, status }, signal);
		return this.spec.ownNetwork ? httpAnswersInside(this.dir, this.spec, { url, status }, signal) : httpAnswers(url, status, signal);
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
		await this.#control("close");
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
		const wakeup = new Wakeup();
		const unwatch = this.watch(wakeup.poke);
		const deadline = performance.now() + RESIZE_MS;
		try {
			await this.#control(`size ${rows} ${cols}`);
			while (!isSet() && !isOver(this.status()) && performance.now() < deadline) await wakeup.next(deadline - performance.now());
		} finally {
			unwatch();
		}
	}

	/** Ask for the times of its output that are known and not yet in `times`. They come within moments, or there are none. */
	async askForTimes(): Promise<void> {
		await this.#control("times");
	}

	/** One signal: to its process group, on a terminal to the group in the foreground. KILL goes to the command alone; `kill` is for the tree. */
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
		if (delivery === "refused") throw new HoldfastError("HOME", `not allowed to signal ${this.id}: it runs as another user`);
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
		const before = readStatus(this.dir, this.spec);
		if (before.status === "elsewhere")
			throw new HoldfastError("NOT_HERE", `${this.id} runs on another host (${before.host}) or in another container; kill it there`);
		if (!(await this.#canReach())) {
			await this.sync(); // it may not be known yet that it has ended with its container
			return { status: "already_exited", method: this.spec.kill, signalled: [], survivors: [], final: this.status() };
		}
		const result = await whileKilling(this.dir, () => killTree(this.kernel, this.dir, this.spec, { over: isOver(before), ...options }));
		if (result.status === "error") return { ...result, final: this.status() };
		await this.wait({ timeout: 2_000 }); // the keeper writes the end within moments
		if (!isOver(this.status())) await this.sync(); // unless there is no directory for it any more
		const status = this.status();
		// It may have ended by itself before a signal of ours reached anybody.
		return { ...result, status: result.signalled.length === 0 && status.status !== "killed" ? "already_exited" : result.status, final: status };
	}

	/** Processes it has left running after its end. */
	async leftovers(): Promise<number[]> {
		return (await this.#canReach()) ? members(await snapshot(this.kernel), this.dir, this.spec) : [];
	}

	/** There is a kernel to be asked about it. */
	async #canReach(): Promise<boolean> {
		if (!this.box) return sameHost(this.spec.host, hostIdentity());
		return readThere(this.dir)?.lost === undefined && !(await this.box.isOver());
	}

	/** Drop the oldest output up to an offset (whole segments only). A writer paused at its limit goes on. */
	async discard(before: number): Promise<number> {
		const first = this.log.discard(before);
		await this.box?.discard(this.id, first);
		await this.#control("again");
		return first;
	}

	/** Tell the collector something. The leading newline keeps it apart from what dd may be writing. */
	async #control(message: string): Promise<void> {
		if (this.box) return this.box.tell(this.id, message);
		try {
			const fd = fs.openSync(path.join(this.dir, "ctl"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
			await writeFifo(fd, Buffer.from(`\n${message}\n`));
		} catch (error) {
			if (errno(error) !== "ENXIO") throw fromSystem(error, `cannot reach the keeper of ${this.id}`); // ENXIO: it has closed, nothing to tell
		}
	}
}

/** It is over, and all that it printed is here. */
const isSettled = (dir: string, status: Status): boolean => isOver(status) && isDrained(dir) && readThere(dir)?.alive.length === 0;

/** Bytes are counted in whole numbers; NaN would read from nowhere without a word. */
function checkCount(value: number | undefined, what: string): void {
	if (value !== undefined && (!Number.isSafeInteger(value) || value < 0))
		throw new HoldfastError("INVALID", `${what} must be a whole number from 0 on, not ${value}`);
}

function parseUntil(until: Until | undefined): Until {
	const result = checked(untilSchema, until ?? { exit: true });
	if ("problems" in result) throw new HoldfastError("INVALID", `until: ${result.problems}`);
	if (result.data.status !== undefined && result.data.http === undefined) throw new HoldfastError("INVALID", "until: `status` goes with `http`");
	return result.data;
}
