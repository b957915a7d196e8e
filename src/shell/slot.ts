/**
 * A slot is a log that waits for a foreground command: a process directory with a keeper and no command of its own. One whose command has ended, and whose
 * pipe no process has open any more, serves the next one: its log goes on, and the file `ranges` says which part was whose. Every other command keeps its
 * slot for itself, so that what its background jobs print later stays with it.
 */
import fs from "node:fs";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { type Identity, isSameFile, type LimitsInForce, readStart, until, watchAll } from "../base/index.js";
import { BLANK_RECORD, type Held, type Range, RECORD_BYTES, readLimit, readState, type Spec, writeRecord } from "../keeper/index.js";
import type { Collector, Machine, Placed, Sandbox } from "../places/index.js";
import { answeredIn, isOver, type LimitMet, Log, type Runtime, readStatus } from "../process/index.js";
import { SlotLife } from "./slot-life.js";

const CLOSE_MS = 1_000; // how long a log may take to close once all writers seem to be gone

const ENDED = "e".charCodeAt(0); // `exit …`; a record of no end is blank
const scratch = Buffer.allocUnsafeSlow(RECORD_BYTES + 4096 + 64); // a path has 4096 bytes at most

export class Slot {
	/** The id of its directory. */
	readonly id: string;
	readonly dir: string;
	readonly life: SlotLife;
	readonly #held: Held;
	readonly #unwatch: () => void;
	readonly #exit: string;
	/** Records that are overwritten in place, kept open: each is needed for every command. */
	readonly #files: { readonly spec: number; readonly exit: number; readonly command: number };
	#open = true;
	#dropped = false;
	#poke: (() => void) | undefined;
	#uses = 0;
	#specBytes = 0;
	#shared: { readonly sandbox: string; readonly unwatch: () => void } | undefined;
	readonly #machine: Machine;
	readonly #collector: Collector;
	#unfollow: (() => void) | undefined;
	/** The life of its machine in which it was made. */
	readonly madeIn: string;
	/** Every program sees it as a process. */
	shown = false;
	/** The command that is in it. */
	#put: { readonly command: string | undefined; readonly workdir: string | undefined } = { command: undefined, workdir: undefined };

	/** `limited`: its output has a limit, and the caller is told when the log is full. */
	constructor(held: Held, { limited, machine }: { limited: boolean; machine: Machine }) {
		this.#held = held;
		this.#machine = machine;
		this.#collector = machine.collector(held.dir);
		this.madeIn = machine.life;
		this.id = held.id;
		this.dir = held.dir;
		fs.writeFileSync(path.join(held.dir, "workdir"), "", { mode: 0o600 }); // now, so that it is no new file later
		this.life = new SlotLife(held.id, held.dir);
		this.#exit = path.join(held.dir, "exit");
		const open = (name: string) => fs.openSync(path.join(held.dir, name), fs.constants.O_RDWR);
		this.#files = { spec: open("spec.json"), exit: open("exit"), command: open("command") };
		const unwatch = [machine.home.watch.file(this.#exit, () => this.#poke?.())];
		if (limited) unwatch.push(machine.home.watch.file(path.join(held.dir, "limit"), () => this.#poke?.()));
		this.#unwatch = () => {
			for (const end of unwatch) end();
		};
	}

	/** Let a shell in a sandbox have what it needs of this directory. */
	share(sandbox: Sandbox): void {
		if (this.#shared?.sandbox === sandbox.id && isSameFile(path.join(sandbox.sharedHere, this.id, "exit"), this.#exit)) return; // a process in the sandbox may have moved it away
		this.#shared?.unwatch();
		sandbox.share(this.id, this.dir, ["command", "workdir", "exit", "pipe"]);
		// A file that is written through another name changes in another directory.
		const unwatch = this.#machine.home.watch.directory(path.join(sandbox.sharedHere, this.id), (name) => {
			if (name === null || name === "exit") this.#poke?.();
		});
		this.#shared = { sandbox: sandbox.id, unwatch };
	}

	/** Returns the shell's name for the next command here. */
	nextName(): string {
		return `${this.id.slice(5)}.${this.#uses + 1}`;
	}

	get #name(): string {
		return `${this.id.slice(5)}.${this.#uses}`;
	}

	/** Puts a command here, visible to every program. Without its text, if the shell is sent that itself. */
	begin(spec: Spec, command: string | undefined, workdir: string | undefined, poke: () => void): void {
		this.#poke = poke;
		this.life.begin();
		const text = `${JSON.stringify(spec)}\n`;
		const bytes = Buffer.byteLength(text);
		overwrite(this.#files.spec, text + " ".repeat(Math.max(0, this.#specBytes - bytes))); // of an earlier and longer one nothing may be left
		this.#specBytes = Math.max(this.#specBytes, bytes);
		// In this order: should we die in between, it is a command that has ended, or one that was never sent.
		if (this.#uses++ > 0) overwrite(this.#files.exit, BLANK_RECORD);
		if (command !== undefined) overwrite(this.#files.command, `${command}\0`);
		if (workdir !== undefined) fs.writeFileSync(path.join(this.dir, "workdir"), `${workdir}\0`, { mode: 0o600 });
		this.#held.show(spec.id);
		this.shown = true;
		this.#put = { command, workdir };
		this.#unfollow ??= this.#machine.processes.follow(this.id, {
			shell: spec.within?.bash,
			within: { complete: () => !this.#open || this.end() !== undefined, seen: () => this.#poke?.() },
		});
	}

	/** Returns the files that the shell has to find, for a machine that they have to be brought to. */
	readonly placed = (): Placed[] => {
		const { command, workdir } = this.#put;
		const files = { exit: BLANK_RECORD, command: `${command}\0`, ...(workdir === undefined ? {} : { workdir: `${workdir}\0` }) };
		return Object.entries(files).map(([name, content]) => ({ id: this.id, name, content }));
	};

	/** Returns the end that the shell has recorded, and the shell's directory after it. */
	end(): { readonly code: number; readonly cwd: string } | undefined {
		if (this.life.end) return this.life.end;
		const end = this.#readEnd();
		if (end) this.life.ended(end);
		return end;
	}

	#readEnd(): { code: number; cwd: string } | undefined {
		const got = fs.readSync(this.#files.exit, scratch, 0, scratch.length, 0);
		if (scratch[0] !== ENDED) return undefined;
		const text = got < scratch.length ? scratch.toString("utf8", 0, got) : readStart(this.#exit, 4 * 1024 * 1024); // $PWD can be longer than any path
		const code = /^exit (\d+) /.exec(text)?.[1];
		const [cwd, name] = text.slice(RECORD_BYTES).split("\0", 2);
		return code === undefined || cwd === undefined || name !== this.#name ? undefined : { code: Number(code), cwd };
	}

	/** The end as it was brought about, whatever the shell made of it. */
	override(code: number, signal?: number, limit?: LimitMet): void {
		if (limit) writeRecord(this.dir, "limit", `${limit.name} ${limit.of}`);
		this.#settle(record(`exit ${code} ${signal ?? "-"}${limit ? " limit" : ""}`));
	}

	/** In the keeper's own directory too: else the next look would bring back what the shell has written. */
	#settle(end: string): void {
		this.#stopFollowing();
		overwrite(this.#files.exit, end);
		this.#machine.files.put(this.id, "exit", end);
	}

	#stopFollowing(): void {
		this.#unfollow?.();
		this.#unfollow = undefined;
	}

	/** The log has reached its limit and takes no more. */
	isFull(): boolean {
		return readLimit(this.dir)?.name === "output";
	}

	/** A full log takes what is left in the pipe. */
	drainRest(): void {
		this.#tell("ended");
	}

	/** Bounds its output, counted from where its own output begins. */
	boundOutput({ output, output_rate }: Pick<LimitsInForce, "output" | "output_rate">): void {
		const { from = 0 } = this.life.place;
		if (from > 0 && output !== undefined) this.#tell(`bound 0 ${from + output} ${output_rate ?? 0}`);
	}

	/** The slot's keeper ends the command then, if its caller has not: `bash` runs it, and processes that were there before it are spared. */
	endAfter(seconds: number, bash: Identity, older: readonly number[]): void {
		this.#tell(`time ${seconds} ${[bash.pid, bash.start, ...older].join(" ")}`);
	}

	#tell(message: string): void {
		void this.#machine.home.deadlines.afterwards(() => this.#machine.processes.tell(this.id, message)).catch(() => {}); // a caller that waits for its log finds that it cannot be reached
	}

	/** Records that the command is over, and that its end is unknown. */
	lose(): void {
		this.#settle(record("lost the shell could not record how it ended"));
	}

	/**
	 * Whether all that was printed before the end is in the log. Without an end: the command ended with its shell. `briefly`: only by what the copier has
	 * recorded, where there is one that counts.
	 */
	drained({ briefly }: { readonly briefly: boolean }): boolean {
		const closer = () => this.#collector.drained();
		if (!this.life.end) return closer();
		return this.life.isDrained(briefly && this.life.counts ? undefined : closer);
	}

	printed(): boolean {
		const bytes = this.life.printedAlone ?? new Log(this.dir, { from: this.life.place.from ?? 0, to: Number.POSITIVE_INFINITY }).bounds().end;
		return bytes > 0;
	}

	/** Makes it ready for another command, after one that the shell never took. Returns false if another program has noted its end meanwhile. */
	reset(): boolean {
		this.shown = false;
		this.#poke = undefined;
		const id = this.life.commandId;
		this.life.unsent();
		return this.#held.hide(id);
	}

	/**
	 * The caller has the answer: see `remove`. Returns what becomes of the slot of a command that ended by itself: it is free for another, full of those that it has
	 * served, or its command's for good.
	 */
	async release(spec: Spec, how: { readonly keep: boolean; readonly traceless: boolean }): Promise<"free" | "full" | "kept"> {
		const { end, printedAlone } = this.life;
		const next = this.life.release(how);
		if (next === "kept") return next;
		if (printedAlone !== undefined && end) this.life.note(rangeOf(spec, { bytes: printedAlone, code: end.code, endedAt: Date.now() }));
		this.shown = false;
		this.#poke = undefined;
		return this.#unlisted(spec, async () => {
			if (await this.#hideAnswered(spec)) return next;
			this.life.leave(); // another program has noted its end meanwhile
			return "kept";
		});
	}

	/** While this works, no list of this program has the command: its caller has the answer, or is about to. */
	async #unlisted<T>({ id }: Spec, work: () => Promise<T>): Promise<T> {
		const answered = answeredIn(this.#machine.home);
		answered.add(id);
		try {
			return await work();
		} finally {
			answered.delete(id);
		}
	}

	/** Over stdio the answer is written in the turn in which the door gets it. */
	async #hideAnswered({ id }: Spec): Promise<boolean> {
		await turn();
		return this.#held.hide(id);
	}

	/** Holds the log open no longer; processes that still print keep it open. */
	letGo(): Promise<void> {
		this.#stop();
		return this.#held.letGo();
	}

	/**
	 * Removes it once the caller has the answer and no process can print any more. A program that is killed before leaves it to the next one, as a process that
	 * has ended. So does this one if a process can still print, or has printed more than was `shown`.
	 */
	remove(runtime: Runtime, spec: Spec, shown: number): Promise<void> {
		return this.#unlisted(spec, () => this.#remove(runtime, spec, shown));
	}

	async #remove(runtime: Runtime, spec: Spec, shown: number): Promise<void> {
		const going = this.#held.early ? this.letGo() : undefined;
		const hidden = await this.#hideAnswered(spec);
		await this.#closes(going ?? this.letGo(), () => readState(this.dir).kind === "closed");
		const state = readState(this.dir);
		if (state.kind === "closed" && state.bytes <= shown + (spec.within?.from ?? 0)) this.#retire(runtime, spec, { bytes: shown, hidden });
		else if (hidden) {
			this.#held.show(spec.id);
			runtime.registry.process(spec).status(); // notes its end
		}
	}

	/** Into the transcript, with those that it has served before. */
	#retire(runtime: Runtime, spec: Spec, { bytes, hidden }: { readonly bytes: number; readonly hidden: boolean }): void {
		const status = readStatus(this.dir, spec);
		if (!isOver(status)) {
			if (hidden) this.#held.remove();
			else runtime.registry.forget(spec.id); // another program has noted its end
			return;
		}
		const code = "exitCode" in status ? status.exitCode : null;
		const endedAt = "endedAt" in status ? Math.trunc(status.endedAt) : Date.now();
		const how = status.status === "exited" || status.status === "killed" ? status.status : "lost";
		this.life.note({ ...rangeOf(spec, { bytes, code, endedAt }), ...(how === "exited" ? {} : { status: how }) });
		if (hidden) this.#held.retire();
		else runtime.registry.retire(spec.id);
	}

	/** Its machine was restarted or replaced, so its keeper is gone. */
	isStale(): boolean {
		return this.#dropped || this.madeIn !== this.#machine.life;
	}

	/** The slot's keeper has not been killed meanwhile: a shell would wait for ever to open a pipe without a reader. */
	serves(): boolean {
		return this.#collector.serves();
	}

	/** Returns whether all that its command has printed is in the log, or will be. */
	collects(): boolean {
		return this.#collector.collects();
	}

	/** Removes a slot that is gone on its machine. */
	drop(): void {
		this.#dropped = true;
		this.#stop();
		this.#held.remove();
	}

	/** Removes a slot that serves no more commands. Those it has served stay in the transcript. */
	async discard(): Promise<void> {
		await this.#closes(this.letGo(), () => this.#collector.isOver(), 100); // a collector that was killed says nothing
		if (this.life.served) this.#held.retire();
		else this.#held.remove();
	}

	/** Waits, for a bounded time, until it is let go and its log is closed. A program that is about to end stays for that: the watch keeps it, the keeper does not. */
	async #closes(going: Promise<void>, isClosed: () => boolean, every?: number): Promise<void> {
		const watch = watchAll(
			(poke) => this.#machine.home.watch.directory(this.dir, poke),
			() => this.#machine.processes.follow(this.id),
		);
		const unwatch = watch(() => {});
		try {
			await going;
			await until(watch, () => isClosed() || undefined, { deadline: performance.now() + CLOSE_MS, ...(every === undefined ? {} : { every }) });
		} finally {
			unwatch();
		}
	}

	#stop(): void {
		if (!this.#open) return;
		this.#stopFollowing();
		this.#open = false;
		for (const fd of Object.values(this.#files)) fs.closeSync(fd);
		this.#unwatch();
		this.#shared?.unwatch();
		this.#shared = undefined;
		this.#poke = undefined;
		this.#collector.close();
		this.life.close();
	}
}

/** A command that has ended, as the transcript has it. */
function rangeOf(
	{ id, task, call, command, cwd, within, startedAt }: Spec,
	end: { readonly bytes: number; readonly code: number | null; readonly endedAt: number },
): Range {
	const from = within?.from ?? 0;
	return { id, task, ...(call === undefined ? {} : { call }), command, cwd, from, to: from + end.bytes, code: end.code, startedAt, endedAt: end.endedAt };
}

const record = (text: string): string => text.padEnd(BLANK_RECORD.length - 1).concat("\n");

function overwrite(fd: number, text: string): void {
	fs.writeSync(fd, text, 0);
}
