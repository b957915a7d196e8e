/** A kept bash that runs commands. rc.bash tells how it reads them. */
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errno, HoldfastError, type Identity, statIfThere, utf8 } from "../base/index.js";
import { readParts, segmentName } from "../keeper/index.js";
import { isDrained, type Placed, type ShellLine } from "../places/index.js";
import { isOver, LimitCounts, type Process } from "../process/index.js";
import { Post } from "./post.js";
import { readState, type ShellState, STATE_FILES } from "./state.js";

const GO = `\\builtin mapfile -d '' -n 1 __hf_v <"$__hf_d/go";\\builtin cd -- "$__hf_v"\n`;
const TAKE = 'if [[ ${PROMPT_COMMAND@a} = *r* ]];then \\builtin eval "$__hf_p";else PROMPT_COMMAND=$__hf_p;fi';
const WORDS_BYTES = 64 * 1024;
const DRAIN_MS = 1_000;

interface How {
	/** The id of the command. */
	readonly id: string;
	/** The command runs in another directory than the shell. */
	readonly workdir: boolean;
	/** The command cannot change the shell. */
	readonly plain: boolean;
	/** To be sent itself, for it is plain; else it is in the slot. */
	readonly text: string | undefined;
}

export class Bash {
	readonly process: Process;
	readonly bash: Identity;
	readonly keeper: Identity;
	/** The directory of its state. */
	readonly state: string;
	/** The shell's directory when it last ended a command. */
	cwd: string;
	/** The last command that this runtime has sent it. */
	last = "";
	/** The shell has been told to end after the command it runs. */
	left = false;
	/** This program no longer waits for the shell's command; the command goes on, and another runtime may use the shell afterwards. */
	abandoned = false;
	/** Counts how often the kernel stopped its commands because of a limit. */
	readonly counts: LimitCounts;
	readonly line: ShellLine;
	readonly post: Post;
	readonly #unwatch: () => void;
	#poke: (() => void) | undefined;
	#changed = false;
	/** The keeper has written, which it does when the shell has ended. A background subshell can still have the shell's line open: then writing to it does not fail. */
	#ended = false;
	#closed = false;
	#reaped = "";
	#known: ShellState | undefined;

	/** Attaches to a shell that another runtime, or this one earlier, has left; undefined if it must not be used. */
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
		const { id, dir, spec } = process;
		this.line = process.machine.line({ id, dir, spec, bash: child, at: this.at }, changed);
		this.counts = new LimitCounts(process.spec.limits);
		this.#unwatch = process.machine.home.watch.directory(process.dir, (name) => {
			if (name === "exit") this.#ended = true;
			if (name === null || name === "exit" || name === "stuck" || name === "there" || name.startsWith("out.")) changed(); // it seldom has words of its own
		});
		this.post = new Post(process, changed);
	}

	/** Have it run the command in a slot. One write, smaller than a pipe takes in one piece: all of it arrives, or nothing. */
	send(name: string, how: How & { placed(): readonly Placed[]; life: string }, poke: () => void): boolean {
		this.#poke = poke;
		if (this.post.isStuck()) this.post.clearStuck(); // by a command before, whose end was recorded after all; the watch may tell of it only now
		this.#changed = this.#ended;
		this.last = name;
		const rest = `\\__hf_post ${name}\n[[ $__hf_e != ${name} ]]&&{ POSIXLY_CORRECT=;\\. "$__hf_x" ${name};} 2>|"$__hf_y"\n`;
		const from = { pid: this.bash.pid, cwd: this.cwd, go: GO };
		return this.line.write(`${this.#first(name, how)}\n${rest}`, { name, placed: how.placed, from, life: how.life });
	}

	/** See rc.bash. */
	#first(name: string, { id, workdir, plain, text }: How): string {
		if (text === undefined) return `${workdir ? "__hf_w=1 " : ""}${plain ? "__hf_z=plain " : ""}__hf_k=${id} __hf_n=${name};${TAKE}`;
		const [digits] = name.split(".");
		const dir = `${this.process.spec.sandbox ? "" : `${name.charAt(0)}/`}proc_${digits}`;
		return `__hf_k=${id} __hf_n=${name} __hf_s=$__hf_g/${dir};\\__hf_begins '${text}'&&{ ${text} </dev/null >>"$__hf_s/pipe" 2>&1;\\__hf_ends "$?";}`;
	}

	/** Go to another directory for good, before the next command. False if it has ended. */
	moveTo(dir: string): boolean {
		const content = `${dir}\0`;
		fs.writeFileSync(path.join(this.state, "go"), content, { mode: 0o600 });
		const placed = () => [{ id: this.process.id, name: "shell/go", content }];
		if (!this.line.write(GO, { name: `go.${randomUUID()}`, placed })) return false;
		this.cwd = dir;
		return true;
	}

	/** End it, once it has run what it runs now. What it has started goes on. */
	leave(): void {
		this.left = true;
		try {
			fs.writeFileSync(path.join(this.state, "left"), "", { mode: 0o600 });
			this.line.write("\\builtin trap - EXIT;\\builtin exit\n", { name: "leave", placed: () => [], farewell: true });
		} catch {
			// it has ended already
		}
		this.close();
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

	/** Returns the path by which this program reaches what the shell has under a path. */
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

	/** Returns what the shell itself has printed from an offset on, once its log has all of it. */
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
		return this.last !== "" && this.begun().name !== this.last && !this.line.isUnderWay(this.last);
	}

	/** Has what is known of it, and of the command in a slot, up to date. */
	async refresh(slot: string): Promise<void> {
		const { machine, id } = this.process;
		await Promise.all([machine.processes.look(id), machine.processes.look(slot, this.bash)]);
	}

	/** Has its state in its directory as the shell has written it. */
	async fetchState(): Promise<void> {
		const { machine, id } = this.process;
		await Promise.all([machine.files.fetch(id, STATE_FILES), machine.processes.look(id)]);
	}

	/** Returns the shell's state after the last command; undefined while it is still being written. */
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

/** Returns the current directory of a shell that waits for commands. */
export async function directoryOfShell({ spec, machine, dir }: Process, pid: number): Promise<string> {
	if (spec.sandbox) return readState(path.join(dir, "shell"))?.exported.PWD ?? spec.cwd;
	return (await machine.directoryOf(pid)) ?? spec.cwd;
}
