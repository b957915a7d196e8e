/** Signals that are composed. */

const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * Returns a signal that aborts with the first of these. `AbortSignal.any` holds its sources weakly: on Node 20 an `AbortSignal.timeout` that nothing else holds
 * is collected before its time, and the composed signal never aborts. This one keeps its sources as long as it exists itself.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
	const any = AbortSignal.any([...signals]);
	sources.set(any, signals);
	return any;
}
