import { HoldfastError } from "../base/errors.js";
import type { Process } from "../process/process.js";
import { type Ask, doorOf } from "./ask.js";

const PATIENCE_MS = 10_000;

/** Write to its input, but not for ever: one that does not read fills the pipe, and then nothing goes in any more. */
export async function send(ask: Ask, process: Process, data: Uint8Array): Promise<number> {
	const patience = AbortSignal.timeout(Math.min(PATIENCE_MS, ask.call.within ?? PATIENCE_MS));
	try {
		const bytes = await process.write(data, { signal: ask.signal ? AbortSignal.any([ask.signal, patience]) : patience });
		ask.runtime.audit.note(ask.task, { event: "wrote", session_id: process.id, bytes, by: doorOf(ask) });
		return bytes;
	} catch (error) {
		if (!(error instanceof HoldfastError) || error.code !== "ABORTED" || ask.signal?.aborted || !patience.aborted) throw error; // held until here: one that is collected never fires
		throw new HoldfastError("LIMIT", `${error.message}: it does not read its input now; send the rest when it does`, { cause: error });
	}
}
