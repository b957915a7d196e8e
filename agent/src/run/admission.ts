/** Whether one more episode may start: so many starts at a time, memory that was declared, and room on the disk. */
import fs from "node:fs";
import os from "node:os";

const ENOUGH_BYTES = 5 * 1024 ** 3;
const ENOUGH_SHARE = 0.1;
const MEMORY_SHARE = 0.8;

export interface AdmissionOptions {
	/** On whose disk there must be room. */
	readonly dir: string;
	readonly starts?: number;
	readonly memory?: number;
	/** How much is free, and of how much. */
	readonly disk?: () => { readonly free: number; readonly size: number };
}

export interface Admitted {
	/** Its first command has run: another may start. Idempotent. */
	started(): void;
	/** It is over. Idempotent; counts as started. */
	over(): void;
}

export class Admission {
	/** Episodes between their start and their first command, at most: shells and containers are born at the speed of the machine. */
	readonly starts: number;
	readonly #memory: number;
	readonly #disk: () => { readonly free: number; readonly size: number };
	readonly #room: () => void;
	#starting = 0;
	#declared = 0;

	/** `room` is called when one more may start. */
	constructor({ dir, starts = 2 * os.cpus().length, memory = os.totalmem() * MEMORY_SHARE, disk = () => diskOf(dir) }: AdmissionOptions, room: () => void) {
		this.starts = starts;
		this.#memory = memory;
		this.#disk = disk;
		this.#room = room;
	}

	/** Why none may start at all, in words; undefined: there is room on the disk. */
	diskProblem(): string | undefined {
		const { free, size } = this.#disk();
		if (free >= ENOUGH_BYTES || free >= size * ENOUGH_SHARE) return undefined;
		return `${gib(free)} of ${gib(size)} are free on the disk of the run, and a start needs 5 GiB or a tenth of it`;
	}

	/** Why an episode of this size can never start; undefined: it can. */
	tooLarge(memory: number): string | undefined {
		if (memory <= this.#memory) return undefined;
		return `it declares ${gib(memory)} of memory, more than the ${gib(this.#memory)} (${MEMORY_SHARE * 100} %) that episodes may use of this machine`;
	}

	/** Undefined: not now. */
	admit(memory: number): Admitted | undefined {
		if (this.#starting >= this.starts) return undefined;
		if (this.#declared + memory > this.#memory) return undefined;
		this.#starting++;
		this.#declared += memory;
		let [starting, there] = [true, true];
		const started = (): void => {
			if (!starting) return;
			starting = false;
			this.#starting--;
			this.#room();
		};
		return {
			started,
			over: () => {
				started();
				if (!there) return;
				there = false;
				this.#declared -= memory;
				this.#room();
			},
		};
	}
}

function diskOf(dir: string): { readonly free: number; readonly size: number } {
	const { bavail, blocks, bsize } = fs.statfsSync(dir);
	return { free: bavail * bsize, size: blocks * bsize };
}

const gib = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(bytes < 10 * 1024 ** 3 ? 2 : 0)} GiB`;
