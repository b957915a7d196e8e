/**
 * Starts processes. A *blank* is a prepared directory (blanks.ts); a *warm keeper* is a keeper that already runs beside one, with its child waiting to
 * go. Both shorten the way from `spawn` to the first byte.
 *
 * A warm keeper belongs to the runtime that holds its `go` open. When that runtime dies, the keeper reads end-of-file and exits, and the next runtime
 * removes its directory.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import type { Socket } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fromSystem, HoldfastError, type Home, isAlive, onlyThese, until, watchAll, watchEnd } from "../base/index.js";
import { BEFORE_START, tryAgain } from "./again.js";
import { Blanks } from "./blanks.js";
import type { Cgroups, CommandCgroups } from "./cgroup.js";
import { Claims } from "./claims.js";
import { hasStarted, procDir, readExit, readParts, STARTER_GONE } from "./layout.js";
import { type KeptLimits, type Plan, planFiles } from "./plan.js";
import { retire } from "./ranges.js";
import { findTools, keeperFile, type Tools } from "./tools.js";

const WARM_DELAY_MS = 10;
const LEAVE_MS = 1_000; // a keeper whose pipe no process has open exits at once

/** A keeper that waits to go. */
interface Keeper {
	readonly id: string;
	readonly dir: string;
	readonly go: number;
	/** The keeper's standard output, which stays empty: end-of-file means that the keeper has exited. */
	readonly line: Socket;
	readonly gone: Promise<void>;
	/** The task whose cgroups its child is in; undefined: none. */
	readonly task: string | undefined;
	readonly group: CommandCgroups | undefined;
}

/** The keeper for a new command: its id, directory and cgroups. */
export interface Berth {
	readonly id: string;
	readonly dir: string;
	readonly group: CommandCgroups | undefined;
}

/** A keeper without its own command: other processes print to its log through `pipe`. */
export interface Held {
	readonly id: string;
	readonly dir: string;
	/** Makes it visible to every runtime as a process; a command after the first is shown under its own id. */
	show(id?: string): void;
	/** Hides it again. Returns false if another program has recorded its end meanwhile. */
	hide(id?: string): boolean;
	/** True if the log must be released before the caller is answered: the message takes time, and the directory may be removed meanwhile. */
	readonly early?: boolean;
	/** Releases the pipe: the log closes when its last writer does. Waits until the keeper has exited, but not for a writer that stays. */
	letGo(): Promise<void>;
	/** Removes a hidden one whose log is closed. */
	remove(): void;
	/** Keeps the output of its commands as part of the transcript, instead of removing it. */
	retire(): void;
}

export interface Launch {
	readonly id: string;
	readonly dir: string;
	/** Resolves when the keeper has exited: a start without any effect is then known to have failed. */
	readonly keeperGone: Promise<void>;
	/** Call when the command has been seen to run. */
	started(): void;
}

export class Keepers {
	readonly #home: Home;
	#tools: Tools | undefined;
	readonly cgroups: Cgroups | undefined;
	readonly #warmth: number;
	readonly #claims: Claims;
	readonly #warm: Keeper[] = [];
	readonly #blanks: Blanks;
	#warming: Promise<void> | undefined;
	#warmTimer: NodeJS.Timeout | undefined;
	#closed = false;

	/** The task that probably runs the next command. */
	#nextTask: string;
	readonly #group: (task: string, id: string) => CommandCgroups | undefined;

	constructor(
		home: Home,
		tools: Tools | undefined,
		cgroups: Cgroups | undefined,
		options: { warm: number; task: string; group: (task: string, id: string) => CommandCgroups | undefined },
	) {
		this.#nextTask = options.task;
		this.#group = options.group;
		this.#home = home;
		this.#tools = tools;
		this.cgroups = cgroups;
		this.#warmth = options.warm;
		this.#claims = new Claims(home);
		this.#blanks = new Blanks(home, this.#claims, () => this.tools.mkfifo, cgroups);
	}

	/** Looked up on first use: a program that only reads needs no tools. */
	get tools(): Tools {
		this.#tools ??= findTools();
		return this.#tools;
	}

	/** Starts a process: `prepare` writes the files that must exist before anything runs, and returns the plan. */
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
			keeper.line.destroy(); // from now on its directory holds its state
			this.#leave(moved ? keeper.group : undefined);
		};
		return { id, dir, keeperGone: keeper.gone, started };
	}

	/** Returns a warm keeper, preferably of that task; else a new one. Without a task it is for a log, which needs no cgroups. */
	async #take(task: string | undefined): Promise<Keeper> {
		if (this.#warm.length === 0) await this.#warming; // almost ready
		const at = this.#warm.findIndex((keeper) => keeper.task === task);
		const warm = this.#warm.splice(Math.max(0, at), 1)[0];
		if (!warm) return this.#newKeeper(task);
		if (isWhole(warm)) return warm;
		await this.#discard(warm); // the home was removed, and the keeper has no directory in the new one; or the keeper was killed
		return this.#take(task);
	}

	/** Removes the cgroup that a command was in before its task was known. */
	#leave(group: CommandCgroups | undefined): void {
		if (group) this.cgroups?.remove(group.name);
	}

	/** Returns a log to print to. Resolves when the log is ready. */
	hold(limits: Pick<KeptLimits, "output" | "output_rate"> = {}): Promise<Held> {
		return tryAgain(() => this.#hold(limits));
	}

	async #hold({ output = 0, output_rate = 0 }: Pick<KeptLimits, "output" | "output_rate">): Promise<Held> {
		const keeper = await this.#take(undefined);
		const { id, dir, gone } = keeper;
		fs.writeSync(keeper.go, `hold ${output} ${output_rate}\n`);
		const hasBegun = async (): Promise<true | undefined> => {
			if (hasStarted(dir)) return true;
			if (keeper.line.closed) {
				const end = readExit(dir);
				await this.#discard(keeper);
				const reason = end?.kind === "none" ? end.reason : "its keeper was killed";
				throw new HoldfastError(reason.startsWith("no room") ? "NO_SPACE" : "START_FAILED", `nothing ran: ${reason}`, {
					cause: end?.kind === "none" && reason !== STARTER_GONE ? undefined : BEFORE_START,
				});
			}
			const { collector } = readParts(dir);
			if (collector && !isAlive(collector)) {
				this.#discard(keeper).catch(() => {}); // as below
				throw new HoldfastError("START_FAILED", "nothing ran: the collector of its output was killed", { cause: BEFORE_START });
			}
			if (!fs.existsSync(dir)) {
				this.#discard(keeper).catch(() => {}); // the keeper reads end-of-file, wherever its directory is now
				throw new HoldfastError("START_FAILED", `nothing ran: ${dir} is gone; Holdfast's home was removed or moved`, { cause: BEFORE_START });
			}
		};
		await until(
			watchAll((poke) => this.#home.watch.directory(dir, poke), watchEnd(gone)),
			hasBegun,
			{ every: 1_000 },
		);
		let held = true;
		let reader: number | undefined;
		// The keeper reads the pipe as long as we hold it. If it was killed, a shell that is about to open the pipe must not wait for a reader forever,
		// nor its command die of SIGPIPE.
		void gone.then(() => {
			if (held) reader = openIfThere(path.join(dir, "pipe"));
		});
		return {
			id,
			dir,
			show: (as) => this.#claims.show(id, as),
			hide: (as) => this.#claims.hide(id, as),
			letGo: async () => {
				if (held) fs.closeSync(keeper.go);
				if (held && reader !== undefined) fs.closeSync(reader);
				held = false;
				const left = gone.then(() => this.#leave(keeper.group)); // only the keeper was in it
				return Promise.race([left, sleep(LEAVE_MS, undefined, { ref: false })]);
			},
			remove: () => this.#remove(id, keeper.group),
			retire: () => {
				if (retire(this.#home, id, this.#claims.file(id))) this.#leave(keeper.group);
				else this.#remove(id, keeper.group);
			},
		};
	}

	/** Prepares a keeper for the next start, after the current one. */
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
			while (!this.#closed && this.#warm.length < this.#warmth) this.#warm.push(await this.#newKeeper(this.#nextTask));
			if (!this.#closed) await this.#blanks.restock();
		} catch {
			// only an optimization: the next launch meets the same error and reports it
		}
	}

	/** Resolves when only the started processes of this runtime are left. */
	async close(): Promise<void> {
		this.#closed = true;
		clearTimeout(this.#warmTimer);
		await this.#warming;
		await Promise.all(this.#warm.splice(0).map((keeper) => this.#discard(keeper)));
	}

	/** Starts a keeper in the cgroups of `task`, which is a parameter because other tasks may start something meanwhile. */
	async #newKeeper(task: string | undefined): Promise<Keeper> {
		const id = await this.#blanks.take();
		const dir = procDir(this.#home, id);
		const { sh, dd, rm, sleep, stty, fallocate, df, perl, setsid, subreaper } = this.tools;
		let go: number | undefined;
		let stdin: number | undefined;
		let group: CommandCgroups | undefined;
		try {
			group = task === undefined ? undefined : this.#group(task, id);
			// Both ends of `go` are opened here, so that neither side can miss the other.
			go = fs.openSync(path.join(dir, "go"), fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
			stdin = fs.openSync(path.join(dir, "go"), fs.constants.O_RDONLY);
			// Its arguments contain only paths, and its environment is empty.
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
				perl ?? "",
				keeperFile("copy.pl"),
			];
			if (task !== undefined && !group?.kill && subreaper) argv.unshift(...subreaper);
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

	/** Ends an unneeded keeper by end-of-file, then removes its directory. */
	async #discard(keeper: Keeper): Promise<void> {
		keeper.line.ref();
		fs.closeSync(keeper.go);
		await keeper.gone;
		for (let collector = readParts(keeper.dir).collector; collector && isAlive(collector); ) await sleep(1);
		this.#remove(keeper.id, keeper.group);
	}

	#remove(id: string, group: CommandCgroups | undefined): void {
		this.#claims.remove(id);
		this.#leave(group);
	}
}

/** Returns true if the keeper's directory exists and none of its processes was killed. A collector without a record is about to write one. */
function isWhole({ dir, line }: Keeper): boolean {
	if (line.closed || !fs.existsSync(dir)) return false;
	const { collector } = readParts(dir);
	return !collector || isAlive(collector);
}

/**
 * Starts a keeper as a child of init or of the nearest subreaper, not as ours: some clients kill a server with all its descendants.
 * `detached` makes the child a group leader, so setsid(1) must fork, and the parent exits at once. The keeper's standard output tells when the keeper
 * has exited.
 */
async function startAsOrphan(argv: readonly string[], stdin: number, setsid: string): Promise<Socket> {
	// As pid 1 we would become its parent again, and Node reaps only children that it has started.
	const [program, ...words] = [...(process.pid === 1 ? [] : [setsid]), ...argv];
	const child = spawn(program as string, words, { cwd: "/", env: {}, detached: true, stdio: onlyThese(stdin, "pipe", "ignore") });
	if (child.pid === undefined) await new Promise((_, reject) => child.once("error", reject));
	child.unref();
	const line = child.stdout as Socket;
	line.unref();
	return line.resume();
}

function openIfThere(fifo: string): number | undefined {
	try {
		return fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
	} catch {
		return undefined; // removed with its directory, so no process can open it
	}
}

/** Writes a file that was created in advance. */
export function fill(dir: string, name: string, content: string): void {
	fs.writeFileSync(path.join(dir, name), content, { flag: "r+" });
}
