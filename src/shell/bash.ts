/** One kept bash that runs commands. How it takes them is told in rc.bash. */
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { errno, HoldfastError } from "../base/errors.js";
import { isSameFile, readStart, statIfThere } from "../base/files.js";
import { ownEnvironment } from "../base/own-secrets.js";
import type { Identity } from "../base/proc.js";
import { utf8 } from "../base/text.js";
import { Wakeup, watchDirectory } from "../base/watch.js";
import { readParts, segmentName } from "../keeper/layout.js";
import { readThere } from "../keeper/there.js";
import type { Placed } from "../places/far/files.js";
import type { Place, Sandbox } from "../places/place.js";
import { guard } from "../process/guard.js";
import { LimitCounts } from "../process/limits.js";
import type { Process } from "../process/process.js";
import type { Runtime } from "../process/runtime.js";
import { describeEnd, isDrained, isOver } from "../process/status.js";
import { directoryOf, enterableParent, existingParent, isSame } from "./directory.js";
import { FarLine, type Line, NearLine } from "./line.js";
import { readState, type ShellState } from "./state.js";

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const BIRTH_MS = 10_000; // for the profile files of whoever it belongs to
const IDLE_SECONDS = 24 * 3600; // a shell that nobody has used for so long ends by itself; its state stays
const RUN = '\\builtin eval "$__hf_c"\n'; // see __hf_p in rc.bash
const GO = `\\builtin mapfile -d '' -n 1 __hf_v <"$__hf_d/go";\\builtin cd -- "$__hf_v"\n`;
const STATE = ["snap.0", "snap.1", "history"];
const LOG_BYTES = 1024 * 1024;
const WORDS_BYTES = 64 * 1024;
const DRAIN_MS = 1_000;

export interface Birth {
	readonly task: string;
	/** Where it starts, or is to go back to. */
	readonly cwd: string;
	/** The state directory of the shell whose state it takes over. */
	readonly from?: string;
	/** Give it up, and leave nothing of it. */
	readonly signal: AbortSignal;
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
	readonly #line: Line;
	readonly #unwatch: () => void;
	/** Where it leaves word that it is stuck. */
	readonly #post: Post;
	#poke: (() => void) | undefined;
	#changed = false;
	#closed = false;
	#reaped = "";
	#known: ShellState | undefined;

	/** A new one. If the profile files hang or end it, one without them; the notes say so. */
	static async start(runtime: Runtime, birth: Birth): Promise<{ bash: Bash; notes: string[] }> {
		const told = () => [runtime.sandboxes?.takeNote(birth.task)].filter((note) => note !== undefined);
		if (birth.from) {
			const bash = await Bash.#born(runtime, birth, false);
			const elsewhere = bash.cwd !== birth.cwd && (bash.far || !isSame(bash.cwd, birth.cwd));
			return {
				bash,
				notes: elsewhere ? [...told(), `the new shell could not go to ${birth.cwd}, which is gone or may not be entered; it is in ${bash.cwd}`] : told(),
			};
		}
		try {
			return { bash: await Bash.#born(runtime, birth, true), notes: told() };
		} catch (error) {
			if (!(error instanceof HoldfastError) || error.code !== "START_FAILED") throw error;
			const bash = await Bash.#born(runtime, birth, false);
			return { bash, notes: [...told(), `the shell's profile files (/etc/profile, ~/.profile and the like) were left out: ${error.message}`] };
		}
	}

	static async #born(runtime: Runtime, birth: Birth, profile: boolean): Promise<Bash> {
		const place = await runtime.place(birth.task);
		const { sandbox, box } = place;
		const there = await box?.ready();
		const { bash } = there?.tools ?? runtime.tools;
		if (!bash)
			throw new HoldfastError(
				"START_FAILED",
				`there is no bash on ${box?.name ?? "this machine"}, and the persistent shell is one; install bash, or start a background process`,
			);
		const scripts = sandbox?.scripts ?? there?.scripts;
		const ours = (name: string) => (scripts === undefined ? script(name) : `${scripts}/shell/${name}`);
		const env: Record<string, string | undefined> = {
			...(birth.from ? Object.fromEntries(Object.keys(there?.environment ?? ownEnvironment()).map((name) => [name, undefined])) : {}), // the state has it all
			POSIXLY_CORRECT: undefined, // with it bash reads no rcfile; ours would unset it
			HF_PROCS: sandbox?.shared ?? (there ? `${there.directory}/procs` : runtime.home.procs),
			HF_SHELVES: sandbox ? "" : "1",
			HF_RESCUE: ours("rescue.bash"),
			HF_FROM:
				birth.from === undefined
					? ""
					: box
						? `${box.directoryOf(path.basename(path.dirname(birth.from)))}/shell`
						: sandbox
							? shareState(sandbox, birth.from)
							: birth.from,
			HF_PROFILE: profile ? "1" : "",
			HF_IDLE: String(IDLE_SECONDS),
			HF_BIN: sandbox || box ? "" : (runtime.bin ?? ""), // nobody becomes anybody else in a sandbox
		};
		const argv = [bash, "--noprofile", "--rcfile", ours("rc.bash"), "--noediting", "-i"];
		const options = { command: argv, cwd: birthplace(birth.cwd, place), task: birth.task, stdin: true, env, log: { limit: LOG_BYTES } };
		const born = await runtime.spawn(options, {
			kind: "shell",
			prepare({ id, dir }) {
				fs.mkdirSync(path.join(dir, "shell"), { mode: 0o700 });
				for (const name of [...STATE, "begun", "ready", "go"]) fs.writeFileSync(path.join(dir, "shell", name), "", { mode: 0o600 });
				fs.writeFileSync(path.join(dir, "shell", "run"), RUN, { mode: 0o600 });
				sandbox?.share(
					id,
					dir,
					[...STATE, "begun", "ready", "go", "run"].map((name) => `shell/${name}`),
				);
			},
		});
		const state = path.join(born.dir, "shell");
		const wakeup = new Wakeup();
		const unwatch = [watchDirectory(path.join(sharedOf(born) ?? born.dir, "shell"), wakeup.poke), born.watch(wakeup.poke)];
		const deadline = performance.now() + BIRTH_MS;
		const who = birth.from ? "taking over the variables and functions of the last shell" : "they"; // the profile files
		const arrived = new AbortController();
		box?.arrival(born.id, "shell/ready", arrived.signal).catch(() => {}); // whoever waits finds out by the time
		try {
			for (;;) {
				const cwd = readTerminated(path.join(state, "ready"));
				if (cwd !== undefined) {
					await born.sync(); // what it has said until now is not about any command
					return new Bash(born, cwd);
				}
				const status = born.status();
				if (isOver(status)) throw new HoldfastError("START_FAILED", `${who} ended the shell (${describeEnd(status)})`);
				if (birth.signal.aborted || performance.now() > deadline) {
					await born.kill({ graceMs: 0 });
					if (birth.signal.aborted) throw new HoldfastError("ABORTED", "nothing ran: the runtime was closed while the shell was starting");
					throw new HoldfastError("START_FAILED", `${who} took more than ${BIRTH_MS / 1000} s`);
				}
				await wakeup.next(deadline - performance.now(), birth.signal);
			}
		} finally {
			arrived.abort();
			for (const stop of unwatch) stop();
		}
	}

	/** One that another runtime, or this one before, has left behind; undefined if it is not to be used any more. */
	static async attach(process: Process): Promise<Bash | undefined> {
		const state = path.join(process.dir, "shell");
		const unknown = await process.sync();
		if (unknown !== undefined) throw new HoldfastError("UNREACHABLE", unknown);
		if (isOver(process.status()) || fs.existsSync(path.join(state, "left")) || process.pid === null) return undefined;
		try {
			return new Bash(process, await directoryOfShell(process, process.pid));
		} catch (error) {
			if (errno(error) === "ENXIO" || errno(error) === "ENOENT") return undefined; // it is just ending
			throw error;
		}
	}

	private constructor(process: Process, cwd: string) {
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
		this.#line = process.box ? new FarLine(process, process.box, child, changed) : new NearLine(process, child);
		this.counts = new LimitCounts(process.spec.limits);
		const unwatch = watchDirectory(process.dir, (name) => {
			if (name === null || name === "exit" || name === "stuck" || name === "there" || name.startsWith("out.")) changed(); // it seldom has words of its own
		});
		const unguard = process.box ? () => {} : guard(process.dir, process.spec, changed);
		this.#post = postOf(process);
		const unwatchShared = this.#post.held ? watchDirectory(this.#post.dir, changed) : undefined; // there is nothing else there
		this.#unwatch = () => {
			unwatch();
			unwatchShared?.();
			this.#post.held?.();
			unguard();
		};
	}

	/** Have it run the command in a slot. One write, smaller than a pipe takes in one piece: all of it arrives, or nothing. */
	send(name: string, how: { workdir: boolean; plain: string | undefined; placed: readonly Placed[]; life?: string | undefined }, poke: () => void): boolean {
		this.#poke = poke;
		this.#changed = false;
		this.last = name;
		return this.#line.write(
			`${how.workdir ? "__hf_w=1 " : ""}${how.plain === undefined ? "" : `__hf_z=plain __hf_k='${how.plain}' `}__hf_n=${name} PROMPT_COMMAND=$__hf_p\n__hf_post ${name}\n[[ $__hf_e != ${name} ]]&&{ POSIXLY_CORRECT=;\\. "$__hf_x" ${name};} 2>|"$__hf_y"\n`,
			{ name, placed: how.placed, from: { pid: this.bash.pid, cwd: this.cwd, go: GO }, ...(how.life === undefined ? {} : { life: how.life }) },
		);
	}

	/** On another machine: where it had to go before it took the last command, since its own directory was gone. */
	moved(): Promise<string | undefined> {
		return this.#line.moved();
	}

	/** What was sent to it could not be delivered: its machine cannot be reached. */
	get failed(): Error | undefined {
		return this.#line.failed;
	}

	/** What was sent to it last has been delivered, or has failed. */
	delivery(): Promise<unknown> {
		return this.#line.delivery();
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
		if (!this.#line.write(GO, { name: `go.${randomUUID()}`, placed })) return false;
		this.cwd = dir;
		return true;
	}

	/** End it, once it has run what it runs now. What it has started goes on. */
	leave(): void {
		this.left = true;
		try {
			fs.writeFileSync(path.join(this.state, "left"), "", { mode: 0o600 });
			this.#line.write("\\builtin trap - EXIT;\\builtin exit\n", { name: "leave", placed: [], farewell: true });
		} catch {
			// it has ended already
		}
		this.close();
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

	isStuck(): boolean {
		try {
			return fs.lstatSync(path.join(this.#post.dir, "stuck"), { throwIfNoEntry: false }) !== undefined;
		} catch {
			return false; // somebody in a sandbox has locked it
		}
	}

	/** What it runs commands with is where it looks for it. In a sandbox anybody can move that away, or put something else in its place. */
	isWhole(): boolean {
		if (this.far) return true; // what is here is a replica
		const { dir } = this.#post;
		const isHeld = isSameFile(sharedOf(this.process) ?? this.process.dir, dir);
		return isHeld && isSameFile(path.join(dir, "shell", "run"), path.join(this.state, "run"));
	}

	/** It has nothing more to read, so whatever it was sent is behind it. */
	isIdle(): boolean {
		return this.#line.isIdle();
	}

	lives(): boolean {
		return this.#line.lives();
	}

	clearStuck(): void {
		try {
			fs.rmSync(path.join(this.#post.dir, "stuck"), { force: true });
			this.process.box?.remove(this.process.id, "stuck");
		} catch {
			// a directory of that name, in a sandbox: it stays stuck, and is replaced
		}
	}

	/** What it sees under a path, as it can be looked at from here. */
	readonly at = (file: string): string => (this.process.spec.sandbox ? `/proc/${this.bash.pid}/root${file}` : file);

	isOver(): boolean {
		return isOver(this.process.status());
	}

	children(): number[] {
		return this.#line.children();
	}

	/** True unless the shell has reaped a child since this was last asked. */
	reapedNothing(): boolean {
		const mark = this.#line.reaped();
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
		const [name = "", plain] = this.#line.begun().trimEnd().split(" ");
		return { name, plain: plain === "plain" };
	}

	/** Of one on another machine: see how it is now, and how the command in a slot is. */
	async refresh(slot: string): Promise<void> {
		const { box, id } = this.process;
		if (box) await Promise.all([box.sync(id), box.sync(slot)]);
	}

	/** Of one on another machine: have its state here as it is there. */
	async fetchState(): Promise<void> {
		const { box, id } = this.process;
		if (box) await Promise.all([...STATE.slice(0, 2).map((name) => box.fetch(id, `shell/${name}`)), box.sync(id)]);
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
		this.#line.close();
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

/** Where what a process in a sandbox shares with us is, out here. */
const sharedOf = ({ id, dir, spec }: Process): string | undefined => spec.sandbox && path.resolve(dir, "../../..", "sandboxes", spec.sandbox, "shared", id);

interface Post {
	readonly dir: string;
	readonly held?: () => void;
}

/** Held open: whoever is in a sandbox can put a link to somewhere out here in its place. */
function postOf(process: Process): Post {
	const shared = sharedOf(process);
	if (shared === undefined) return { dir: process.dir };
	try {
		const fd = fs.openSync(shared, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW);
		return { dir: `/proc/self/fd/${fd}`, held: () => fs.closeSync(fd) };
	} catch {
		return { dir: process.dir }; // he has already, or has removed it: then nobody hears that his shell is stuck
	}
}

/** The state of an earlier shell, perhaps of another sandbox of the task; where it is in there. */
function shareState(sandbox: Sandbox, state: string): string {
	const dir = path.dirname(state);
	const id = path.basename(dir);
	if (!isSameFile(path.join(sandbox.sharedHere, id, "shell", "history"), path.join(state, "history")))
		sandbox.share(
			id,
			dir,
			STATE.map((name) => `shell/${name}`),
		);
	return `${sandbox.shared}/${id}/shell`;
}

/** A runtime may have been started elsewhere than the one that made the sandbox. */
const birthplace = (cwd: string, place: Place): string =>
	place.box ? place.cwd : place.sandbox ? (existingParent(cwd, place.at) === path.resolve(cwd) ? cwd : place.cwd) : enterableParent(cwd);

function readTerminated(file: string): string | undefined {
	try {
		const text = readStart(file, 64 * 1024);
		return text.endsWith("\0") ? text.slice(0, -1) : undefined;
	} catch (error) {
		if (errno(error) === "ENOENT") return undefined;
		throw error;
	}
}
