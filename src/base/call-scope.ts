/**
 * Values that belong to the call under way, for code too deep down to be handed them. Each owner (a home) has scopes of its own: a call of one home
 * that calls into another, as a tool of another program may, does not bring its values there.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** The storage of all owners: Node would ask each further one at every promise. It holds nothing itself; the values end with their calls. */
const contexts = new AsyncLocalStorage<ReadonlyMap<CallScope<unknown>, unknown>>();

export class CallScope<T> {
	/** Returns the value that the call under way was run with. */
	get(): T | undefined {
		return contexts.getStore()?.get(this as CallScope<unknown>) as T | undefined;
	}

	run<R>(value: T, act: () => R): R {
		return contexts.run(new Map(contexts.getStore()).set(this as CallScope<unknown>, value), act);
	}
}
