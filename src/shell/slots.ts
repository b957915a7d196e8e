/** Slots that wait for commands, so that none has to wait for a slot. */
import fs from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { afterwards, inTime } from "../base/due.js";
import { HoldfastError } from "../base/errors.js";
import type { Box } from "../places/far/box.js";
import type { Runtime } from "../process/runtime.js";
import { Slot } from "./slot.js";

const READY = 2;

export class Slots {
	readonly #runtime: Runtime;
	readonly #ready: Slot[] = [];
	#making: Promise<void> | undefined;
	#closed = false;

	readonly #task: string | undefined;
	/** Where they are, if not here. */
	#box: Box | undefined;

	/** `task`: they are for this one alone, on the machine that it is on. */
	constructor(runtime: Runtime, task?: string) {
		this.#runtime = runtime;
		this.#task = task;
	}

	/** Why where they are cannot be reached, if that is so. */
	get trouble(): string | undefined {
		return this.#box?.trouble;
	}

	takeReady(): Slot | undefined {
		for (;;) {
			const slot = this.#ready.shift();
			if (!slot?.isStale()) return slot;
			slot.drop();
		}
	}

	/** Another one, in place of one that the shell could not be given: its machine may have begun a new life. */
	async renew(slot: Slot): Promise<Slot> {
		slot.drop();
		return this.takeReady() ?? (await this.#make());
	}

	async take(): Promise<Slot> {
		if (this.#ready.length === 0 && this.#making) await inTime(this.#making, late); // nearly there; if that failed, the next line says why
		return this.takeReady() ?? (await this.#make());
	}

	/** `spare`: nobody has asked for it, so nothing is started for it but itself. */
	async #make(spare = false): Promise<Slot> {
		const limited = this.#runtime.boundaries.forCommand().output !== undefined;
		if (!spare) this.#box = this.#task === undefined ? undefined : (await this.#runtime.place(this.#task)).box;
		const box = this.#box;
		return new Slot(await this.#runtime.hold(box, { spare }), { limited, box });
	}

	/** One that nobody can tell from a new one. */
	giveBack(slot: Slot): void {
		if (this.#closed)
			void slot.discard().catch(() => {}); // the next runtime finds it
		else this.#ready.unshift(slot);
	}

	/** One that no command could be put into. False: its directory is gone, so the home was removed, and with it the others. */
	refuse(slot: Slot): boolean {
		if (fs.existsSync(slot.dir)) {
			this.giveBack(slot);
			return true;
		}
		for (const gone of [slot, ...this.#ready.splice(0)]) void gone.letGo();
		return false;
	}

	/** Make more, while nobody waits. */
	fill(): void {
		if (this.#closed || this.#making || this.#ready.length >= READY) return;
		this.#making = afterwards(async () => {
			try {
				if (this.#task === undefined) await turn(); // here; the answer goes first
				while (!this.#closed && this.#ready.length < READY) this.#ready.push(await this.#make(true));
			} catch {
				// only a convenience: whoever needs one meets the same obstacle and reports it
			} finally {
				this.#making = undefined;
			}
		});
	}

	async close(): Promise<void> {
		this.#closed = true;
		await this.#making;
		await Promise.all(this.#ready.splice(0).map((slot) => slot.discard()));
	}
}

const late = (): HoldfastError => new HoldfastError("START_FAILED", "nothing ran: its machine did not make a log for it in time; send the command again");
