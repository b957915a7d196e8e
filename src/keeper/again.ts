/**
 * Retries a failed start twice, after short pauses, if its cause may be temporary: fork failed, or the keeper was killed before its child was told to
 * go. Only a start that certainly ran nothing is retried: a command that may have run is never run twice.
 */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errno, HoldfastError, statIfThere } from "../base/index.js";

const PAUSES_MS = [50, 250];
const FULL = ["EAGAIN", "ENOMEM"]; // fork(2): too many processes, or too little memory

/** The cause of an error thrown before anything could run. */
export const BEFORE_START = new Error("nothing was started");

export async function tryAgain<T>(start: () => Promise<T>): Promise<T> {
	for (const pause of PAUSES_MS) {
		try {
			return await start();
		} catch (error) {
			if (!mayBeTriedAgain(error)) throw error;
		}
		await sleep(pause);
	}
	return start();
}

function mayBeTriedAgain(error: unknown): boolean {
	const cause = error instanceof HoldfastError ? error.cause : error;
	return cause === BEFORE_START || FULL.includes(errno(cause) ?? "");
}

/** Returns true if nothing was started and no keeper is left to start it: a waiting keeper has `go` open, and empties the plan before it starts. */
export function neverStarts(dir: string): boolean {
	try {
		fs.closeSync(fs.openSync(path.join(dir, "go"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK));
		return false;
	} catch (error) {
		return errno(error) === "ENXIO" && (statIfThere(path.join(dir, "plan"))?.size ?? 0) > 0;
	}
}
