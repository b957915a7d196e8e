/** Measures what a process and its descendants use now, cheaply: by its cgroup, or else by a walk down from the command. */
import fs from "node:fs";
import path from "node:path";
import { isThere, type Kernel, parseStat } from "../base/index.js";
import { commandOf, readParts, type Spec } from "../keeper/index.js";

export interface Usage {
	/** CPU time so far, in seconds of one core. Only its growth is meaningful: exited processes may be missing. */
	readonly cpuSeconds: number;
	/** Resident memory; shared memory counts once for each process. */
	readonly memoryBytes: number;
	readonly processes: number;
}

const TICKS = 100; // USER_HZ, the same on every Linux
const MOST = 2_000; // most processes measured

/** Returns undefined if there is no process, or if it cannot be seen from this machine. */
export async function usageOf(kernel: Kernel, dir: string, spec: Spec): Promise<Usage | undefined> {
	const command = commandOf(readParts(dir), spec);
	if (!command) return undefined;
	const [own] = await kernel.read([`/proc/${command.pid}/stat`]);
	if (!isThere(parseStat(own ?? ""), command)) return undefined;
	const pids = (!spec.within && groupOf(spec.cgroup)) || (await kernel.family(command.pid, MOST)).map(({ pid }) => pid);
	let [ticks, kib, processes] = [0, 0, 0];
	// Takes memory from `status`, in KiB: `stat` counts pages, whose size differs between machines.
	for (const text of await kernel.read(pids.slice(0, MOST).flatMap((pid) => [`/proc/${pid}/stat`, `/proc/${pid}/status`]))) {
		const resident = /^VmRSS:\s*(\d+)/m.exec(text ?? "");
		if (resident) kib += Number(resident[1]);
		if (text === undefined || !/^\d+ \(/.test(text)) continue;
		const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
		ticks += Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]);
		processes++;
	}
	const group = spec.within ? undefined : cpuOf(spec.cgroup);
	return processes === 0 ? undefined : { cpuSeconds: group ?? ticks / TICKS, memoryBytes: kib * 1024, processes };
}

function groupOf(group: string | undefined): number[] | undefined {
	if (group === undefined) return undefined;
	try {
		const pids = fs.readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
		return pids.length > 0 ? pids : undefined;
	} catch {
		return undefined; // removed
	}
}

function cpuOf(group: string | undefined): number | undefined {
	if (group === undefined) return undefined;
	try {
		const usec = /^usage_usec (\d+)/m.exec(fs.readFileSync(path.join(group, "cpu.stat"), "utf8"))?.[1];
		return usec === undefined ? undefined : Number(usec) / 1e6;
	} catch {
		return undefined; // removed, or an older kernel
	}
}
