/**
 * Blanks: process directories prepared in advance, shared by all runtimes of a home. A runtime takes the file blank/ID by renaming it to its own
 * blank/ID.PID.START.HOST; stale claims are removed here.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { errno, fromSystem, HoldfastError, type Home, isAlive, isId, makeHome, namesIn, newId } from "../base/index.js";
import type { Cgroups } from "./cgroup.js";
import { type Claims, desertedBy } from "./claims.js";
import { procDir, readParts } from "./layout.js";
import { retire } from "./ranges.js";

const BATCH = 8; // one mkfifo(1) creates the FIFOs of this many
const MOST_LOST = 800;
const FIFOS = ["in", "pipe", "ctl", "take", "go"];
const EMPTY = ["spec.json", "command", "plan"]; // created in advance, filled at the start

export class Blanks {
	readonly #home: Home;
	readonly #claims: Claims;
	readonly #mkfifo: () => string;
	readonly #cgroups: Cgroups | undefined;
	readonly #ids: string[] = [];
	#making: Promise<void> | undefined;

	/** `mkfifo`: returns the path of the program, called on first use. */
	constructor(home: Home, claims: Claims, mkfifo: () => string, cgroups: Cgroups | undefined) {
		this.#home = home;
		this.#claims = claims;
		this.#mkfifo = mkfifo;
		this.#cgroups = cgroups;
		for (const name of namesIn(home.blank)) {
			if (isId(name)) this.#ids.push(name);
			else this.#sweep(name);
		}
	}

	/** Takes a blank and returns its id. However many of this program wait for one, each gets one; only what other runtimes take is lost. */
	async take(): Promise<string> {
		for (let lost = 0; lost < MOST_LOST; ) {
			for (let id = this.#ids.shift(); id; id = this.#ids.shift()) {
				try {
					fs.renameSync(path.join(this.#home.blank, id), this.#claims.file(id));
					return id;
				} catch (error) {
					if (errno(error) !== "ENOENT") throw fromSystem(error, "cannot take a prepared directory");
					lost++; // another runtime was faster
				}
			}
			await this.#more();
		}
		throw new HoldfastError("START_FAILED", "other runtimes took every prepared directory, again and again; try again when less is being started");
	}

	/** Prepares more if few are left, while no caller waits. */
	async restock(): Promise<void> {
		if (this.#ids.length < BATCH / 2) await this.#more();
	}

	#more(): Promise<void> {
		this.#making ??= this.#make().finally(() => {
			this.#making = undefined;
		});
		return this.#making;
	}

	async #make(): Promise<void> {
		const ids = Array.from({ length: BATCH }, () => {
			for (;;) {
				const id = newId();
				if (!fs.existsSync(procDir(this.#home, id))) return id;
			}
		});
		try {
			makeHome(this.#home); // the home may have been removed
			for (const id of ids) this.#claims.make(id, EMPTY);
			const fifos = ids.flatMap((id) => FIFOS.map((name) => path.join(procDir(this.#home, id), name)));
			await promisify(execFile)(this.#mkfifo(), ["-m", "600", ...fifos], { env: {} });
			for (const id of ids) fs.renameSync(this.#claims.file(id), path.join(this.#home.blank, id));
		} catch (error) {
			for (const id of ids) this.#claims.remove(id);
			throw fromSystem(error, "cannot prepare process directories");
		}
		this.#ids.push(...ids);
	}

	/** Removes a stale claim: its owner died before it used the directory. */
	#sweep(name: string): void {
		const id = desertedBy(this.#home, name);
		if (!id) return;
		try {
			if (fs.existsSync(path.join(procDir(this.#home, id), "box"))) return; // remote: left to a program that can reach its machine
			const { collector } = readParts(procDir(this.#home, id));
			if (collector && isAlive(collector)) return; // a process still prints to it; the next runtime checks again
			const claim = path.join(this.#home.blank, name);
			if (!retire(this.#home, id, claim)) this.#claims.remove(id, claim);
			this.#cgroups?.removeOf(id);
		} catch {
			// its keeper is about to exit; the claim stays, and the next runtime retries
		}
	}
}
