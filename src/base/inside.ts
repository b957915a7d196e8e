/** Inside which kept processes this very program runs: by its environment, by those of the programs above it, and by its cgroup. */
import { readProc, readStat, type Stat } from "./proc.js";

const MARKER = /(?:^|\0)HOLDFAST_ID=(proc_[0-9a-f]{12})/;
const GROUP = /proc_[0-9a-f]{12}/g;

/** Returns the ids of all that are found: one of them may have been made up by a command that wants to pass for something else. */
export function keptProcesses(env: NodeJS.ProcessEnv = process.env): string[] {
	const found = new Set(readProc("/proc/self/cgroup")?.match(GROUP) ?? []);
	if (env.HOLDFAST_ID) found.add(env.HOLDFAST_ID);
	let above: Stat | undefined;
	for (let pid = process.pid; pid > 1; pid = above?.ppid ?? 0) {
		const id = MARKER.exec(readProc(`/proc/${pid}/environ`) ?? "")?.[1];
		if (id) found.add(id);
		above = readStat(pid);
	}
	return [...found];
}
