import { setTimeout as sleep } from "node:timers/promises";
import { REMOTE_MS } from "./times.js";

/** A list waits for no other machine: what fails, or is not answered in time, is `otherwise` in it. */
export async function soon<T>(asked: Promise<T>, otherwise: T): Promise<T> {
	const answer = asked.catch(() => otherwise);
	const stop = new AbortController();
	const late = sleep(REMOTE_MS.page, otherwise, { signal: stop.signal, ref: false }).catch(() => otherwise);
	return Promise.race([answer, late]).finally(() => stop.abort());
}
