/** Settings that a program has opened its tasks with: `runtime.task(name, settings)`. Shared by the runtimes of all places. */
import type { LimitsAsked } from "../base/index.js";
import type { PlaceGiven } from "../places/index.js";

export interface TaskSettings {
	/** The place of calls that name none. */
	readonly place?: PlaceGiven | undefined;
	/** The user of that place, if not the place's own. */
	readonly user?: string | undefined;
	/** The directory of its first shell, and of processes that are started without one. */
	readonly cwd?: string | undefined;
	/** Added to the environment of its first shell; undefined removes a variable. */
	readonly env?: Readonly<Record<string, string | undefined>> | undefined;
	/** Replaces the limits of the runtime. */
	readonly resourceLimits?: LimitsAsked | undefined;
	readonly mask?: boolean | undefined;
}
