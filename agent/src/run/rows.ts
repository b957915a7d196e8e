/** The lines of a ledger, and what they come to. A line is only added; what it takes back, it names. */
import { AgentError } from "../base/index.js";
import type { EpisodeResult, Outcome } from "../episode/index.js";
import type { Usage } from "../model/index.js";

interface Attempt {
	readonly at: string;
	readonly index: number;
	readonly attempt: number;
}

export type StartRow = Attempt & { readonly t: "start"; readonly key: string; readonly digest: string; readonly task: string; readonly place?: string };
/** `touched`: how often a person took the keyboard of one of its terminals. */
export type ResultRow = Attempt & { readonly t: "result"; readonly place?: string; readonly touched?: number } & EpisodeResult;
/** An attempt that failed outside of the model and is made again. */
export type FailedRow = Attempt & { readonly t: "failed"; readonly place?: string; readonly touched?: number } & EpisodeResult;
/** Its program was killed, or the run was stopped: what the attempt had left is ended. */
export type LostRow = Attempt & { readonly t: "lost"; readonly ended: readonly string[]; readonly why?: "killed" | "stopped"; readonly usage?: Usage };
/** A person wants the episode again: the result of this attempt does not count any more. */
export type RequeuedRow = Attempt & { readonly t: "requeued"; readonly request: string };
/** The same attempt, scored again from what was kept of it. `problem`: it could not be, and its outcome is as before. */
export type RescoredRow = Attempt & { readonly t: "rescored"; readonly request: string; readonly outcome: Outcome; readonly problem?: string };

export type LedgerRow = StartRow | ResultRow | FailedRow | LostRow | RequeuedRow | RescoredRow;

export type Unstamped<R> = R extends LedgerRow ? Omit<R, "at"> : never;

export interface RunProgress {
	/** Results that count, by index. */
	readonly results: ReadonlyMap<number, ResultRow>;
	/** Starts without an end, by index. */
	readonly open: ReadonlyMap<number, StartRow>;
	/** How many attempts each index has had. */
	readonly attempts: ReadonlyMap<number, number>;
	/** How many of them failed and were made again, since the index was last asked for. */
	readonly failures: ReadonlyMap<number, number>;
	/** Attempts beside those that count: failed, lost, or taken back. Their tokens and time were spent all the same. */
	readonly besides: readonly (FailedRow | LostRow | ResultRow)[];
	/** Requests of people that were carried out. */
	readonly requests: ReadonlySet<string>;
	readonly firstAt: string | undefined;
	readonly lastAt: string | undefined;
}

/** Follows a ledger row by row. */
export class LedgerState implements RunProgress {
	readonly results = new Map<number, ResultRow>();
	readonly open = new Map<number, StartRow>();
	readonly attempts = new Map<number, number>();
	readonly failures = new Map<number, number>();
	readonly besides: (FailedRow | LostRow | ResultRow)[] = [];
	readonly requests = new Set<string>();
	firstAt: string | undefined;
	lastAt: string | undefined;

	/** Throws `BROKEN` for what cannot be: the file is damaged, or two programs have written to it. */
	apply(row: LedgerRow): void {
		this.firstAt ??= row.at;
		this.lastAt = row.at;
		const { index } = row;
		switch (row.t) {
			case "start":
				this.open.set(index, row);
				this.attempts.set(index, Math.max(row.attempt, (this.attempts.get(index) ?? 0) + 1));
				return;
			case "failed":
				this.open.delete(index);
				this.failures.set(index, (this.failures.get(index) ?? 0) + 1);
				this.besides.push(row);
				return;
			case "lost":
				this.open.delete(index);
				this.besides.push(row);
				return;
			case "requeued":
				this.#requeued(row);
				return;
			case "rescored":
				this.#rescored(row);
				return;
			case "result":
				this.open.delete(index);
				if (this.results.has(index)) throw new AgentError("BROKEN", `the ledger has two results for episode ${index}; more than one program has written to it`);
				this.results.set(index, row);
				this.attempts.set(index, Math.max(row.attempt, this.attempts.get(index) ?? 0));
				return;
			default:
				unknownRow(row);
		}
	}

	#requeued({ index, attempt, request }: RequeuedRow): void {
		this.requests.add(request);
		const result = this.results.get(index);
		if (result?.attempt !== attempt) return;
		this.results.delete(index);
		this.failures.delete(index);
		this.besides.push(result);
	}

	#rescored({ index, attempt, request, outcome }: RescoredRow): void {
		this.requests.add(request);
		const result = this.results.get(index);
		if (result?.attempt === attempt) this.results.set(index, { ...result, outcome });
	}
}

export function progressOf(rows: readonly LedgerRow[]): LedgerState {
	const progress = new LedgerState();
	for (const row of rows) progress.apply(row);
	return progress;
}

/** A row of a newer version is not passed over: it may take something back. */
function unknownRow(row: never): never {
	throw new AgentError(
		"BROKEN",
		`the ledger has a row of the kind "${String((row as { t?: unknown }).t)}", which this version does not know; use the version that wrote it`,
	);
}
