/**
 * A slot is a log that waits for a foreground command: a process directory with a keeper and no command of its own. One
 * that has served a command which neither printed nor started anything serves the next one too, since nobody can tell;
 * every other command keeps its slot for itself, so that what its background jobs print later stays with it.
 */
import fs from "node:fs";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterwards } from "../base/due.js";
import { errno } from "../base/errors.js";
import { writeAtOnce } from "../base/fifo.js";
import { isSameFile, readStart } from "../base/files.js";
import { childrenOf, type Identity, ProcFile, parseStat, readStat, sendSignal } from "../base/proc.js";
import { Wakeup, watchDirectory, watchFile } from "../base/watch.js";
import type { Held } from "../keeper/keepers.js";
import { BLANK_RECORD, RECORD_BYTES, readLimit, readParts, readState, segmentName, writeRecord } from "../keeper/layout.js";
import { readThere } from "../keeper/there.js";
import type { Box } from "../places/far/box.js";
import type { Placed } from "../places/far/files.js";
import type { Sandbox } from "../places/place.js";
import type { LimitMet } from "../process/limits.js";
import type { Runtime } from "../process/runtime.js";
import type { Spec } from "../process/spec.js";
import { isDrained } from "../process/status.js";

const CLOSE_MS = 1_000; // how long a log may take to close once everybody seems to be gone

const ENDED = "e".charCodeAt(0); // `exit …`; a record of no end is blank
const scratch = Buffer.allocUnsafeSlow(RECORD_BYTES + 4096 + 64); // a path has 4096 bytes at most

export class Slot {
	readonly id: string;
	readonly dir: string;
	readonly #held: Held;
	readonly #unwatch: () => void;
	readonly #first: string;
	readonly #exit: string;
	/** Records that are overwritten in place, kept open: each is needed for every command. */
	readonly #files: { readonly spec: number; readonly exit: number; readonly command: number };
	#open = true;
	#dropped = false;
	#poke: (() => void) | undefined;
	#uses = 0;
	#specBytes = 0;
	#copier: ProcFile | undefined;
	#shared: { readonly sandbox: string; readonly unwatch: () => void } | undefined;
	/** The machine that it is on, if that is not this one. */
	readonly #box: Box | undefined;
	#unfollow: (() => void) | undefined;
	/** The life of that machine in which it was made. */
	readonly life: string | undefined;
	/** Everybody sees it as a process. */
	shown = false;
	/** What the shell has to find there, on another machine. */
	placed: readonly Placed[] = [];

	/** `limited`: it may print only so much, and is to be told when its log is full. */
	constructor(held: Held, { limited, box }: { limited: boolean; box?: Box | undefined }) {
		this.#held = held;
		this.#box = box;
		this.life = box?.life;
		this.id = held.id;
		this.dir = held.dir;
		this.#first = path.join(held.dir, segmentName(0));
		this.#exit = path.join(held.dir, "exit");
		const open = (name: string) => fs.openSync(path.join(held.dir, name), fs.constants.O_RDWR);
		this.#files = { spec: open("spec.json"), exit: open("exit"), command: open("command") };
		const unwatch = [watchFile(this.#exit, () => this.#poke?.())];
		if (limited) unwatch.push(watchFile(path.join(held.dir, "limit"), () => this.#poke?.()));
		this.#unwatch = () => {
			for (const end of unwatch) end();
		};
	}

	/** Let a shell in a sandbox have what it needs of this directory. */
	share(sandbox: Sandbox): void {
		if (this.#shared?.sandbox === sandbox.id && isSameFile(path.join(sandbox.sharedHere, this.id, "exit"), this.#exit)) return; // who is in there can have moved it away
		this.#shared?.unwatch();
		fs.writeFileSync(path.join(this.dir, "workdir"), "", { mode: 0o600 });
		sandbox.share(this.id, this.dir, ["command", "workdir", "exit", "pipe"]);
		// A file that is written through another name changes in another directory.
		const unwatch = watchDirectory(path.join(sandbox.sharedHere, this.id), (name) => {
			if (name === null || name === "exit") this.#poke?.();
		});
		this.#shared = { sandbox: sandbox.id, unwatch };
	}

	/** What the shell is to call the next command here. */
	nextName(): string {
		return `${this.id.slice(5)}.${this.#uses + 1}`;
	}

	get #name(): string {
		return `${this.id.slice(5)}.${this.#uses}`;
	}

	/** Put a command here, for everybody to see. Without its text, if the shell is sent that itself. */
	begin(spec: Spec, command: string | undefined, workdir: string | undefined, poke: () => void): void {
		this.#poke = poke;
		const text = `${JSON.stringify(spec)}\n`;
		const bytes = Buffer.byteLength(text);
		overwrite(this.#files.spec, text + " ".repeat(Math.max(0, this.#specBytes - bytes))); // of an earlier and longer one nothing may be left
		this.#specBytes = Math.max(this.#specBytes, bytes);
		// In this order: should we die in between, it is a command that has ended, or one that was never sent.
		if (this.#uses++ > 0) overwrite(this.#files.exit, BLANK_RECORD);
		if (command !== undefined) overwrite(this.#files.command, `${command}\0`);
		if (workdir !== undefined) fs.writeFileSync(path.join(this.dir, "workdir"), `${workdir}\0`, { mode: 0o600 });
		this.#held.show();
		this.shown = true;
		if (!this.#box) return;
		const place = (name: string, content: string): Placed => ({ id: this.id, name, content });
		this.placed = [place("exit", BLANK_RECORD), place("command", `${command}\0`), ...(workdir === undefined ? [] : [place("workdir", `${workdir}\0`)])];
		const within = { complete: () => !this.#open || this.end() !== undefined, seen: () => this.#poke?.() };
		this.#unfollow ??= this.#box.follow(this.id, { shell: spec.within?.bash, within });
	}

	/** How the shell says the command ended, and the shell's directory after it. */
	end(): { code: number; cwd: string } | undefined {
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

	/** Here, and there: else the next look would bring back what the shell has written. */
	#settle(end: string): void {
		this.#stopFollowing();
		overwrite(this.#files.exit, end);
		this.#box?.put(this.id, "exit", end);
	}

	#stopFollowing(): void {
		this.#unfollow?.();
		this.#unfollow = undefined;
	}

	/** Its log has taken all that it may, and takes no more. */
	isFull(): boolean {
		return readLimit(this.dir)?.name === "output";
	}

	/** A full log takes what is left in the pipe. */
	drainRest(): void {
		this.#tell("ended");
	}

	/** Its keeper ends it then, should nobody else do so: `bash` is who runs it, and what was there before it is spared. */
	endAfter(seconds: number, bash: Identity, older: readonly number[]): void {
		this.#tell(`time ${seconds} ${[bash.pid, bash.start, ...older].join(" ")}`);
	}

	#tell(message: string): void {
		const box = this.#box;
		if (box) {
			void afterwards(() => box.tell(this.id, message)).catch(() => {}); // whoever waits for its log finds that it cannot be reached
			return;
		}
		try {
			writeAtOnce(fs.openSync(path.join(this.dir, "ctl"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK), Buffer.from(`\n${message}\n`));
		} catch (error) {
			if (errno(error) !== "ENXIO") throw error; // its keeper was killed
		}
	}

	/** It is over, and nobody knows how it ended. */
	lose(): void {
		this.#settle(record("lost the shell could not record how it ended"));
	}

	/** Has all that was printed before the end reached the log? Asked after every command, so the copier is kept in view. */
	drained(): boolean {
		if (this.#box) return isDrained(this.dir);
		const stat = parseStat(this.#copier?.read() ?? "");
		if (stat?.comm === "dd" && stat.state === "S") return true;
		if (stat?.state === "T") sendSignal(stat.pid, "SIGCONT"); // something else has stopped it, and only it can bring the rest
		if (stat && stat.state !== "Z" && stat.state !== "X") return false;
		this.#copier?.close();
		this.#copier = undefined;
		const { collector } = readParts(this.dir);
		const dd =
			collector &&
			childrenOf(collector.pid)
				.flatMap(childrenOf)
				.find((pid) => readStat(pid)?.comm === "dd"); // its timer may be there too
		if (dd !== undefined) this.#copier = new ProcFile(`/proc/${dd}/stat`);
		return isDrained(this.dir);
	}

	printed(): boolean {
		try {
			return fs.statSync(this.#first).size > 0;
		} catch {
			return true; // dropped from a ring: there was a lot
		}
	}

	/** After a command that left no trace: ready for another. */
	reset(): boolean {
		this.shown = false;
		this.#poke = undefined;
		return this.#held.hide();
	}

	/** The log is no longer held open for the shell; whoever prints still holds it. */
	letGo(): Promise<void> {
		this.#stop();
		return this.#held.letGo();
	}

	/** Remove it once nobody can print any more. If somebody still can, or has printed more than was `shown`, it stays, as a process that has ended. */
	async remove(runtime: Runtime, spec: Spec, shown: number): Promise<void> {
		const hidden = this.#held.hide();
		if (!this.#box) await turn(); // the answer goes first: what follows wakes its keeper
		const wakeup = new Wakeup();
		const unwatch = this.#watch(wakeup.poke);
		const deadline = Date.now() + CLOSE_MS;
		await this.letGo();
		while (readState(this.dir).kind !== "closed" && Date.now() < deadline) await wakeup.next(deadline - Date.now());
		unwatch();
		const state = readState(this.dir);
		if (state.kind === "closed" && state.bytes <= shown) {
			if (hidden) this.#held.remove();
			else runtime.registry.forget(this.id); // somebody has looked, and noted its end
		} else if (hidden) {
			this.#held.show();
			runtime.registry.process(spec).status(); // notes its end
		}
	}

	/** What it was for is gone, on its machine. */
	isStale(): boolean {
		return this.#dropped || this.life !== this.#box?.life;
	}

	/** One that is gone on its machine. */
	drop(): void {
		this.#dropped = true;
		this.#stop();
		this.#held.remove();
	}

	/** One that was never used. */
	async discard(): Promise<void> {
		const wakeup = new Wakeup();
		const unwatch = this.#watch(wakeup.poke);
		await this.letGo();
		const deadline = Date.now() + (this.#box ? CLOSE_MS : Number.POSITIVE_INFINITY);
		const over = () => readState(this.dir).kind === "closed" || readThere(this.dir)?.lost !== undefined || !fs.existsSync(this.dir);
		while (!over() && Date.now() < deadline) await wakeup.next(100);
		unwatch();
		this.#held.remove();
	}

	#watch(poke: () => void): () => void {
		const ends = [watchDirectory(this.dir, poke), this.#box?.follow(this.id)];
		return () => {
			for (const end of ends) end?.();
		};
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
		this.#copier?.close();
		this.#copier = undefined;
	}
}

const record = (text: string): string => text.padEnd(BLANK_RECORD.length - 1).concat("\n");

function overwrite(fd: number, text: string): void {
	fs.writeSync(fd, text, 0);
}
