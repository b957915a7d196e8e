/** Determines how audited processes ended, for ends that no program has recorded. */
import type { EndOf } from "../audit/index.js";
import { endOf } from "./registry.js";
import type { Runtime } from "./runtime.js";
import { isOver } from "./status.js";

/** Returns how a process ended; undefined while it runs, null if its record is gone. */
export const endsIn =
	(runtime: Runtime): EndOf =>
	(id) => {
		const process = runtime.registry.matching(id)?.[0];
		if (!process) return null;
		const status = process.status();
		return isOver(status) ? endOf(process.spec, status) : undefined;
	};
