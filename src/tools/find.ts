/** Finds a task's process by the id that a model sent. Processes of other tasks count as unknown. */
import { HoldfastError, REMOTE_MS } from "../base/index.js";
import type { Process } from "../process/index.js";
import { type Ask, KnownIds } from "./ask.js";
import { brief } from "./brief.js";

const SHOWN = 20;

export function findProcess(ask: Ask, id: string | undefined): Process {
	if (id === undefined) throw new HoldfastError("INVALID", `session_id is missing: say which process you mean; ${known(idsOf(ask))}`);
	const found = (ask.runtime.registry.matching(id) ?? []).filter(({ spec }) => spec.task === ask.task && spec.kind === undefined);
	if (found[0] && found.length === 1) {
		if (found[0].spec.place !== ask.runtime.placeName) ask.runtime.home.secrets.maskAgain(); // this place's masking setting does not cover another place's secrets
		return found[0];
	}
	const ids = found.length > 1 ? found.map((process) => process.id) : idsOf(ask);
	const unknown = () => ask.runtime.registry.whenRemoved(id) ?? `you have no process "${brief(id)}"`;
	const problem = found.length > 1 ? `"${brief(id)}" fits ${found.length} processes` : unknown();
	throw new HoldfastError("NOT_FOUND", `${problem}; ${known(ids)}`, { cause: new KnownIds(ids) });
}

/** Finds a process and refreshes its state if it is remote. If its machine is unreachable, a note gives the time of the last known state. */
export async function findFresh(ask: Ask, id: string | undefined): Promise<Process> {
	const found = findProcess(ask, id);
	const note = await found.sync(ask.signal, REMOTE_MS.call);
	if (note !== undefined) ask.notes.push(note);
	return found;
}

const idsOf = (ask: Ask): string[] => ask.runtime.list({ task: ask.task }).map((process) => process.id);

function known(ids: readonly string[]): string {
	if (ids.length === 0) return "there are none now: terminal(command=…, background=true) starts one";
	const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : "";
	return `there ${ids.length === 1 ? "is" : "are"} ${ids.slice(0, SHOWN).join(", ")}${more}`;
}
