/**
 * The lock of a task's shell: one command at a time uses it, of any runtime. In shells/TASKKEY of the home there is one
 * empty file, `free` or `busy.PID.START.ID.HOST` with the runtime at work and its command: renaming it is taking the seat. The
 * link `current` names the task's shell.
 */
import { randomInt } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ensureDir, errno, here, type Identity, isProgramGone, linkOf, namesIn, removeDir, taskKey, unlinkIfThere } from "../base/index.js";
import { keyOfPlace, procDir, readSpec, type Spec } from "../keeper/index.js";
import { isOver, type Runtime, readStatus } from "../process/index.js";

/** A command of another pid namespace whose runtime has gone may run on. */
const ELSEWHERE_MS = 24 * 3_600_000;

/** A task has a shell in each place that it is used with. */
const seatOf = (runtime: Runtime, task: string, key: string): string =>
	path.join(runtime.home.root, "shells", key === "local" ? taskKey(task) : `${taskKey(task)}.${key}`);

/** The keys of the places in which a task has, or had, a shell. */
export function seatsOf(runtime: Runtime, task: string): string[] {
	const key = taskKey(task);
	return namesIn(path.join(runtime.home.root, "shells")).flatMap((name) => {
		const [whose, ...place] = name.split(".");
		if (whose !== key || /^\d+$/.test(place.at(-1) ?? "")) return []; // of another task; or just being made
		return [place.length === 0 ? "local" : place.join(".")];
	});
}

/** The id of a task's shell. */
export const currentOf = (runtime: Runtime, spec: Pick<Spec, "task" | "place" | "box">): string | undefined =>
	Seat.of(runtime, spec.task, keyOfPlace(spec)).current;

/** The target of `current` when the task was ended after its last command. */
const ENDED = "ended";

export class Seat {
	readonly #runtime: Runtime;
	readonly #dir: string;
	readonly #free: string;
	readonly #current: string;
	#mine = "";

	constructor(runtime: Runtime, dir: string) {
		this.#runtime = runtime;
		this.#dir = dir;
		this.#free = path.join(this.#dir, "free");
		this.#current = path.join(this.#dir, "current");
	}

	static of(runtime: Runtime, task: string, key = runtime.placeKey(task)): Seat {
		return new Seat(runtime, seatOf(runtime, task, key));
	}

	/** The directory comes into being with its one file in it, so there are never two. It may exist and be empty: another program is just removing it. */
	#make(): void {
		const made = `${this.#dir}.${randomInt(2 ** 40)}`;
		ensureDir(made);
		fs.writeFileSync(path.join(made, "free"), "", { mode: 0o600 });
		try {
			fs.renameSync(made, this.#dir);
		} catch (error) {
			if (errno(error) !== "ENOTEMPTY" && errno(error) !== "EEXIST") throw error;
			removeDir(made); // another was faster
		}
	}

	/** Take it for the command with this id; false while another command has it. */
	take(id: string): boolean {
		const mine = this.#busy(this.#runtime.self, id);
		for (let from = this.#free; ; ) {
			try {
				fs.renameSync(from, mine);
				this.#mine = mine;
				return true;
			} catch (error) {
				if (errno(error) !== "ENOENT") throw error;
			}
			const holder = namesIn(this.#dir).find((name) => name.startsWith("busy."));
			if (holder !== undefined && !this.#isStale(holder)) return false;
			if (holder === undefined) this.#make(); // it is the first; or it was forgotten, for want of use (seats.ts)
			from = holder === undefined ? this.#free : path.join(this.#dir, holder);
		}
	}

	/** Passes the seat on to the command with this id, of the same runtime. */
	passOn(id: string): void {
		const mine = this.#busy(this.#runtime.self, id);
		fs.renameSync(this.#mine, mine);
		this.#mine = mine;
	}

	giveBack(): void {
		fs.renameSync(this.#mine, this.#free);
	}

	/** Leaves the seat to the command: when that has ended, any program may take it. */
	leaveTo(id: string): void {
		fs.renameSync(this.#mine, this.#busy({ pid: 0, start: "0" }, id));
	}

	#busy({ pid, start }: Identity, id: string): string {
		return path.join(this.#dir, `busy.${pid}.${start}.${id}.${here()}`);
	}

	/** The runtime is gone, and so is its command. One of another pid namespace or host cannot be looked at: silence decides. */
	#isStale(holder: string): boolean {
		const { home } = this.#runtime;
		const [pid, start, id, host] = holder.slice("busy.".length).split(".");
		if (!pid || !start || !id) return true;
		const who = host === undefined ? `${pid}.${start}` : `${host}.${pid}.${start}`;
		if (!isProgramGone(home, who, path.join(this.#dir, holder))) return false;
		const dir = procDir(home, id);
		const spec = readSpec(dir);
		const status = spec?.id === id ? readStatus(dir, spec) : undefined; // else its slot has gone on, so it has ended
		return !status || isOver(status) || (status.status === "elsewhere" && isProgramGone(home, who, path.join(this.#dir, holder), ELSEWHERE_MS));
	}

	/** Removes the seat with all that is in it. The next use makes a new one. */
	forget(): void {
		for (const name of namesIn(this.#dir)) if (name.startsWith("current")) unlinkIfThere(path.join(this.#dir, name));
		unlinkIfThere(this.#mine);
		try {
			fs.rmdirSync(this.#dir);
		} catch {
			// another program has made a new one meanwhile
		}
	}

	get current(): string | undefined {
		const id = linkOf(this.#current);
		return id === ENDED ? undefined : id;
	}

	/** The task had a shell, and was ended. */
	get wasEnded(): boolean {
		return linkOf(this.#current) === ENDED;
	}

	/** The next one begins anew, without the state of the last. */
	clear(): void {
		if (this.current !== undefined) this.#link(ENDED);
	}

	set current(id: string) {
		this.#link(id);
	}

	#link(id: string): void {
		const next = `${this.#current}.${randomInt(2 ** 40)}`;
		unlinkIfThere(next);
		fs.symlinkSync(id, next);
		fs.renameSync(next, this.#current);
	}
}
