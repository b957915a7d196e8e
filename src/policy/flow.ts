/** The input and output of a statement: pipes and redirections. */
import type { FoundCommand } from "./found.js";
import { outputOf } from "./output.js";
import type { Word } from "./word.js";

/** The sources of a statement's input and the targets of its output. */
export interface Flow {
	readonly input: string | null;
	readonly upstream: readonly FoundCommand[];
	readonly reads: readonly Word[];
	readonly writes: readonly Word[];
	readonly args: readonly Word[];
	readonly remote: boolean;
	/** The part of the text to point at: a command with its redirections. */
	readonly span: Span | null;
}

export const NOWHERE: Flow = { input: null, upstream: [], reads: [], writes: [], args: [], remote: false, span: null };

export interface Span {
	readonly start: number;
	readonly end: number;
}

/** Returns the flow with redirections applied: they win over a pipe. */
export const redirected = (from: Flow, { reads, writes, args, input, upstream, span }: Flow): Flow => ({
	...from,
	reads,
	writes,
	args,
	input: input ?? (reads.length > 0 ? null : from.input),
	upstream: input === null ? [...from.upstream, ...upstream] : upstream,
	span,
});

export const piped = (found: readonly FoundCommand[], flow: Flow): Flow => {
	const upstream = found.flatMap((one) => [...one.upstream, one]).slice(0, 32);
	const only = found.length === 1 ? found[0] : undefined;
	return { ...NOWHERE, remote: flow.remote, upstream, input: only ? outputOf(only) : null };
};
