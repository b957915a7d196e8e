/**
 * The keyboard of a process: while a person holds it, writes of an agent are refused. It is a lease in the process directory that its holder renews
 * every few seconds, so it expires with its holder. Keystrokes are not recorded.
 */
import path from "node:path";
import { Audit } from "../audit/index.js";
import { HoldfastError, Lease } from "../base/index.js";
import type { Process } from "./process.js";

/** How often the holder renews the lease, and the age at which the lease is stale. */
export const KEYBOARD_RENEW_MS = 5_000;
const FRESH_MS = 20_000;
const WHO = 200; // characters

export interface Holder {
	/** Name of the holder, for people. */
	readonly who: string;
	readonly since: number;
	/** End of the output when the keyboard was taken. */
	readonly offset: number;
	/** Differs each time the keyboard is taken. */
	readonly nonce: string;
	/** Size of the terminal before the first of a chain of holders could change it. */
	readonly size?: TerminalSize;
}

export interface TerminalSize {
	readonly cols: number;
	readonly rows: number;
}

export const KEYBOARD_FILE = "keyboard";
const fileOf = (process: Process): string => path.join(process.dir, KEYBOARD_FILE);

export class Keyboard {
	readonly #lease: Lease;
	readonly holder: Holder;

	private constructor(lease: Lease, holder: Holder) {
		this.#lease = lease;
		this.holder = holder;
	}

	/** Takes the keyboard. Returns undefined while another person holds it; `force` takes it over. */
	static take(process: Process, options: { who: string; force?: boolean; size?: TerminalSize }): Keyboard | undefined {
		const before = Lease.holder(fileOf(process), FRESH_MS);
		// A takeover keeps the offset of the first holder, so that the agent is told about the whole time.
		const offset = before ? numberIn(before.about.offset) : process.log.bounds().end;
		const size = before ? sizeIn(before.about.size) : options.size;
		const about = { who: options.who.slice(0, WHO), since: Date.now(), offset, ...(size ? { size } : {}) };
		const lease = Lease.take(fileOf(process), { about, freshMs: FRESH_MS, force: options.force ?? false });
		const taken = lease && Lease.holder(fileOf(process));
		if (!lease || !taken) return undefined;
		Audit.note(process.machine.home, process.spec.task, { event: "keyboard", outcome: "taken", session_id: process.id, by: about.who });
		return new Keyboard(lease, holderFrom(taken.about));
	}

	held(): boolean {
		return this.#lease.held();
	}

	renew(): boolean {
		return this.#lease.renew();
	}

	release(): void {
		this.#lease.release();
	}
}

/** Returns the holder of the keyboard, or undefined. */
export function keyboardOf(process: Process): Holder | undefined {
	const found = Lease.holder(fileOf(process), FRESH_MS);
	return found?.held ? holderFrom(found.about) : undefined;
}

/** Returns a holder that has died without releasing, to exactly one of several callers. */
export function takeLostHolder(process: Process): Holder | undefined {
	const found = Lease.holder(fileOf(process), FRESH_MS);
	return found && !found.held && found.clear() ? holderFrom(found.about) : undefined;
}

/** Throws while a person holds the keyboard: no other input is allowed then. */
export function mustBeFree(process: Process): void {
	const holder = keyboardOf(process);
	if (holder)
		throw new HoldfastError("KEYBOARD", `${holder.who} has the keyboard of ${process.id} since ${new Date(holder.since).toISOString()}; nothing was sent`);
}

const holderFrom = (about: Readonly<Record<string, unknown>>): Holder => ({
	who: typeof about.who === "string" ? about.who : "a person",
	since: numberIn(about.since),
	offset: numberIn(about.offset),
	nonce: typeof about.nonce === "string" ? about.nonce : "",
	...(sizeIn(about.size) ? { size: sizeIn(about.size) as TerminalSize } : {}),
});

function sizeIn(value: unknown): TerminalSize | undefined {
	const { cols, rows } = (value ?? {}) as Partial<TerminalSize>;
	return numberIn(cols) > 0 && numberIn(rows) > 0 ? { cols: numberIn(cols), rows: numberIn(rows) } : undefined;
}

const numberIn = (value: unknown): number => (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0);
