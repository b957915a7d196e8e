/** Options of calls, as far as they are checked before the call. */
import { HoldfastError, isTaskName, TASK_NAME } from "../base/index.js";
import type { Call } from "../tools/index.js";

/** Throws unless it can be the name of a task. */
export function taskName(what: string, name: unknown): string {
	if (isTaskName(name)) return name;
	throw new HoldfastError("INVALID", `${what}: ${TASK_NAME}`);
}

/** Throws unless it is an object; what is in it is checked with the call, and said in its result. */
export function callOf(what: string, options: unknown = {}): Call {
	if (typeof options === "object" && options !== null) return options;
	throw new HoldfastError("INVALID", `${what}: the options must be an object`);
}

/** Throws if the runtime is closed. */
export function refuseClosed({ closed }: { readonly closed: boolean }): void {
	if (closed) throw new HoldfastError("ABORTED", "this runtime is closed; open another one");
}
