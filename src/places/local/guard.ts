/**
 * The end of a process is an event, because its keeper records it. If the keeper itself was killed, no event comes. So a
 * waiting caller is woken when the keeper is gone, and again until the end has been noticed. One listing of /proc serves all callers of a machine.
 */
import fs from "node:fs";
import { type Identity, isAlive } from "../../base/index.js";
import { readParts, type Spec, witnessOf } from "../../keeper/index.js";

const LOOK_MS = 15_000;
const LOOK_LOST_MS = 100;

interface Guarded {
	readonly dir: string;
	readonly spec: Spec;
	readonly poke: () => void;
	witness: Identity | undefined;
	lost: boolean;
}

export class Guards {
	readonly #guarded = new Set<Guarded>();
	#timer: NodeJS.Timeout | undefined;

	/** Calls `poke` when the witness of a process is gone. Returns a function that stops this. */
	add(dir: string, spec: Spec, poke: () => void): () => void {
		const entry: Guarded = { dir, spec, poke, witness: undefined, lost: false };
		entry.lost = witnessIsGone(entry);
		this.#guarded.add(entry);
		if (entry.lost || !this.#timer) this.#arm();
		return () => {
			this.#guarded.delete(entry);
			if (this.#guarded.size > 0) return;
			clearTimeout(this.#timer);
			this.#timer = undefined;
		};
	}

	#arm(): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#look(), [...this.#guarded].some((entry) => entry.lost) ? LOOK_LOST_MS : LOOK_MS);
	}

	#look(): void {
		const there = new Set(fs.readdirSync("/proc"));
		for (const entry of this.#guarded) {
			// A reused pid passes this check; the start time is compared when the pid is gone or no witness is known yet.
			if (!entry.witness || !there.has(String(entry.witness.pid))) entry.lost = witnessIsGone(entry);
			if (entry.lost) entry.poke();
		}
		this.#arm();
	}
}

function witnessIsGone(entry: Guarded): boolean {
	entry.witness ??= witnessOf(readParts(entry.dir), entry.spec);
	return entry.witness !== undefined && !isAlive(entry.witness);
}
