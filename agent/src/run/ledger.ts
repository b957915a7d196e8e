/**
 * What has happened in a run: lines that are only added, by one program at a time. An index with a `result` is done, whichever program asks. A `start` without
 * an end belongs to a program that is gone: the next one ends what it left, writes `lost`, and begins another attempt.
 */
import path from "node:path";
import { AgentError, Claim, isoTime, LineFile, systemClock } from "../base/index.js";
import type { EpisodeResult } from "../episode/index.js";
import { claimOf } from "./manifest.js";

export type LedgerRow =
	| {
			readonly t: "start";
			readonly at: string;
			readonly index: number;
			readonly attempt: number;
			readonly key: string;
			readonly digest: string;
			readonly task: string;
	  }
	| ({ readonly t: "result"; readonly at: string; readonly index: number; readonly attempt: number } & EpisodeResult)
	/** An attempt that failed outside of the model and is made again. */
	| ({ readonly t: "failed"; readonly at: string; readonly index: number; readonly attempt: number } & EpisodeResult)
	| { readonly t: "lost"; readonly at: string; readonly index: number; readonly attempt: number; readonly ended: readonly string[] };

type Unstamped<R> = R extends LedgerRow ? Omit<R, "at"> : never;

export interface RunProgress {
	/** Results by index. */
	readonly results: ReadonlyMap<number, Extract<LedgerRow, { t: "result" }>>;
	/** Starts without an end, by index. */
	readonly open: ReadonlyMap<number, Extract<LedgerRow, { t: "start" }>>;
	/** How many attempts each index has had. */
	readonly attempts: ReadonlyMap<number, number>;
	/** How many of them failed and were made again. */
	readonly failures: ReadonlyMap<number, number>;
}

export const ledgerFile = (run: string): string => path.join(run, "ledger.jsonl");

/** What rows say. Two results for one index cannot be: the file is damaged, or two programs have written to it. */
export function progressOf(rows: readonly LedgerRow[]): RunProgress {
	const results = new Map<number, Extract<LedgerRow, { t: "result" }>>();
	const open = new Map<number, Extract<LedgerRow, { t: "start" }>>();
	const attempts = new Map<number, number>();
	const failures = new Map<number, number>();
	for (const row of rows) {
		if (row.t === "start") {
			open.set(row.index, row);
			attempts.set(row.index, (attempts.get(row.index) ?? 0) + 1);
			continue;
		}
		open.delete(row.index);
		if (row.t === "failed") failures.set(row.index, (failures.get(row.index) ?? 0) + 1);
		if (row.t !== "result") continue;
		if (results.has(row.index)) throw new AgentError("BROKEN", `the ledger has two results for episode ${row.index}; it was not written by this program alone`);
		results.set(row.index, row);
	}
	return { results, open, attempts, failures };
}

export class Ledger {
	readonly #file: LineFile;
	readonly #claim: Claim;
	readonly #rows: LedgerRow[];

	private constructor(file: LineFile, claim: Claim) {
		this.#file = file;
		this.#claim = claim;
		this.#rows = file.values as LedgerRow[];
	}

	/** Throws `BUSY` while another program runs this run, and says which. */
	static open(run: string): Ledger {
		const claim = Claim.take(claimOf(run), "run");
		if (!(claim instanceof Claim)) throw new AgentError("BUSY", `another program (pid ${claim.pid}) runs this run; end that one first, or wait for it`);
		try {
			return new Ledger(LineFile.open(ledgerFile(run)), claim);
		} catch (error) {
			claim.release();
			throw error;
		}
	}

	get progress(): RunProgress {
		return progressOf(this.#rows);
	}

	/** Resolves when the row is on the disk. */
	async add(row: Unstamped<LedgerRow>): Promise<void> {
		const stamped = { ...row, at: isoTime(systemClock) } as LedgerRow;
		await this.#file.append([stamped], { sync: true });
		this.#rows.push(stamped);
	}

	async close(): Promise<void> {
		await this.#file.close();
		this.#claim.release();
	}
}
