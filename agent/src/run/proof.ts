/** The proof that a run has left nothing: no kept process, no process that names its folder. It is believed only after it has found what was planted. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Runtime } from "holdfast";
import { errno } from "../base/index.js";

const LEAVING_MS = 60_000; // a busy machine; a clean run waits for nothing
const LOOK_MS = 50;

export interface Proof {
	/** Whether the look found the process that was planted for it. Without that it proves nothing. */
	readonly control: boolean;
	/** Kept processes and shells of the run's home that run. */
	readonly kept: readonly string[];
	/** Other processes whose directory, environment or arguments are of the run: pid and command. */
	readonly processes: readonly string[];
}

export const isClean = ({ control, kept, processes }: Proof): boolean => control && kept.length === 0 && processes.length === 0;

/** Kept processes and shells that run. */
export const keptIn = (runtime: Runtime): string[] => runtime.list({ task: null, shells: true, ended: false }).map(({ id, spec }) => `${id} ${spec.task}`);

/**
 * Looks when the runtime is closed: keepers that it had ready leave then, and are waited for. `folders` are the run's own, which no other program has a reason
 * to be in; the first is where the control is planted.
 */
export async function prove(kept: readonly string[], folders: readonly [string, ...string[]], leavingMs = LEAVING_MS): Promise<Proof> {
	const planted = spawn("sleep", ["3600"], { cwd: folders[0], stdio: "ignore" });
	await once(planted, "spawn");
	try {
		const others = (): number => processesOf(folders).filter(({ pid }) => pid !== planted.pid).length;
		for (const ends = Date.now() + leavingMs; others() > 0 && Date.now() < ends; ) await sleep(LOOK_MS);
		const found = processesOf(folders);
		return { control: found.some(({ pid }) => pid === planted.pid), kept, processes: found.filter(({ pid }) => pid !== planted.pid).map(({ text }) => text) };
	} finally {
		planted.kill("SIGKILL");
		await once(planted, "exit");
	}
}

function processesOf(folders: readonly string[]): { pid: number; text: string }[] {
	const found: { pid: number; text: string }[] = [];
	const above = ancestors(); // their arguments name the run, since they have started it
	for (const name of fs.readdirSync("/proc")) {
		const pid = Number(name);
		if (!Number.isInteger(pid) || above.has(pid)) continue;
		const command = read(`/proc/${name}/cmdline`).replaceAll("\0", " ").trim();
		const names = [command, read(`/proc/${name}/environ`), `${link(`/proc/${name}/cwd`)}/`];
		if (folders.some((folder) => names.some((text) => text.includes(`${folder}/`) || text.endsWith(folder))))
			found.push({ pid, text: `${name} ${command.slice(0, 200)}` });
	}
	return found;
}

function ancestors(): Set<number> {
	const above = new Set<number>();
	for (let pid = process.pid; pid > 0 && !above.has(pid); pid = Number(/\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1] ?? 0)) above.add(pid);
	return above;
}

function read(file: string): string {
	try {
		return fs.readFileSync(file, "latin1");
	} catch (error) {
		if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(errno(error) ?? "")) return ""; // it has ended, or is another user's
		throw error;
	}
}

function link(file: string): string {
	try {
		return fs.readlinkSync(file);
	} catch {
		return ""; // as above
	}
}
