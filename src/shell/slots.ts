/** Slots that wait for commands, so that none has to wait for a slot. */
import fs from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { type Deadlines, HoldfastError } from "../base/index.js";
import type { Machine } from "../places/index.js";
import type { Boundaries } from "../process/index.js";
import { closed } from "./patience.js";
import { Slot } from "./slot.js";

const READY = 2;
const SPARE = READY + 1; // with the one that has just come back
const MOST = 64; // kept after many commands at once
const IDLE_MS = 5_000; // and for how long
const LONGEST_MS = 1_000; // one that takes longer to make does not hold up the next

interface Waiter {
	give(slot: Slot): void;
	fail(error: unknown): void;
}

export class Slots {
	/** The one that was used last comes first, so that those which are not needed stay unused. */
	#ready: { readonly slot: Slot; readonly since: number }[] = [];
	/** Slots that are being given up. */
	readonly #leaving = new Set<Promise<unknown>>();
	#idle: NodeJS.Timeout | undefined;
	#making: Promise<void> | undefined;
	/** Callers that get the next slot, new or given back. */
	readonly #waiting: Waiter[] = [];
	/** How many are being made for them, without those that take long. */
	#makers = 0;
	readonly #underWay = new Set<Promise<void>>();
	#closed = false;

	readonly #where: () => Machine;
	/** The machine of the last slot that was made. */
	#machine: Machine | undefined;

	readonly #boundaries: () => Boundaries;
	readonly #deadlines: Deadlines;
	readonly #spare: number;
	readonly #atOnce: number;

	/** `where`: the machine that they are to be on. `boundaries`: the limits of the commands that they are for. `ahead` false: none is made for a command that may never come. `atOnce`: how many are made at the same time. */
	constructor(where: () => Machine, boundaries: () => Boundaries, { deadlines, ahead, atOnce }: { deadlines: Deadlines; ahead: boolean; atOnce: number }) {
		this.#where = where;
		this.#boundaries = boundaries;
		this.#deadlines = deadlines;
		this.#spare = ahead ? READY : 0;
		this.#atOnce = atOnce;
	}

	/** Why where they are cannot be reached, if that is so. */
	get trouble(): string | undefined {
		return this.#machine?.trouble;
	}

	takeReady(): Slot | undefined {
		for (;;) {
			const slot = this.#ready.shift()?.slot;
			if (!slot) return undefined;
			if (slot.isStale()) slot.drop();
			else if (slot.serves()) return slot;
			else this.#giveUp(slot);
		}
	}

	async take(): Promise<Slot> {
		if (this.#ready.length === 0 && this.#making) await this.#deadlines.inTime(this.#making, late); // nearly there; if that failed, the next line says why
		return this.takeReady() ?? (await this.#next());
	}

	/** Waits for a new slot, or for one that another command gives back: many commands at once need fewer slots than one each. */
	async #next(): Promise<Slot> {
		let waiter: Waiter | undefined;
		const next = new Promise<Slot>((give, fail) => {
			waiter = { give, fail };
			this.#waiting.push(waiter);
		});
		this.#serve();
		try {
			return await this.#deadlines.inTime(next, late);
		} catch (error) {
			const at = this.#waiting.indexOf(waiter as Waiter);
			if (at >= 0) this.#waiting.splice(at, 1);
			else
				next.then(
					(slot) => this.giveBack(slot), // it came just then
					() => {},
				);
			throw error;
		}
	}

	/** Makes slots while callers wait. One that fails is the failure of the caller that waits longest. */
	#serve(): void {
		while (this.#makers < Math.min(this.#atOnce, this.#waiting.length)) {
			this.#makers++;
			let counted = true;
			const done = () => {
				clearTimeout(timer);
				if (counted) this.#makers--;
				counted = false;
				this.#serve();
			};
			const timer = setTimeout(done, LONGEST_MS).unref();
			const making = this.#make()
				.then(
					(slot) => this.giveBack(slot),
					(error) => this.#waiting.shift()?.fail(error),
				)
				.finally(() => {
					this.#underWay.delete(making);
					done();
				});
			this.#underWay.add(making);
		}
	}

	/** `spare`: no caller waits for it, so no machine is started for it. */
	async #make(spare = false): Promise<Slot> {
		const limits = this.#boundaries().forCommand();
		if (!spare) this.#machine = this.#where();
		const machine = this.#machine ?? this.#where();
		return new Slot(await machine.keepers.hold(limits, { spare }), { limited: limits.output !== undefined, machine });
	}

	/** Takes a free slot back, or a new one. */
	giveBack(slot: Slot): void {
		if (this.#closed) {
			this.#giveUp(slot);
			return;
		}
		this.#ready.unshift({ slot, since: performance.now() });
		if (this.#waiting.length > 0) {
			const usable = this.takeReady();
			if (usable) this.#waiting.shift()?.give(usable);
			return;
		}
		if (this.#ready.length > MOST) this.#giveUp((this.#ready.pop() as { slot: Slot }).slot);
		if (this.#ready.length > SPARE) this.#idle ??= setTimeout(() => this.#giveUpIdle(), IDLE_MS).unref();
	}

	/** Gives up slots that were made for many commands at once and are not needed any more. */
	#giveUpIdle(): void {
		this.#idle = undefined;
		const before = performance.now() - IDLE_MS;
		const idle = this.#ready.filter(({ since }, at) => at >= SPARE && since <= before);
		this.#ready = this.#ready.filter((entry) => !idle.includes(entry));
		for (const { slot } of idle) this.#giveUp(slot);
		if (this.#ready.length > SPARE && !this.#closed) this.#idle = setTimeout(() => this.#giveUpIdle(), IDLE_MS).unref();
	}

	#giveUp(slot: Slot): void {
		const leaving = slot.discard().catch(() => {}); // the next runtime finds it
		this.#leaving.add(leaving);
		void leaving.then(() => this.#leaving.delete(leaving));
	}

	/** Takes back a slot that no command could be put into. Returns false if its directory is gone: the home was removed, and the other slots with it. */
	refuse(slot: Slot): boolean {
		if (fs.existsSync(slot.dir)) {
			this.giveBack(slot);
			return true;
		}
		for (const gone of [slot, ...this.#ready.splice(0).map((entry) => entry.slot)]) void gone.letGo();
		return false;
	}

	/** Makes more while no caller waits. */
	fill(): void {
		this.#makeReady(this.#spare, turn); // the answer goes first
	}

	/** Makes the first one, while the caller sees to something else that its command needs. */
	prepare(): void {
		this.#makeReady(1);
	}

	#makeReady(count: number, after: () => Promise<void> = async () => {}): void {
		if (this.#closed || this.#making || this.#ready.length >= count) return;
		this.#making = this.#deadlines.afterwards(async () => {
			try {
				await after();
				while (!this.#closed && this.#ready.length < count) {
					const slot = await this.#make(true); // on a line of its own: idle ones may be given up meanwhile, and then `#ready` is another list
					if (this.#waiting.length > 0) this.giveBack(slot);
					else this.#ready.push({ slot, since: performance.now() });
				}
			} catch {
				// only a convenience: a caller that needs one fails the same way and reports it
			} finally {
				this.#making = undefined;
			}
		});
	}

	async close(): Promise<void> {
		this.#closed = true;
		for (const { fail } of this.#waiting.splice(0)) fail(closed());
		await Promise.all([this.#making, ...this.#underWay]);
		clearTimeout(this.#idle);
		for (const { slot } of this.#ready.splice(0)) this.#giveUp(slot);
		await Promise.all(this.#leaving);
	}
}

const late = (): HoldfastError => new HoldfastError("START_FAILED", "nothing ran: its machine did not make a log for it in time; send the command again");
