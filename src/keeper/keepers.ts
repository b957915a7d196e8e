/**
 * Where new processes come from. A *blank* is a prepared directory; a *warm keeper* is a keeper already standing beside
 * one, its child waiting to go. Both are there to take work off the way from `spawn` to the first byte.
 *
 * Blanks are shared by all runtimes of a home: the file blank/ID is taken by renaming it to blank/ID.PID.START.HOST of
 * the taker. A warm keeper belongs to the runtime that holds its `go` open; when that dies, the keeper reads end-of-file and
 * goes away, and the next runtime removes what it left.
 */
import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import type { Socket } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { errno, fromSystem, HoldfastError } from "../base/errors.js";
import { namesIn } from "../base/files.js";
import { type Home, openHome } from "../base/home.js";
import { isId, newId } from "../base/ids.js";
import { onlyThese } from "../base/inherited.js";
import { isAlive } from "../base/proc.js";
import { Wakeup, watchDirectory } from "../base/watch.js";
import { BEFORE_START, tryAgain } from "./again.js";
import type { Cgroups, Group } from "./cgroup.js";
import { Claims, desertedBy } from "./claims.js";
import { hasStarted, procDir, readExit, readParts, STARTER_GONE } from "./layout.js";
import { type KeptLimits, type Plan, planFiles } from "./plan.js";
import { findTools, keeperFile, type Tools } from "./tools.js";

const BATCH = 8; // one mkfifo(1) makes the FIFOs of this many blanks
const FIFOS = ["in", "pipe", "ctl", "take", "go"];
const EMPTY = ["spec.json", "command", "plan"]; // made in advance, filled in at the start
const WARM_DELAY_MS = 10;

/** A keeper that waits to go. */
interface Keeper {
	readonly id: string;
	readonly dir: string;
	readonly go: number;
	/** Its standard output, on which it says nothing: end-of-file when it has gone. */
	readonly line: Socket;
	readonly gone: Promise<void>;
	/** The task whose group its child is in. */
	readonly task: string;
	readonly group: Group | undefined;
}

/** What is to run in a keeper: its id and directory, and its control groups. */
export interface Berth {
	readonly id: string;
	readonly dir: string;
	readonly group: Group | undefined;
}

/** A keeper without a command of its own: its log takes what somebody else prints into `pipe`. */
export interface Held {
	readonly id: string;
	readonly dir: string;
	/** From here on every runtime sees it as a process. */
	show(): void;
	/** Back to being nobody's business. False if somebody has noted its end meanwhile. */
	hide(): boolean;
	/** Hold the pipe no longer: the log closes when its last writer does. Done when the keeper itself has gone. */
	letGo(): Promise<void>;
	/** Remove a hidden one whose log is closed. */
	remove(): void;
}

export interface Launch {
	readonly id: string;
	readonly dir: string;
	/** Resolves when the keeper has gone: a start that never got anywhere is then known to have failed. */
	readonly keeperGone: Promise<void>;
	/** To be called when the command has been seen to run. */
	started(): void;
}

export class Keepers {
	readonly #home: Home;
	#tools: Tools | undefined;
	readonly cgroups: Cgroups | undefined;
	readonly #warmth: number;
	readonly #claims: Claims;
	readonly #warm: Keeper[] = [];
	readonly #blanks: string[] = [];
	#making: Promise<void> | undefined;
	#warming: Promise<void> | undefined;
	#warmTimer: NodeJS.Timeout | undefined;
	#closed = false;

	/** Whose commands are next, most likely. */
	#nextTask: string;
	readonly #group: (task: string, id: string) => Group | undefined;

	constructor(
		home: Home,
		tools: Tools | undefined,
		cgroups: Cgroups | undefined,
		options: { warm: number; task: string; group: (task: string, id: string) => Group | undefined },
	) {
		this.#nextTask = options.task;
		this.#group = options.group;
		this.#home = home;
		this.#tools = tools;
		this.cgroups = cgroups;
		this.#warmth = options.warm;
		this.#claims = new Claims(home);
		for (const name of namesIn(home.blank)) {
			if (isId(name)) this.#blanks.push(name);
			else this.#sweep(name);
		}
	}

	/** Looked for when first needed: a program that only reads needs none. */
	get tools(): Tools {
		this.#tools ??= findTools();
		return this.#tools;
	}

	/** Start one: `prepare` writes what must be on disk before anything can run, and says what to run. */
	async launch(task: string, prepare: (berth: Berth) => Plan): Promise<Launch> {
		this.#nextTask = task;
		const keeper = await this.#take(task);
		const { id, dir } = keeper;
		const group = keeper.task === task ? keeper.group : this.#group(task, id);
		const moved = group !== keeper.group;
		try {
			const plan = prepare({ id, dir, group });
			const files = planFiles({ ...plan, ...(moved ? { groups: group?.all ?? "" } : {}) }, this.tools);
			for (const [name, text] of files) fs.writeFileSync(path.join(dir, name), text, { mode: 0o600 });
			this.#claims.show(id);
		} catch (error) {
			await this.#discard(keeper); // nothing has run
			if (moved && group) this.cgroups?.remove(group.name);
			throw fromSystem(error, "cannot start a process");
		}
		fs.writeSync(keeper.go, "go\n");
		fs.closeSync(keeper.go);
		const started = () => {
			keeper.line.destroy(); // from here on its directory tells how it stands
			this.#leave(moved ? keeper.group : undefined);
		};
		return { id, dir, keeperGone: keeper.gone, started };
	}

	/** A warm one, of that task if there is one; else a new one. */
	async #take(task: string): Promise<Keeper> {
		if (this.#warm.length === 0) await this.#warming; // nearly there
		const at = this.#warm.findIndex((keeper) => keeper.task === task);
		const warm = this.#warm.splice(Math.max(0, at), 1)[0];
		if (!warm) return this.#newKeeper();
		if (fs.existsSync(warm.dir)) return warm;
		await this.#discard(warm); // the home was removed, and it has no place in what is made anew
		return this.#take(task);
	}

	/** The group that a command was in before its task was known. */
	#leave(group: Group | undefined): void {
		if (group) this.cgroups?.remove(group.name);
	}

	/** A log to print to. Ready when this resolves. */
	hold(limits: Pick<KeptLimits, "output" | "output_rate"> = {}): Promise<Held> {
		return tryAgain(() => this.#hold(limits));
	}

	async #hold({ output = 0, output_rate = 0 }: Pick<KeptLimits, "output" | "output_rate">): Promise<Held> {
		const keeper = await this.#take("");
		const { id, dir, gone } = keeper;
		const wakeup = new Wakeup();
		const unwatch = watchDirectory(dir, wakeup.poke);
		void gone.then(() => wakeup.poke());
		fs.writeSync(keeper.go, `hold ${output} ${output_rate}\n`);
		try {
			while (!hasStarted(dir)) {
				if (keeper.line.closed) {
					const end = readExit(dir);
					await this.#discard(keeper);
					const reason = end?.kind === "none" ? end.reason : "its keeper was killed";
					throw new HoldfastError(reason.startsWith("no room") ? "NO_SPACE" : "START_FAILED", `nothing ran: ${reason}`, {
						cause: end?.kind === "none" && reason !== STARTER_GONE ? undefined : BEFORE_START,
					});
				}
				if (!fs.existsSync(dir)) {
					this.#discard(keeper).catch(() => {}); // it reads end-of-file, wherever its directory is now
					throw new HoldfastError("START_FAILED", `nothing ran: ${dir} is gone; Holdfast's home was removed or moved`, { cause: BEFORE_START });
				}
				await wakeup.next(1_000);
			}
		} finally {
			unwatch();
		}
		let held = true;
		return {
			id,
			dir,
			show: () => this.#claims.show(id),
			hide: () => this.#claims.hide(id),
			letGo: () => {
				if (held) fs.closeSync(keeper.go);
				held = false;
				return gone.then(() => this.#leave(keeper.group)); // nobody but the keeper was in it
			},
			remove: () => this.#remove(id, keeper.group),
		};
	}

	/** Have a keeper ready for next time, once this start is out of the way. */
	warmUp(): void {
		clearTimeout(this.#warmTimer);
		if (this.#closed || this.#warm.length >= this.#warmth) return;
		this.#warmTimer = setTimeout(() => {
			this.#warming = this.#addWarm().finally(() => {
				this.#warming = undefined;
			});
		}, WARM_DELAY_MS).unref();
	}

	async #addWarm(): Promise<void> {
		try {
			while (!this.#closed && this.#warm.length < this.#warmth) this.#warm.push(await this.#newKeeper());
			if (!this.#closed && this.#blanks.length < BATCH / 2) await this.#moreBlanks();
		} catch {
			// only a convenience: the next launch meets the same obstacle and reports it
		}
	}

	/** Resolves when nothing of this runtime's is left but what it has started. */
	async close(): Promise<void> {
		this.#closed = true;
		clearTimeout(this.#warmTimer);
		await this.#warming;
		await Promise.all(this.#warm.splice(0).map((keeper) => this.#discard(keeper)));
	}

	async #newKeeper(): Promise<Keeper> {
		const id = await this.#takeBlank();
		const dir = procDir(this.#home, id);
		const { sh, dd, rm, sleep, stty, fallocate, df, setsid, subreaper } = this.tools;
		const task = this.#nextTask;
		let go: number | undefined;
		let stdin: number | undefined;
		let group: Group | undefined;
		try {
			group = this.#group(task, id);
			// Both ends of `go` are opened here, so that neither side can miss the other.
			go = fs.openSync(path.join(dir, "go"), fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
			stdin = fs.openSync(path.join(dir, "go"), fs.constants.O_RDONLY);
			// Nothing but paths is in its arguments, and nothing at all in its environment.
			const argv = [
				sh,
				keeperFile("keeper.sh"),
				"keep",
				dir,
				path.join(this.#home.live, id),
				this.cgroups?.keepers ?? "",
				this.cgroups?.escape ? "1" : "",
				group?.all ?? "",
				dd,
				rm,
				sleep,
				stty,
				fallocate ?? "",
				df ?? "",
			];
			if (!group?.kill && subreaper) argv.unshift(...subreaper);
			const line = await startAsOrphan(argv, stdin, setsid);
			const gone = new Promise<void>((resolve) => line.once("close", () => resolve()));
			return { id, dir, go, line, gone, task, group };
		} catch (error) {
			if (go !== undefined) fs.closeSync(go);
			this.#remove(id, group);
			throw fromSystem(error, "cannot start a keeper");
		} finally {
			if (stdin !== undefined) fs.closeSync(stdin);
		}
	}

	async #takeBlank(): Promise<string> {
		for (let round = 0; round < 100; round++) {
			for (let id = this.#blanks.shift(); id; id = this.#blanks.shift()) {
				try {
					fs.renameSync(path.join(this.#home.blank, id), this.#claims.file(id));
					return id;
				} catch (error) {
					if (errno(error) !== "ENOENT") throw fromSystem(error, "cannot take a prepared directory");
					// another runtime was faster
				}
			}
			await this.#moreBlanks();
		}
		throw new HoldfastError("START_FAILED", "other runtimes took every prepared directory, again and again; try again when less is being started");
	}

	#moreBlanks(): Promise<void> {
		this.#making ??= this.#makeBlanks().finally(() => {
			this.#making = undefined;
		});
		return this.#making;
	}

	async #makeBlanks(): Promise<void> {
		const ids = Array.from({ length: BATCH }, newId);
		try {
			openHome(this.#home.root); // it may have been removed
			for (const id of ids) this.#claims.make(id, EMPTY);
			const fifos = ids.flatMap((id) => FIFOS.map((name) => path.join(procDir(this.#home, id), name)));
			await promisify(execFile)(this.tools.mkfifo, ["-m", "600", ...fifos], { env: {} });
			for (const id of ids) fs.renameSync(this.#claims.file(id), path.join(this.#home.blank, id));
		} catch (error) {
			for (const id of ids) this.#remove(id, undefined);
			throw fromSystem(error, "cannot prepare process directories");
		}
		this.#blanks.push(...ids);
	}

	/** A claim whose owner died before it used the directory. */
	#sweep(name: string): void {
		const id = desertedBy(this.#home, name);
		if (!id) return;
		try {
			if (fs.existsSync(path.join(procDir(this.#home, id), "box"))) return; // on another machine: for whoever can reach that
			const { collector } = readParts(procDir(this.#home, id));
			if (collector && isAlive(collector)) return; // somebody still prints there; the next runtime looks again
			this.#claims.remove(id, path.join(this.#home.blank, name));
			this.cgroups?.removeOf(id);
		} catch {
			// its keeper is just ending; the claim stays, and the next runtime tries again
		}
	}

	/** A keeper nobody needs reads end-of-file and ends; then its directory can go. */
	async #discard(keeper: Keeper): Promise<void> {
		keeper.line.ref();
		fs.closeSync(keeper.go);
		await keeper.gone;
		for (let collector = readParts(keeper.dir).collector; collector && isAlive(collector); ) await sleep(1);
		this.#remove(keeper.id, keeper.group);
	}

	#remove(id: string, group: Group | undefined): void {
		this.#claims.remove(id);
		this.#leave(group);
	}
}

/**
 * Starts a keeper that is not our child but that of init, or of the nearest subreaper: some clients end a server with all of its descendants.
 * `detached` makes the child a group leader, so setsid(1) has to fork, and its first half leaves at once. The keeper's standard output tells when it has gone.
 */
async function startAsOrphan(argv: readonly string[], stdin: number, setsid: string): Promise<Socket> {
	// As pid 1 we would get it back, and Node waits for no child that it has not started itself.
	const [program, ...words] = [...(process.pid === 1 ? [] : [setsid]), ...argv];
	const child = spawn(program as string, words, { cwd: "/", env: {}, detached: true, stdio: onlyThese(stdin, "pipe", "ignore") });
	if (child.pid === undefined) await new Promise((_, reject) => child.once("error", reject));
	child.unref();
	const line = child.stdout as Socket;
	line.unref();
	return line.resume();
}

/** Write a file that was made in advance. */
export function fill(dir: string, name: string, content: string): void {
	fs.writeFileSync(path.join(dir, name), content, { flag: "r+" });
}
