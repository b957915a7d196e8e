import { HoldfastError } from "../base/index.js";
import type { Process } from "../process/index.js";
import { type Ask, doorOf } from "./ask.js";
import { loadScreen } from "./screen.js";

const PATIENCE_MS = 10_000;
const A_LINE = 1_024; // shorter input cannot contain a line that is too long

/** Writes to a process's input for a limited time: a program that does not read lets the pipe fill up, and the write would block. */
export async function send(ask: Ask, process: Process, data: Uint8Array): Promise<number> {
	const cut = process.spec.terminal && data.length > A_LINE ? await noteOfCut(process, data) : undefined;
	const patience = AbortSignal.timeout(Math.min(PATIENCE_MS, ask.call.within ?? PATIENCE_MS));
	ask.record?.effect({ act: "write to the input of a process" });
	try {
		const bytes = await process.write(data, { signal: ask.signal ? AbortSignal.any([ask.signal, patience]) : patience });
		ask.runtime.audit.note(ask.task, { event: "wrote", session_id: process.id, bytes, by: doorOf(ask) });
		if (cut !== undefined) ask.notes.push(cut);
		return bytes;
	} catch (error) {
		if (!(error instanceof HoldfastError) || error.code !== "ABORTED" || ask.signal?.aborted || !patience.aborted) throw error; // referenced until here, since a collected timeout signal never fires
		throw new HoldfastError("LIMIT", `${error.message}: it does not read its input now; send the rest when it does`, { cause: error });
	}
}

async function noteOfCut(process: Process, data: Uint8Array): Promise<string | undefined> {
	const { cutLine, LONGEST_LINE } = await loadScreen();
	const bytes = await cutLine(process, data);
	if (bytes === undefined) return undefined;
	return `A terminal that takes lines keeps ${LONGEST_LINE} bytes of each, and one of these has ${bytes}: the rest of it was dropped. Send shorter lines, or give the text in a file or to a process without a terminal.`;
}
