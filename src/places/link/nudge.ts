/**
 * Lines without a meaning, for a stream that delays small messages (`Stream.delays`): a message waits until the one before is acknowledged, and only data that goes the
 * other way carries an acknowledgement at once. So the end that expects the other one to speak next has spoken last:
 * - the near end, when a question is answered and another request still waits: a command was told to a shell, and its end is waited for;
 * - the remote end, when it has answered nothing of what came (link.pl), or when a nudge comes after news: it has crossed them, and the next to speak is the near
 *   end, with another request;
 * - both, when a message stops in the middle.
 */

/** Forgets a request that there never was: no answer, and no work, at any remote end. */
const NUDGE = "0 c 0\n";
/** So long after the last piece of a message without its end, the rest is being held back. */
const STALL_MS = 1;

export class Nudges {
	readonly #send: (line: string) => void;
	#answered = false;
	#stall: NodeJS.Timeout | undefined;

	constructor(send: (line: string) => void) {
		this.#send = send;
	}

	/** A request has its answer that is no watch. */
	answered(): void {
		this.#answered = true;
	}

	/** All of what has come was taken. `partial`: it ends in the middle of a reply. `watched`: there are requests without an answer; `asked`: some are no watches. */
	taken({ partial, watched, asked }: { readonly partial: boolean; readonly watched: boolean; readonly asked: boolean }): void {
		clearTimeout(this.#stall);
		if (partial) this.#stall = setTimeout(() => this.#send(NUDGE), STALL_MS).unref();
		else if (asked || (this.#answered && watched)) this.#send(NUDGE);
		if (!partial) this.#answered = false;
	}

	end(): void {
		clearTimeout(this.#stall);
	}
}
