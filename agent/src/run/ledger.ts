/**
 * The record of a run: lines that are only added, by one program at a time. An index with a `result` is done, whichever program asks. A `start` without an end
 * belongs to a program that is gone: the next one ends what it left, writes `lost`, and begins another attempt.
 */
import path from "node:path";
import { AgentError, Claim, isoTime, LineFile, readLines, systemClock } from "../base/index.js";
import { claimOf } from "./manifest.js";
import { type LedgerRow, LedgerState, progressOf, type RunProgress, type Unstamped } from "./rows.js";

export const ledgerFile = (run: string): string => path.join(run, "ledger.jsonl");

/** Reads a run's progress from its ledger; another program may be writing to it. */
export const readProgress = (dir: string): RunProgress => progressOf(readLedger(dir));

export const readLedger = (dir: string): readonly LedgerRow[] => readLines(ledgerFile(dir)).values as LedgerRow[];

/** Which program runs this run; undefined if none does. */
export const runnerOf = (run: string): { readonly pid: number; readonly what: string } | undefined => Claim.holder(claimOf(run));

const COLLECTOR = "collector";

/** Whether a collector has the run: its workers follow no requests of people. */
export const isCollected = (run: string): boolean => runnerOf(run)?.what === COLLECTOR;

export class Ledger {
	readonly progress = new LedgerState();
	/** Bytes of a torn last row that were cut off; they are in ledger.jsonl.cut. */
	readonly cut: number | undefined;
	readonly #file: LineFile;
	readonly #claim: Claim;

	private constructor(file: LineFile, claim: Claim) {
		this.#file = file;
		this.#claim = claim;
		this.cut = file.cut;
		for (const row of file.values as LedgerRow[]) this.progress.apply(row);
	}

	/** Throws `BUSY` while another program runs this run, and says which; `BROKEN`, with the number of the line, if a row in the middle is damaged. */
	static open(run: string, { collector = false }: { readonly collector?: boolean } = {}): Ledger {
		const claim = Claim.take(claimOf(run), collector ? COLLECTOR : "run");
		if (!(claim instanceof Claim)) throw new AgentError("BUSY", `another program (pid ${claim.pid}) runs this run; end that one first, or wait for it`);
		let file: LineFile | undefined;
		try {
			file = LineFile.open(ledgerFile(run));
			return new Ledger(file, claim);
		} catch (error) {
			void file?.close();
			claim.release();
			throw error;
		}
	}

	/** Resolves when the row is on the disk. */
	async add(row: Unstamped<LedgerRow>): Promise<void> {
		const stamped = { ...row, at: isoTime(systemClock) } as LedgerRow;
		await this.#file.append([stamped], { sync: true });
		this.progress.apply(stamped);
	}

	async close(): Promise<void> {
		await this.#file.close();
		this.#claim.release();
	}
}
