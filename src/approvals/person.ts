/** An agent does not answer its own questions: whatever runs inside one of its commands is refused, whichever door it takes. */
import { runOf } from "../audit/index.js";
import { HoldfastError, type Home, isId, keptProcesses } from "../base/index.js";
import { procDir, readSpec } from "../keeper/index.js";

const MOST_PARENTS = 100;

/**
 * Throws inside a process that this home keeps for an agent: one of a shell, or of a tool call. What a person has started by hand may answer
 * (a client that runs in a kept terminal asks its person), and so may what another home keeps.
 */
export function mustBePerson(home: Home, inside: readonly string[] = keptProcesses()): void {
	const agents = inside.find((id) => isForAgent(home, id));
	if (agents !== undefined)
		throw new HoldfastError(
			"FORBIDDEN",
			`this runs inside of ${agents}, which Holdfast keeps for an agent: approvals are answered by a person, from a terminal of their own`,
		);
}

/** Itself, or what it was started from. */
function isForAgent(home: Home, id: string): boolean {
	for (let at: string | undefined = id, steps = 0; at !== undefined && isId(at) && steps < MOST_PARENTS; steps++) {
		const dir = procDir(home, at);
		const spec = readSpec(dir);
		if (spec && (spec.kind !== undefined || spec.within !== undefined || runOf(dir) !== undefined)) return true;
		at = spec?.parent;
	}
	return false;
}
