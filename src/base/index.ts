/** The basis of every room: errors, ids, the home directory, files, /proc, watches, deadlines, limits, leases. Secrets have a room of their own below it. */
export { HarmlessText, plainText, SEQUENCE } from "./ansi.js";
export { asset } from "./asset.js";
export { compileBaseline, compileEverythingBaseline } from "./baseline.js";
export { byName } from "./by-name.js";
export { columnsOf, fitted } from "./columns.js";
export {
	type Config,
	configDir,
	configFile,
	loadConfig,
	type NotifyTarget,
	type Places,
	readJson,
	type SandboxOptions,
	type SandboxSettings,
	sandboxSchema,
} from "./config.js";
export { diffLines } from "./diff.js";
export { Deadlines } from "./due.js";
export { childEnvironment, isSecret, knowOwnSecrets } from "./environment.js";
export { ERRORS, type ErrorCode, errno, fromSystem, HoldfastError } from "./errors.js";
export { writeAtOnce, writeFifo } from "./fifo.js";
export {
	ensureDir,
	identityOf,
	isSameFile,
	namesIn,
	ownDirectory,
	readIfThere,
	readStart,
	realPath,
	removeDir,
	statIfThere,
	unlinkIfThere,
	versionOf,
	writeWhole,
} from "./files.js";
export { defaultHome, type Home, makeHome, openHome, ownHome } from "./home.js";
export { COMMANDS_PER_SLOT, commandId, idPrefix, isId, newId, ownerOf, taskKey } from "./ids.js";
export { onlyThese } from "./inherited.js";
export { keptProcesses } from "./inside.js";
export { type Delivery, type Inode, isLiving, isThere, type Kernel, markerIn, type Sent, type Table } from "./kernel.js";
export { lazy } from "./lazy.js";
export { Lease } from "./lease.js";
export {
	LIMIT_KINDS,
	type LimitName,
	type LimitsAsked,
	type LimitsGiven,
	type LimitsInForce,
	limitsSchema,
	limitText,
	type ProcessLimitsAsked,
	type ProcessLimitsGiven,
	processLimitsSchema,
} from "./limits.js";
export { localKernel, localTable } from "./local-kernel.js";
export { findProgram, ownCommandLine, ownName, ownPath, ownProgram } from "./own-program.js";
export { hideOwnSecrets, ownEnvironment } from "./own-secrets.js";
export { perHome } from "./per-home.js";
export { isProgramGone, showLife, sweepPresence } from "./presence.js";
export { readPrivate } from "./private-file.js";
export { aSignal, checked, parseOptions, TYPE_WORDS } from "./problems.js";
export {
	childrenOf,
	type HostIdentity,
	hostIdentity,
	type Identity,
	isAlive,
	linkOf,
	ProcFile,
	parseStat,
	readProc,
	readStat,
	readsStdin,
	type Stat,
	sameHost,
	sendSignal,
	sendSignalTo,
} from "./proc.js";
export { counted, parseAge, parseSeconds, parseSize, sizeText, timeText } from "./quantity.js";
export { shellQuote } from "./quote.js";
export { anySignal } from "./signals.js";
export { soon } from "./soon.js";
export { isTaskName, TASK_NAME, Utf8Stream, utf8, visible, wholeCharacters } from "./text.js";
export { DRAIN_MS, REMOTE_MS } from "./times.js";
export { typos } from "./typos.js";
export { until, type Watch, watchAll, watchEnd } from "./until.js";
export { packageVersion } from "./version.js";
export { type DirectoryWatch, Wakeup } from "./watch.js";
export { here, isGone, me, whoAtEnd } from "./who.js";
