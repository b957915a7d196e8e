/** From what the library shows of a runtime to the one that does the work. */
import { HoldfastError } from "../base/index.js";
import { AgentRuntime } from "../tools/index.js";

const inner = new WeakMap<object, AgentRuntime>();

export function showAs<T extends object>(shown: T, agent: AgentRuntime): T {
	inner.set(shown, agent);
	return shown;
}

/** Throws unless it is a runtime that `openRuntime` made. */
export function agentOf(runtime: object): AgentRuntime {
	const agent = runtime instanceof AgentRuntime ? runtime : inner.get(runtime);
	if (!agent) throw new HoldfastError("INVALID", "this takes a runtime that openRuntime() of this copy of holdfast has returned");
	return agent;
}
