/** One kept bash that runs commands. How it takes them is told in rc.bash. */
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errno, HoldfastError } from "../base/errors.js";
import { statIfThere } from "../base/files.js";
import type { Identity } from "../base/proc.js";
import { utf8 } from "../base/text.js";
import { watchDirectory } from "../base/watch.js";
import { readParts, segmentName } from "../keeper/layout.js";
import { readThere } from "../keeper/there.js";
import type { Placed } from "../places/far/files.js";
import { guard } from "../process/guard.js";
import { LimitCounts } from "../process/limits.js";
import type { Process } from "../process/process.js";
import { isDrained, isOver } from "../process/status.js";
import { directoryOf } from "./directory.js";
import { FarLine, type Line, NearLine } from "./line.js";
import { Post } from "./post.js";
import { readState, type ShellState, SNAPSHOTS } from "./state.js";

const GO = `\\builtin mapfile -d '' -n 1 __hf_v <"$__hf_d/go";\\builtin cd -- "$__hf_v"\n`;
const TAKE = 'if [[ ${PROMPT_COMMAND@a} = *r* ]];then \\builtin eval "$__hf_p";else PROMPT_COMMAND=$__hf_p;fi';
const WORDS_BYTES = 64 * 1024;
const DRAIN_MS = 1_000;

interface How {
	/** It has a directory for itself. */
	readonly workdir: boolean;
	/** It cannot change the shell. */
	readonly plain: boolean;
	/** To be sent itself, for it is plain; else it is in the slot. */
	readonly text: string | undefined;
}

export class Bash {
	readonly process: Process;
	readonly bash: Identity;
	readonly keeper: Identity;
	/** Where it keeps its state. */
	readonly state: string;
	/** Its directory when it last ended a command. */
	cwd: string;
	/** The last command that this runtime has sent it. */
	last = "";
	/** It has been told to end after the command it runs. */
	left = false;
	/** Nobody here waits for its command any longer; it goes on with it, and another runtime may use it afterwards. */
	abandoned = false;
	/** What the kernel has done to its commands for the sake of a limit. */
	readonly counts: LimitCounts;
	readonly line: Line;
	readonly post: Post;
	readonly #unwatch: () => void;
	#poke: (() => void) | undefined;
	#changed = false;
	/** Its keeper has written, which he does when it has ended. A subshell in the background that came from it can have its line open still: then writing there does not fail. */
	#ended = false;
	#closed = false;
	#reaped = "";
	#known: ShellState | undefined;

	/** One that another runtime, or this one before, has left behind; undefined if it is not to be used any more. */
	static async attach(process: Process): Promise<Bash | undefined> {
		const state = path.join(process.dir, "shell");
		const unknown = await process.sync();
		if (unknown !== undefined) throw new HoldfastError("UNREACHABLE", unknown);
		const status = process.status();
		if (status.status === "elsewhere") return undefined; // of another pid namespace or host: it cannot be looked after from here
		if (isOver(status) || fs.existsSync(path.join(state, "left")) || process.pid === null) return undefined;
		try {
			return new Bash(process, await directoryOfShell(process, process.pid));
		} catch (error) {
			if (errno(error) === "ENXIO" || errno(error) === "ENOENT") return undefined; // it is just ending
			throw error;
		}
	}

	/** `cwd`: where it is. */
	constructor(process: Process, cwd: string) {
		const { child: outside, command, entered, keeper } = readParts(process.dir);
		const child = entered ? command : outside;
		if (!child || !keeper) throw new HoldfastError("START_FAILED", "the shell's keeper has left no record of it");
		this.process = process;
		this.bash = child;
		this.keeper = keeper;
		this.cwd = cwd;
		this.state = path.join(process.dir, "shell");
		const changed = () => {
			this.#changed = true;
			this.#poke?.();
		};
		this.line = process.box ? new FarLine(process, process.box, child, changed) : new NearLine(process, child);
		this.counts = new LimitCounts(process.spec.limits);
		const unwatch = watchDirectory(process.dir, (name) => {
			if (name === "exit") this.#ended = true;
			if (name === null || name === "exit" || name === "stuck" || name === "there" || name.startsWith("out.")) changed(); // it seldom has words of its own
		});
		const unguard = process.box ? () => {} : guard(process.dir, process.spec, changed);
		this.post = new Post(process, changed);
		this.#unwatch = () => {
			unwatch();
			unguard();
		};
	}

	/** Have it run the command in a slot. One write, smaller than a pipe takes in one piece: all of it arrives, or nothing. */
	send(name: string, how: How & { placed: readonly Placed[]; life?: string | undefined }, poke: () => void): boolean {
		this.#poke = poke;
		if (this.#changed) this.post.clearStuck(); // of a command before, whose end was recorded after all
		this.#changed = this.#ended;
		this.last = name;
		const rest = `\\__hf_post ${name}\n[[ $__hf_e != ${name} ]]&&{ POSIXLY_CORRECT=;\\. "$__hf_x" ${name};} 2>|"$__hf_y"\n`;
		const from = { pid: this.bash.pid, cwd: this.cwd, go: GO };
		return this.line.write(`${this.#first(name, how)}\n${rest}`, { name, placed: how.placed, from, ...(how.life === undefined ? {} : { life: how.life }) });
	}

	/** See rc.bash. */
	#first(name: string, { workdir, plain, text }: How): string {
		if (text === undefined) return `${workdir ? "__hf_w=1 " : ""}${plain ? "__hf_z=plain " : ""}__hf_n=${name};${TAKE}`;
		const [digits] = name.split(".");
		const dir = `${this.process.spec.sandbox ? "" : `${name.charAt(0)}/`}proc_${digits}`;
		return `__hf_n=${name} __hf_s=$__hf_g/${dir};\\__hf_begins '${text}'&&{ ${text} </dev/null >>"$__hf_s/pipe" 2>&1;\\__hf_ends "$?";}`;
	}

	/** It has ended with its machine, or its files there are gone: nobody can look up what it did. */
	vanished(): boolean {
		return this.far && readThere(this.process.dir)?.lost !== undefined;
	}

	/** It is on another machine. */
	get far(): boolean {
		return this.process.box !== undefined;
	}

	/** Go to another directory for good, before the next command. False if it has ended. */
	moveTo(dir: string): boolean {
		const content = `${dir}\0`;
		fs.writeFileSync(path.join(this.state, "go"), content, { mode: 0o600 });
		const placed = [{ id: this.process.id, name: "shell/go", content }];
		if (!this.line.write(GO, { name: `go.${randomUUID()}`, placed })) return false;
		this.cwd = dir;
		return true;
	}

	/** End it, once it has run what it runs now. What it has started goes on. */
	leave(): void {
		this.left = true;
		try {
			fs.writeFileSync(path.join(this.state, "left"), "", { mode: 0o600 });
			this.line.write("\\builtin trap - EXIT;\\builtin exit\n", { name: "leave", placed: [], farewell: true });
		} catch {
			// it has ended already
		}
		this.close();
	}

	/** Without it nobody can tell it anything ever again: its directory elsewhere was removed, which does not end it. */
	async hasLine(): Promise<boolean> {
		const { box, id } = this.process;
		return !box || (await box.kernel.inodes([`${box.directoryOf(id)}/in`]))[0] !== undefined;
	}

	/** Itself alone, by force: what it has in the background goes on. */
	async end(): Promise<void> {
		this.left = true;
		fs.writeFileSync(path.join(this.state, "left"), "", { mode: 0o600 });
		this.close();
		await this.process.signal("SIGKILL").catch((error) => {
			if (!(error instanceof HoldfastError) || error.code !== "ENDED") throw error;
		});
	}

	abandon(): void {
		this.abandoned = true;
		this.#poke?.();
	}

	/** Something about the shell itself has changed since this was last asked: it ended, or could not record an end. */
	takeChange(): boolean {
		const changed = this.#changed;
		this.#changed = false;
		return changed;
	}

	/** What it sees under a path, as it can be looked at from here. */
	readonly at = (file: string): string => (this.process.spec.sandbox ? `/proc/${this.bash.pid}/root${file}` : file);

	isOver(): boolean {
		return isOver(this.process.status());
	}

	/** True unless the shell has reaped a child since this was last asked. */
	reapedNothing(): boolean {
		const mark = this.line.reaped();
		const same = mark === this.#reaped;
		this.#reaped = mark;
		return same;
	}

	/** How much the shell itself has printed, outside of any command. */
	offset(): number {
		return statIfThere(path.join(this.process.dir, segmentName(0)))?.size ?? this.process.log.bounds().end;
	}

	/** What it has printed itself since then, once that is in its log. */
	async words(offset: number): Promise<string> {
		const giveUp = performance.now() + DRAIN_MS;
		while (!isDrained(this.process.dir) && performance.now() < giveUp) await new Promise((resolve) => setImmediate(resolve));
		return utf8(this.process.read(offset, WORDS_BYTES).bytes);
	}

	/** The command that it took last. */
	begun(): { name: string; plain: boolean } {
		const [name = "", plain] = this.line.begun().trimEnd().split(" ");
		return { name, plain: plain === "plain" };
	}

	/** Another runtime has used it since: where it is has to be looked up. */
	wasUsed(): boolean {
		return !this.far && this.last !== "" && this.begun().name !== this.last;
	}

	/** Of one on another machine: see how it is now, and how the command in a slot is. */
	async refresh(slot: string): Promise<void> {
		const { box, id } = this.process;
		if (box) await Promise.all([box.sync(id), box.sync(slot, { shell: this.bash })]);
	}

	/** Of one on another machine: have its state here as it is there. */
	async fetchState(): Promise<void> {
		const { box, id } = this.process;
		if (box) await Promise.all([...SNAPSHOTS.map((name) => box.fetch(id, `shell/${name}`)), box.sync(id)]);
	}

	/** Its state after the last command; undefined while it is still being written. */
	settled(): ShellState | undefined {
		const { name, plain } = this.begun();
		if (name === this.last && plain && this.#known) return this.#known;
		const state = readState(this.state);
		this.#known = state && (plain || state.command === name) ? state : undefined;
		return this.#known;
	}

	/** Stop looking at it; it goes on. */
	close(): void {
		if (this.#closed) return;
		this.#closed = true;
		this.line.close();
		this.post.close();
		this.counts.close();
		this.#unwatch();
		this.#poke = undefined;
	}
}

/** Where a shell is that waits for commands. */
export async function directoryOfShell({ spec, box, dir }: Process, pid: number): Promise<string> {
	if (spec.sandbox) return readState(path.join(dir, "shell"))?.exported.PWD ?? spec.cwd;
	if (!box) return directoryOf(pid);
	const [cwd] = await box.kernel.links([`/proc/${pid}/cwd`]);
	return cwd?.replace(/ \(deleted\)$/, "") ?? spec.cwd;
}
