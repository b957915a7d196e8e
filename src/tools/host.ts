/** The part of a runtime that tools use, for the place of the call. */
import type { Approvals } from "../approvals/index.js";
import type { Audit } from "../audit/index.js";
import type { Notices } from "../notices/index.js";
import type { Process, Runtime } from "../process/index.js";
import type { Shells } from "../shell/index.js";
import type { Sudo } from "../sudo/index.js";
import type { CallRecords } from "./calls/index.js";
import type { LazyJudge } from "./lazy-judge.js";
import type { Limits } from "./limits.js";
import type { Lines } from "./lines.js";
import type { UnderWay } from "./under-way.js";

/** The place: its processes, and starting new ones. */
type PlaceParts =
	| "task"
	| "wish"
	| "placeName"
	| "directory"
	| "place"
	| "spawn"
	| "get"
	| "list"
	| "sync"
	| "registry"
	| "boxes"
	| "boundary"
	| "machine"
	| "masks";

export interface ToolHost extends Pick<Runtime, "home" | PlaceParts> {
	/** Parts of the home, the same at every place. */
	readonly approvals: Approvals;
	readonly audit: Audit;
	readonly notices: Notices;
	readonly sudo: Sudo;
	readonly judge: LazyJudge;
	readonly calls: CallRecords;
	readonly underWay: UnderWay;
	/** True after the runtime was closed. */
	readonly closed: boolean;
	/** Part of the place. */
	readonly shells: Shells;
	/** Returns the limits of the tools for a task. */
	limitsOf(task: string): Limits;
	/** Answers terminal queries of a program while the runtime is open and the program runs. */
	answerFor(process: Process, options?: { from?: number }): void;
	/** Kills a process after this many milliseconds, unless the runtime is closed before. */
	killLater(process: Process, ms: number): void;
	/** Returns the line index of a process's log, as far as counted. */
	linesOf(process: Process): Lines;
}
