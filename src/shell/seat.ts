/**
 * Who may use the shell of a task: one command at a time, of whatever runtime. In shells/TASKKEY of the home, `current` is
 * a link to the id of the task's shell, `busy` a link to "PID.START.ID" of the runtime at work and of its command.
 */
import fs from "node:fs";
import path from "node:path";
import { errno } from "../base/errors.js";
import { ensureDir, unlinkIfThere } from "../base/files.js";
import { taskKey } from "../base/ids.js";
import { isAlive, linkOf } from "../base/proc.js";
import { procDir } from "../keeper/layout.js";
import type { Runtime } from "../process/runtime.js";
import { readSpec } from "../process/spec.js";
import { isOver, readStatus } from "../process/status.js";

export class Seat {
	readonly #runtime: Runtime;
	readonly #current: string;
	readonly #busy: string;

	constructor(runtime: Runtime, task: string) {
		const dir = path.join(runtime.home.root, "shells", taskKey(task));
		ensureDir(dir);
		this.#runtime = runtime;
		this.#current = path.join(dir, "current");
		this.#busy = path.join(dir, "busy");
	}

	/** Take it for the command with this id; false while another command has it. */
	take(id: string): boolean {
		const { pid, start } = this.#runtime.self;
		for (;;) {
			try {
				fs.symlinkSync(`${pid}.${start}.${id}`, this.#busy);
				return true;
			} catch (error) {
				if (errno(error) !== "EEXIST") throw error;
			}
			const holder = linkOf(this.#busy);
			if (holder === undefined) continue; // given back this moment
			if (!this.#isStale(holder)) return false;
			// Of all who find it stale one may remove it: the one who can rename exactly this link away.
			const aside = `${this.#busy}.${pid}.${Date.now()}`;
			try {
				fs.renameSync(this.#busy, aside);
			} catch (error) {
				if (errno(error) !== "ENOENT") throw error;
				continue;
			}
			const taken = linkOf(aside);
			unlinkIfThere(aside);
			if (taken !== holder && taken !== undefined) fs.symlinkSync(taken, this.#busy); // somebody was faster, and this was already his
		}
	}

	giveBack(): void {
		unlinkIfThere(this.#busy);
	}

	/** The runtime is gone, and so is its command. */
	#isStale(holder: string): boolean {
		const [pid, start, id] = holder.split(".");
		if (!pid || !start || !id) return true;
		if (isAlive({ pid: Number(pid), start })) return false;
		const dir = procDir(this.#runtime.home, id);
		const spec = readSpec(dir);
		return !spec || isOver(readStatus(dir, spec));
	}

	get current(): string | undefined {
		return linkOf(this.#current);
	}

	set current(id: string) {
		const next = `${this.#current}.${this.#runtime.self.pid}`;
		unlinkIfThere(next);
		fs.symlinkSync(id, next);
		fs.renameSync(next, this.#current);
	}
}
