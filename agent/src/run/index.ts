/** Runs: many episodes, exactly one result each, and the proof that nothing is left. agent/docs/runs.md */
export { attemptFolder, attemptLabel, attemptName } from "./attempt.js";
export type { RunEvent } from "./events.js";
export { isCollected, Ledger, ledgerFile, readLedger, readProgress, runnerOf } from "./ledger.js";
export { beginRun, changedTasks, label, type RunItem, type RunManifest, readRun } from "./manifest.js";
export { type PoolPlace, placeName, placeNamed, placesFor, type RunPlace } from "./places.js";
export { isClean, type Proof, proofWords } from "./proof.js";
export { replayAttempt } from "./replay.js";
export { addRequest, askRun, attemptKey, type RunRequest, readRequests } from "./requests.js";
export { type LedgerRow, progressOf, type ResultRow, type RunProgress } from "./rows.js";
export { runAll } from "./run-all.js";
