/** What the tasks of a program were opened with: `runtime.task(name, settings)`. Shared by the runtimes of all places. */
import type { LimitsAsked } from "../base/index.js";
import type { PlaceGiven } from "../places/index.js";

export interface TaskSettings {
	/** Where its calls run that name no place. */
	readonly place?: PlaceGiven | undefined;
	/** As which user of that place, if not as the place's own. */
	readonly user?: string | undefined;
	/** Where its first shell starts, and what is started without a directory of its own. */
	readonly cwd?: string | undefined;
	/** On top of the environment of its first shell; undefined removes a variable. */
	readonly env?: Readonly<Record<string, string | undefined>> | undefined;
	/** In place of what the runtime was opened with. */
	readonly resourceLimits?: LimitsAsked | undefined;
	readonly mask?: boolean | undefined;
}
