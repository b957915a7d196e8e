/** The resource use of a task, summed over its processes, and its limits. */
import { LIMIT_KINDS, type LimitName, limitText } from "../../base/index.js";
import type { Process } from "../../process/index.js";
import type { ProcessItem, TaskUse } from "./schemas.js";

export const noUse = (): TaskUse => ({ cpu_percent: 0, memory_bytes: 0, processes: 0, seconds: 0, printed_bytes: 0, limits: [] });

/** Adds a process to what its task uses; the newest come first, and have the limits that count now. */
export function addUse(use: TaskUse, process: Process, item: ProcessItem): void {
	if (use.limits.length === 0) use.limits.push(...limitsOf(process));
	if (item.limit) meet(use.limits, item.limit);
	// A shell's own use has that of its commands in it.
	if (item.kind !== "command" && item.kind !== "sandbox" && item.resources) {
		use.cpu_percent += item.resources.cpu_percent ?? 0;
		use.memory_bytes += item.resources.memory_bytes;
		use.processes += item.resources.processes;
	}
	if (item.kind === "shell" || item.kind === "sandbox") return;
	use.seconds += item.uptime_seconds;
	use.printed_bytes += item.total_bytes;
}

function limitsOf({ spec: { limits } }: Process): TaskUse["limits"] {
	if (!limits) return [];
	return (["process", "task"] as const).flatMap((of) =>
		Object.entries(limits[of]).map(([name, value]) => ({ name, of, words: limitText(name as LimitName, value), met: false })),
	);
}

function meet(limits: TaskUse["limits"], { name, of, value }: NonNullable<ProcessItem["limit"]>): void {
	const known = limits.find((limit) => limit.name === name && limit.of === of);
	if (known) known.met = true;
	else if (Object.hasOwn(LIMIT_KINDS, name)) limits.push({ name, of, words: value === null ? "all there is" : limitText(name as LimitName, value), met: true });
}
