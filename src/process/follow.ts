/** Reading the output of a process as it comes. */
import { setTimeout as sleep } from "node:timers/promises";
import { DRAIN_MS, Wakeup } from "../base/index.js";
import { isDrained } from "../places/index.js";
import type { Slice } from "./log.js";
import type { Process } from "./process.js";
import { DRAIN_LOOK_MS } from "./wait.js";

const FLOOD_BYTES = 4 * 1024;
const FLOOD_MS = { least: 1, most: 16 };

/**
 * The output from an offset on, as it comes. Ends when the command has exited and what it printed has been read; a
 * grandchild that holds the pipe does not keep it going.
 */
export async function* followLog(process: Process, options: { from?: number; signal?: AbortSignal } = {}): AsyncGenerator<Slice, void> {
	const cursor = process.log.cursor(options.from ?? 0);
	const wakeup = new Wakeup();
	const unwatch = process.watch(wakeup.poke);
	try {
		let stalledSince: number | undefined;
		let over = false;
		let flood = false;
		let pause: number = FLOOD_MS.least;
		for (;;) {
			// Output is an event of its own, and the common one: then the rest need not be looked at.
			const slice = cursor.read();
			if (slice.bytes.length > 0) {
				stalledSince = undefined;
				flood = slice.bytes.length >= FLOOD_BYTES;
				if (!flood) pause = FLOOD_MS.least;
				yield slice;
				continue;
			}
			if (flood && !options.signal?.aborted) {
				// Read a flood in large pieces, a moment later, rather than block by block as it is written; the longer it lasts the larger.
				flood = false;
				await sleep(pause);
				pause = Math.min(2 * pause, FLOOD_MS.most);
				continue;
			}
			if (options.signal?.aborted) return;
			if (wakeup.more) {
				wakeup.more = false;
				over ||= process.isOver();
			}
			if (over) {
				if (isDrained(process.dir)) {
					// What is in the log now, when it was already over and drained, is all there is.
					for (let rest = cursor.read(); rest.bytes.length > 0; rest = cursor.read()) yield rest;
					return;
				}
				stalledSince ??= Date.now();
				if (Date.now() - stalledSince > DRAIN_MS) return;
			}
			await wakeup.next(over ? DRAIN_LOOK_MS : undefined, options.signal);
		}
	} finally {
		cursor.close();
		unwatch();
	}
}
