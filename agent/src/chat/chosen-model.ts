/** The model that a conversation goes on with. */
import type { AgentHome } from "../base/index.js";
import { Log } from "../talk/index.js";

/** A model that a person has chosen in a conversation stays chosen in it, at the endpoint that has it: another one may have none of that name. */
export function chosenModel(home: AgentHome, id: string, endpoint: string): string | undefined {
	const chosen = Log.read(home, id).entries.findLast(
		(entry) => entry.t === "set" && entry.model !== undefined && entry.auto !== true && entry.endpoint === endpoint,
	);
	return chosen?.t === "set" ? chosen.model : undefined;
}
