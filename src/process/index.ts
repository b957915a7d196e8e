/** The room of processes: starts, reads, awaits, limits and ends them; has the registry of a home and the runtime that holds the home open. */
export { listSandboxes, pruneSandboxes, type SandboxItem, type SandboxList, stopSandbox } from "./all-sandboxes.js";
export { missingAtBoot, resume } from "./boot.js";
export type { Boundaries } from "./boundaries.js";
export {
	type CallEffect,
	CallRecord,
	type CallState,
	type FileEffect,
	isUnderWay,
	pruneCalls,
	readCall,
	settleCall,
	tasksWith,
	werePruned,
} from "./call-record.js";
export { type Check, clean, diagnose, type Orphan } from "./doctor.js";
export { endsIn } from "./ends.js";
export { continued, continuedBut, deafParents, halt, haltBefore, ignores, type Members, to } from "./halt.js";
export { hiddenText, type MaskedLog, maskedCommand, maskedMatch, RedactedStream, starredSlice, starredSlices } from "./hidden.js";
export { type Holder, KEYBOARD_FILE, KEYBOARD_RENEW_MS, Keyboard, keyboardOf, mustBeFree, takeLostHolder } from "./keyboard.js";
export { endTree, KILL_GRACE_MS, type KillResult, members, membersWithin } from "./kill.js";
export { markKilled, whileKilling } from "./killing.js";
export { CONTAINER, endedBy, LimitCounts, type LimitMet, limitBySignal, limitNote, met } from "./limits.js";
export { Log, type LogCursor, type Slice } from "./log.js";
export { checkName, nameOf, processCalled, rename, runningCalled } from "./names.js";
export { clearTargets, recordTarget } from "./notify-state.js";
export { DAY_MS, environmentSchema, LIMITS, type RuntimeOptions, type RuntimeSettings, runtimeSchema, type SpawnOptions, settled } from "./options.js";
export { listeningOn, portsOf } from "./ports.js";
export { Process } from "./process.js";
export { type PruneOptions, type PruneResult, prunedUntil } from "./prune.js";
export { answeredIn, endOf, SHOWN_AFTER_EXIT_MS } from "./registry.js";
export { RESTARTS } from "./restart.js";
export { homeFor, openRuntime, openSettled, Runtime } from "./runtime.js";
export { Sandboxes } from "./sandboxes.js";
export { recordServer, runningServer, urlsOf } from "./servers.js";
export { exportFunctions } from "./start.js";
export { describeEnd, isOver, readStatus, type Status } from "./status.js";
export { killSummary, type Summary, standing, summary } from "./summary.js";
export { type Size, Sizes, sizeOf } from "./terminal-sizes.js";
export { commandIn, ServedCommands, type TranscriptCommand, transcriptOf } from "./transcript.js";
export { type ProcessSnapshot, snapshot } from "./tree.js";
export { type Condition, HTTP_URL, isHttpUrl, type Until } from "./until.js";
export { type Usage, usageOf } from "./usage.js";
export { VIEWER_SECRET, type Viewer, Viewers } from "./viewers.js";
export type { WaitOptions, WaitResult } from "./wait.js";
