/** Whether this very program runs inside of something that Holdfast keeps: there an agent's commands run, and an answer from there is nobody's. */
import { readProc, readStat, type Stat } from "../../base/proc.js";

const MARKER = /(?:^|\0)HOLDFAST_ID=(proc_[0-9a-f]{12})/;
const GROUP = /(proc_[0-9a-f]{12})/;

/** The process it is in; undefined when it is in none, as far as its environment, those above it and its control group tell. */
export function keptProcess(env: NodeJS.ProcessEnv = process.env): string | undefined {
	if (env.HOLDFAST_ID) return env.HOLDFAST_ID;
	const group = GROUP.exec(readProc("/proc/self/cgroup") ?? "")?.[1];
	if (group) return group;
	let above: Stat | undefined;
	for (let pid = process.pid; pid > 1; pid = above?.ppid ?? 0) {
		const id = MARKER.exec(readProc(`/proc/${pid}/environ`) ?? "")?.[1];
		if (id) return id;
		above = readStat(pid);
	}
	return undefined;
}
