/**
 * The meaning of a cancelled request. A person's interrupt ends the command. After a client's own timeout the command
 * continues in the background: the model is told "timed out" and could not reach the command otherwise.
 */
import { SdkError, SdkErrorCode } from "@modelcontextprotocol/server";

/** Matches the words of the SDKs for TypeScript ("MCP error -32001: Request timed out"), Python and Rust. */
const TIMED_OUT = /timed?[ -]?out|-32001|deadline/i;

/**
 * Limits, in seconds, that clients are known to have: Codex gives the same reason ("MCP response future dropped") for its time-out as
 * for a person's Esc. So what comes just then is taken for a time-out: what runs on by mistake can still be killed.
 */
const KNOWN_LIMITS: readonly number[] = [60, 120, 300, 600, 660];
const BEFORE_MS = 1_500; // their clock began earlier
const AFTER_MS = 2_500;

/** Clients that do not wait longer for all our signs of life, by the beginning of their name, and for how long they wait. */
const IMPATIENT: readonly (readonly [string, number])[] = [
	["codex-mcp-client", 300],
	["gemini-cli-mcp-client", 600],
];
const MARGIN_MS = 15_000; // on a busy machine too

/** How long a call of this client may take at most, in milliseconds; undefined if nothing is known. */
export function patienceOf(client: string | undefined): number | undefined {
	const known = IMPATIENT.find(([name]) => client?.startsWith(name));
	return known && known[1] * 1000 - MARGIN_MS;
}

export interface Cancellation {
	/** A person's interrupt. */
	readonly interrupted: AbortSignal;
	/** The client's own time-out. */
	readonly timedOut: AbortSignal;
}

/** The reason of a `yield` that is no time-out: the client has a handle for the call, and asks for the result. */
export const AS_TASK = "it is a task from now on";

/** Returns a note for the model about a command that moved to the background while its call had no client any more. */
export const leftNote = (id: string, { reason }: AbortSignal): string =>
	reason === AS_TASK
		? `An earlier call takes longer, so its command goes on in the background as ${id}, and your client tells you its result; do not start it again.`
		: `The client gave up waiting for an earlier call, whose command goes on as ${id}; do not start it again.`;

/** A connection that is gone takes nothing back: what runs goes on. */
export function cancellation(request: AbortSignal, since = performance.now()): Cancellation {
	const interrupted = new AbortController();
	const timedOut = new AbortController();
	const look = () => {
		const { reason } = request;
		if (reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed) return;
		if (isTimeout(reason, performance.now() - since)) timedOut.abort(reason);
		else interrupted.abort(reason);
	};
	if (request.aborted) look();
	else request.addEventListener("abort", look, { once: true });
	return { interrupted: interrupted.signal, timedOut: timedOut.signal };
}

export function isTimeout(reason: unknown, ms: number): boolean {
	const words = reason instanceof Error ? reason.message : typeof reason === "string" ? reason : "";
	if (TIMED_OUT.test(words)) return true;
	return KNOWN_LIMITS.some((seconds) => ms > seconds * 1000 - BEFORE_MS && ms < seconds * 1000 + AFTER_MS);
}
