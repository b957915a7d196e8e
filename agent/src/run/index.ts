/** Runs: many episodes, exactly one result each, and the proof that nothing is left. agent/docs/runs.md */
import { readLines } from "../base/index.js";
import { type LedgerRow, ledgerFile, progressOf, type RunProgress } from "./ledger.js";

export type { RunProgress } from "./ledger.js";
export { beginRun, type RunItem, type RunManifest, readRun } from "./manifest.js";
export { isClean, type Proof } from "./proof.js";
export { label, type RunEvent, runAll } from "./runner.js";
export { type RunSummary, summaryOf } from "./summary.js";

/** What the ledger of a run says now; another program may be writing to it. */
export const readProgress = (dir: string): RunProgress => progressOf(readLines(ledgerFile(dir)).values as LedgerRow[]);
