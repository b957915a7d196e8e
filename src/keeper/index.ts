/** Keepers: starting one, the format of the process directory that it writes, and the tools that a machine needs for it. */
export { BEFORE_START, neverStarts, tryAgain } from "./again.js";
export { type Cgroups, type CommandCgroups, findCgroups, serviceUnit } from "./cgroup.js";
export { Claims, desertedBy, FIXED_RECORDS } from "./claims.js";
export { CONTROLLERS, type Controller, limitFile, oomFile, PIDS_EVENTS } from "./controllers.js";
export { ownExit, tookAnother, wasTaken } from "./foreground.js";
export { type Berth, fill, type Held, Keepers, type Launch } from "./keepers.js";
export {
	BLANK_RECORD,
	type Drained,
	type ExitRecord,
	hasStarted,
	type Parts,
	parseDrained,
	procDir,
	RECORD_BYTES,
	readDrained,
	readExit,
	readLimit,
	readParts,
	readState,
	recordParts,
	STARTER_GONE,
	segmentName,
	segmentStarts,
	writeRecord,
} from "./layout.js";
export { loneAt } from "./lone.js";
export { exportLines, type KeptLimits, type Plan, planFiles, type SandboxEntry } from "./plan.js";
export { appendRange, findRange, HOUR_MS, openRanges, type Range, readRanges, retire } from "./ranges.js";
export { asLastSeen, isDead, NO_VITALS, type RemoteState, readRemoteState, type Vitals, writeRemoteState } from "./remote-state.js";
export {
	COMMAND_SHOWN,
	commandOf,
	keyOfPlace,
	readSpec,
	type Spec,
	type SpecLimits,
	siblingOf,
	starterIsGone,
	type Within,
	witnessOf,
	writeSpec,
} from "./spec.js";
export { keeperFile, type Tools, toolsOf } from "./tools.js";
