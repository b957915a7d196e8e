/** The messages for one target, one after the other, in order. A target that hangs or fails holds up nothing but its own. */

import { setTimeout as sleep } from "node:timers/promises";
import type { NotifyTarget } from "../base/index.js";
import { anySignal } from "../base/index.js";
import { deliver, Hopeless } from "./deliver.js";
import type { PushMessage } from "./message.js";

export interface PushTimes {
	/** Time limit of one try. */
	readonly timeoutMs: number;
	/** Before the second try, the third, and so on: there are no more than these. */
	readonly pausesMs: readonly number[];
	/** How long a program has waited for input before a person is told. */
	readonly waitingMs: number;
}

export const PUSH_TIMES: PushTimes = { timeoutMs: 10_000, pausesMs: [2_000, 15_000], waitingMs: 20_000 };

const MOST_WAITING = 100;

/** How a target is doing. Undefined: well. */
export type Report = (name: string, failing: { readonly error: string; readonly lost: number } | undefined) => void;

export class TargetLine {
	readonly target: NotifyTarget;
	readonly #times: PushTimes;
	readonly #report: Report;
	readonly #closing: AbortSignal;
	readonly #waiting: PushMessage[] = [];
	#lost = 0;
	#busy: Promise<void> | undefined;

	constructor(target: NotifyTarget, { times, report, closing }: { times: PushTimes; report: Report; closing: AbortSignal }) {
		this.target = target;
		this.#times = times;
		this.#report = report;
		this.#closing = closing;
	}

	/** Never throws, and waits for nothing. With too many in the line the oldest is lost. */
	add(message: PushMessage): void {
		if (this.#closing.aborted) return;
		this.#waiting.push(message);
		if (this.#waiting.length > MOST_WAITING) {
			this.#waiting.shift();
			this.#lost++;
		}
		this.#busy ??= this.#work().finally(() => {
			this.#busy = undefined;
		});
	}

	/** Resolves when nothing of it is under way. */
	async idle(): Promise<void> {
		await this.#busy;
	}

	async #work(): Promise<void> {
		for (let message = this.#waiting.shift(); message && !this.#closing.aborted; message = this.#waiting.shift()) {
			const error = await this.#tell(message);
			if (this.#closing.aborted) return;
			if (error === undefined) this.#lost = 0;
			else this.#lost++;
			this.#report(this.target.name, error === undefined ? undefined : { error, lost: this.#lost });
		}
	}

	/** Returns what went wrong at last; undefined if it was told. A question that can no longer be answered is not tried again. */
	async #tell(message: PushMessage): Promise<string | undefined> {
		for (let tries = 0; ; tries++) {
			const late = message.expires_at !== undefined && Date.now() >= Date.parse(message.expires_at);
			if (late) return "it was not reached before the question expired";
			try {
				await deliver(this.target, message, anySignal([this.#closing, AbortSignal.timeout(this.#times.timeoutMs)]));
				return undefined;
			} catch (error) {
				if (this.#closing.aborted) return undefined;
				const pause = error instanceof Hopeless ? undefined : this.#times.pausesMs[tries];
				if (pause === undefined) return reasonOf(error, this.#times.timeoutMs);
				await sleep(pause, undefined, { signal: this.#closing }).catch(() => {}); // closing: seen by the caller
				if (this.#closing.aborted) return undefined;
			}
		}
	}
}

function reasonOf(error: unknown, timeoutMs: number): string {
	if (error instanceof DOMException && error.name === "TimeoutError") return `no answer within ${timeoutMs / 1000} s`;
	const { message, cause } = error as Error;
	return cause instanceof Error && message === "fetch failed" ? `cannot reach it (${cause.message})` : message;
}
