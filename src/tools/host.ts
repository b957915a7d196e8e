/** What a tool is given to work with: the runtime of the place that its call is for, as far as tools need it. */
import type { Approvals } from "../approvals/index.js";
import type { Audit } from "../audit/index.js";
import type { Notices } from "../notices/index.js";
import type { Process, Runtime } from "../process/index.js";
import type { Shells } from "../shell/index.js";
import type { Sudo } from "../sudo/index.js";
import type { CallRecords } from "./calls/index.js";
import type { Gate } from "./gate.js";
import type { Limits } from "./limits.js";
import type { Lines } from "./lines.js";
import type { UnderWay } from "./under-way.js";

/** The place: its processes, and what can be started there. */
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
	/** Of the home: the same at every place. */
	readonly approvals: Approvals;
	readonly audit: Audit;
	readonly notices: Notices;
	readonly sudo: Sudo;
	readonly gate: Gate;
	readonly calls: CallRecords;
	readonly underWay: UnderWay;
	/** The runtime was closed. */
	readonly closed: boolean;
	/** Of the place. */
	readonly shells: Shells;
	/** Returns the numbers of the tools, for a task. */
	limitsOf(task: string): Limits;
	/** Answers what a program asks its terminal, while the runtime is open and the program runs. */
	answerFor(process: Process, options?: { from?: number }): void;
	/** Kills a process after so many milliseconds, unless the runtime is closed before. */
	killLater(process: Process, ms: number): void;
	/** Returns where the lines of its log are, as far as they have been counted. */
	linesOf(process: Process): Lines;
}
