/** A place that is not available yet: it is queued or being scheduled, or its image is being pulled. That is no failure, and nothing has run. */
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../base/index.js";

/** Returns the PENDING error. `awaited`: what has to happen, as the rest of a sentence. */
export const notYet = (place: string, awaited: string): HoldfastError =>
	new HoldfastError(
		"PENDING",
		`${place} is not there yet: ${awaited.replace(/\.$/, "")}. Nothing ran. That goes on without this call; make the same call again later`,
	);

/** Waits before the next look. Throws ABORTED if the caller gives up; `stays`: what goes on without it, as the rest of a sentence. */
export async function pauseUnlessGivenUp(ms: number, signal: AbortSignal | undefined, place: string, stays: string): Promise<void> {
	await sleep(ms, undefined, signal ? { signal } : {}).catch(() => {
		throw new HoldfastError("ABORTED", `waiting for ${place} was given up; ${stays}`);
	});
}
