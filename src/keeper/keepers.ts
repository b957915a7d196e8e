/**
 * Where new processes come from. A *blank* is a prepared directory (blanks.ts); a *warm keeper* is a keeper already standing beside
 * one, its child waiting to go. Both are there to take work off the way from `spawn` to the first byte.
 *
 * A warm keeper belongs to the runtime that holds its `go` open; when that dies, the keeper reads end-of-file and
 * goes away, and the next runtime removes what it left.
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
const LEAVE_MS = 1_000; // a keeper whose pipe no process has open leaves at once

/** A keeper that waits to go. */
interface Keeper {
	readonly id: string;
	readonly dir: string;
	readonly go: number;
	/** The keeper's standard output. The keeper prints nothing: end-of-file says that it has ended. */
	readonly line: Socket;
	readonly gone: Promise<void>;
	/** The task whose cgroups its child is in; undefined: in none. */
	readonly task: string | undefined;
	readonly group: CommandCgroups | undefined;
}

/** What is to run in a keeper: its id and directory, and its control groups. */
export interface Berth {
	readonly id: string;
	readonly dir: string;
	readonly group: CommandCgroups | undefined;
}

/** A keeper without a command of its own: its log takes what other processes print into `pipe`. */
export interface Held {
	readonly id: string;
	readonly dir: string;
	/** From here on every runtime sees it as a process; of a command that is not the first here, under its own id. */
	show(id?: string): void;
	/** Hides it again. Returns false if another program has noted its end meanwhile. */
	hide(id?: string): boolean;
	/** The log is to be let go before the caller is answered: the message takes its time, and the directory may be removed meanwhile. */
	readonly early?: boolean;
	/** Hold the pipe no longer: the log closes when its last writer does. Waits until the keeper has gone, but not for a writer that stays. */
	letGo(): Promise<void>;
	/** Remove a hidden one whose log is closed. */
	remove(): void;
	/** Instead of that: keep what it has served, as a part of the transcript. */
	retire(): void;
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
	readonly #blanks: Blanks;
	#warming: Promise<void> | undefined;
	#warmTimer: NodeJS.Timeout | undefined;
	#closed = false;

	/** Whose commands are next, most likely. */
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

	/** Returns a warm keeper, of that task if there is one; else a new one. Without a task it is for a log, which needs no cgroups. */
	async #take(task: string | undefined): Promise<Keeper> {
		if (this.#warm.length === 0) await this.#warming; // nearly there
		const at = this.#warm.findIndex((keeper) => keeper.task === task);
		const warm = this.#warm.splice(Math.max(0, at), 1)[0];
		if (!warm) return this.#newKeeper(task);
		if (isWhole(warm)) return warm;
		await this.#discard(warm); // the home was removed, and it has no place in what is made anew; or it was killed
		return this.#take(task);
	}

	/** The group that a command was in before its task was known. */
	#leave(group: CommandCgroups | undefined): void {
		if (group) this.cgroups?.remove(group.name);
	}

	/** A log to print to. Ready when this resolves. */
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
				this.#discard(keeper).catch(() => {}); // it reads end-of-file, wherever its directory is now
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
		// The keeper reads the pipe for as long as we hold it. If the keeper was killed, a shell that is about to open the pipe must not wait for a reader for ever, nor its command die of SIGPIPE.
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
			while (!this.#closed && this.#warm.length < this.#warmth) this.#warm.push(await this.#newKeeper(this.#nextTask));
			if (!this.#closed) await this.#blanks.restock();
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

	/** The cgroups are those of `task`: while this one is made, other tasks may start something. */
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

	/** A keeper that is not needed reads end-of-file and ends; then its directory is removed. */
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

/** The keeper's directory is there, and no part of it was killed that would be missed only later. A collector that has not introduced itself is about to. */
function isWhole({ dir, line }: Keeper): boolean {
	if (line.closed || !fs.existsSync(dir)) return false;
	const { collector } = readParts(dir);
	return !collector || isAlive(collector);
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

function openIfThere(fifo: string): number | undefined {
	try {
		return fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
	} catch {
		return undefined; // with its directory, so it cannot be opened any more
	}
}

/** Write a file that was made in advance. */
export function fill(dir: string, name: string, content: string): void {
	fs.writeFileSync(path.join(dir, name), content, { flag: "r+" });
}
