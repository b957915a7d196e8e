/**
 * The proof that a run has left nothing: no kept process, no sandbox or container, no mount, no process that names its folder. It is believed only after each
 * look has found what was planted for it: a process on every place that was used, and one in the run's folder that no task has.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Runtime } from "holdfast";
import { errno } from "../base/index.js";
import { makesBoxes, placeName, type RunPlace } from "./places.js";

const LEAVING_MS = 90_000; // a busy machine, or a connection over SSH that stays for a minute; a clean run waits for nothing
const LOOK_MS = 50;

/** The process that was planted on a place, and whether the look found it. */
export interface Control {
	readonly place: string;
	readonly found: boolean;
	/** Why not. */
	readonly why?: string;
}

export interface Leftover {
	/** Kept processes and shells of the run's home that run. */
	readonly kept: readonly string[];
	/** Sandboxes and containers of the run's home, on every engine that it has used. */
	readonly sandboxes: readonly string[];
	readonly controls: readonly Control[];
}

export interface Proof extends Leftover {
	/** Whether every look found what was planted for it. Without that it proves nothing. */
	readonly control: boolean;
	/** Other processes whose directory, environment or arguments are of the run: pid and command. */
	readonly processes: readonly string[];
	/** Mounts below its folder. */
	readonly mounts: readonly string[];
}

export const isClean = ({ control, kept, sandboxes, processes, mounts }: Proof): boolean =>
	control && [kept, sandboxes, processes, mounts].every((left) => left.length === 0);

/** Returns the proof in words, a line each. */
export function proofWords(proof: Proof): string[] {
	if (isClean(proof)) return ["nothing is left: the look found what was planted for it, and nothing else"];
	const blind = proof.controls.filter(({ found }) => !found).map(({ place, why }) => `not proven for ${place}: ${why}`);
	if (!proof.control && blind.length === 0) blind.push("not proven: the look did not find the process that was planted for it");
	return [...blind, ...[...proof.kept, ...proof.sandboxes, ...proof.processes, ...proof.mounts].map((line) => `left: ${line}`)];
}

/** Returns the home's running processes, with shells, and its boxes. Rejects if an engine cannot be looked at. */
export async function leftIn(runtime: Runtime): Promise<Omit<Leftover, "controls">> {
	const kept = runtime.list({ task: null, shells: true, ended: false }).map(({ id, spec }) => `${id} ${spec.task}`);
	const { sandboxes } = await runtime.sandboxes();
	return { kept, sandboxes: sandboxes.flatMap((one) => (one.home === runtime.home.root ? [`${one.kind} ${one.id} ${one.task ?? ""}`.trim()] : [])) };
}

/** Starts a process on each place, looks whether the look at what is left finds it, with its box if the place makes one, and ends it. */
export async function plantControls(runtime: Runtime, places: readonly RunPlace[], task: string): Promise<Control[]> {
	return Promise.all(places.map((place, at) => plant(runtime, place, `${task}.${at}`)));
}

async function plant(runtime: Runtime, place: RunPlace, name: string): Promise<Control> {
	const shown = { place: placeName(place) };
	try {
		const { id } = await runtime.task(name, { place }).spawn({ command: "exec sleep 3600" });
		const { kept, sandboxes } = await leftIn(runtime);
		if (!kept.some((line) => line.startsWith(id))) return { ...shown, found: false, why: `the look did not find ${id}, which was planted there` };
		if (makesBoxes(place) && !sandboxes.some((line) => line.endsWith(` ${name}`)))
			return { ...shown, found: false, why: "the look did not find the box that was made there" };
		return { ...shown, found: true };
	} catch (error) {
		return { ...shown, found: false, why: (error as Error).message };
	} finally {
		await runtime.endTask(name);
	}
}

/**
 * Looks when the runtime is closed: keepers that it had ready leave then, and are waited for. `folders` are the run's own, which no other program has a reason
 * to be in; the first is where the control is planted.
 */
export async function prove(left: Leftover, folders: readonly [string, ...string[]], leavingMs = LEAVING_MS): Promise<Proof> {
	const planted = spawn("sleep", ["3600"], { cwd: folders[0], stdio: "ignore" });
	await once(planted, "spawn");
	try {
		const others = (): number => processesOf(folders).filter(({ pid }) => pid !== planted.pid).length;
		const patience = left.kept.length > 0 ? 0 : leavingMs; // it is not clean whoever leaves
		for (const ends = Date.now() + patience; others() > 0 && Date.now() < ends; ) await sleep(LOOK_MS);
		const found = processesOf(folders);
		return {
			...left,
			control: found.some(({ pid }) => pid === planted.pid) && left.controls.every((one) => one.found),
			processes: found.filter(({ pid }) => pid !== planted.pid).map(({ text }) => text),
			mounts: mountsIn(folders),
		};
	} finally {
		planted.kill("SIGKILL");
		await once(planted, "exit");
	}
}

function mountsIn(folders: readonly string[]): string[] {
	const points = read("/proc/self/mountinfo")
		.split("\n")
		.flatMap((line) => line.split(" ")[4] ?? [])
		.map((point) => point.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))));
	return points.filter((point) => folders.some((folder) => point.startsWith(`${folder}/`)));
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
