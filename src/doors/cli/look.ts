/** Processes as they are now, wherever they run, for commands that look at them or do something to them. */
import type { Process } from "../../process/process.js";
import type { Call } from "./command.js";

/** How long a person waits for a machine that does not answer. */
export const PATIENCE_MS = 10_000;

export async function processOf(call: Call, id: string): Promise<Process> {
	const process = (await call.runtime()).get(id);
	const note = await process.sync(undefined, PATIENCE_MS);
	if (note !== undefined) call.out.remark(note);
	return process;
}

/** While it is followed: say when its machine cannot be reached any more, and when it can again. Returns what ends that. */
export function tellOfReach({ out }: Pick<Call, "out">, process: Process): () => void {
	if (!process.box) return () => {};
	const { place } = process.spec;
	let away = process.unreachable !== undefined;
	return process.watch((name) => {
		if (name !== "there" && name !== null) return;
		const reason = process.unreachable?.replace(`cannot reach ${place}: `, "");
		if (away === (reason !== undefined)) return;
		away = reason !== undefined;
		out.remark(away ? `${place} cannot be reached (${reason}); what runs there runs on, and it is tried again` : `${place} is there again`);
	});
}
