/** Follows the output of a process. */
import { setTimeout as sleep } from "node:timers/promises";
import { DRAIN_MS, Wakeup } from "../base/index.js";
import { isDrained } from "../places/index.js";
import type { Slice } from "./log.js";
import type { Process } from "./process.js";
import { DRAIN_LOOK_MS } from "./wait.js";

const FLOOD_BYTES = 4 * 1024;
const FLOOD_MS = { least: 1, most: 16 };

/**
 * Yields the output from an offset on, as it arrives. Ends when the command has exited and its output has been read; a grandchild that holds the pipe
 * open does not prolong it.
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
			// Output is the most common event: then the state need not be checked.
			const slice = cursor.read();
			if (slice.bytes.length > 0) {
				stalledSince = undefined;
				flood = slice.bytes.length >= FLOOD_BYTES;
				if (!flood) pause = FLOOD_MS.least;
				yield slice;
				continue;
			}
			if (flood && !options.signal?.aborted) {
				// Reads a flood in large pieces after a pause, not block by block as it is written; the longer the flood, the longer the pause.
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
					// The process was over and drained before this read, so this is the rest of the log.
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
