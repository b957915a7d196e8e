/** The end of a task: everything that it owned is gone, and a report says what was stopped. */
import { setTimeout as sleep } from "node:timers/promises";
import { Audit } from "../audit/index.js";
import { fromSystem, type Kernel, perHome, type Stat } from "../base/index.js";
import { keyOfPlace } from "../keeper/index.js";
import { lifeOf, type Remembered, rememberedPlaces } from "../places/index.js";
import {
	endTree,
	KILL_GRACE_MS,
	killSummary,
	maskedCommand,
	members,
	type Process,
	type ProcessSnapshot,
	type Runtime,
	Sandboxes,
	snapshot,
} from "../process/index.js";
import { Seat, seatsOf } from "./seat.js";

export interface EndedTask {
	readonly task: string;
	/** Nothing of it is left, as far as could be seen. */
	readonly gone: boolean;
	readonly processes: readonly (ReturnType<typeof killSummary> & { readonly command: string; readonly place: string })[];
	/** How many persistent shells. */
	readonly shells: number;
	readonly sandboxes: readonly { readonly id: string; readonly kind: string }[];
	/** Other things that were stopped, and those that could not be, a sentence each. */
	readonly notes: readonly string[];
}

type Report = { -readonly [Name in keyof EndedTask]: EndedTask[Name] extends readonly (infer Item)[] ? Item[] : EndedTask[Name] };

const ROUNDS = 5; // a caller that still uses the task may start something between two looks
const SEAT_LOOKS = 100;
const LOOK_MS = 50;

const endingIn = perHome(() => new Map<string, Promise<EndedTask>>());

/** Ends a task, once: a caller that asks while it is being ended gets the same report. What is called for the task afterwards begins anew. */
export function endTask(runtime: Runtime, task: string): Promise<EndedTask> {
	const ending = endingIn(runtime.home);
	const under = ending.get(task) ?? end(runtime, task).finally(() => ending.delete(task));
	ending.set(task, under);
	return under;
}

/** This program is ending the task right now. */
export const isEnding = (runtime: Runtime, task: string): boolean => endingIn(runtime.home).has(task);

async function end(runtime: Runtime, task: string): Promise<EndedTask> {
	const report: Report = { task, gone: false, processes: [], shells: 0, sandboxes: [], notes: [] };
	runtime.boxes.giveUp(task);
	const shells = new Set<string>(); // those too that end with the command that they run
	await runtime.sync({ task, shells: true }); // of what has ended with its container nothing needs to be killed
	for (let round = 0; round < ROUNDS && !report.gone && report.notes.length === 0; round++) {
		for (const { id, spec } of runtime.registry.running(task)) if (spec.kind === "shell") shells.add(id);
		const jobs = await findJobs(runtime, task);
		await killAll(runtime, task, report);
		await endShells(runtime, task, report, shells);
		await Promise.all(jobs.map(endJobs));
		report.gone = runtime.registry.running(task).every(({ spec }) => spec.kind === "sandbox");
	}
	report.shells = shells.size;
	const sandboxes = runtime.sandboxes ?? new Sandboxes(runtime);
	report.sandboxes.push(...(await sandboxes.end(task)).map((id) => ({ id, kind: "bubblewrap" })));
	for (const place of rememberedPlaces(runtime.home, task)) if (lifeOf(place.wish)) await endContainer(runtime, place, report);
	await runtime.sync({ task, shells: true }); // what could not be killed may have ended with its container
	const left = runtime.registry.running(task).map(({ id }) => id);
	report.gone = left.length === 0;
	await runtime.forget(task);
	if (!report.gone) {
		report.notes.push(
			`Still running: ${left.join(", ")}. Either something keeps starting processes for this task, or they cannot be killed from here; try again.`,
		);
	}
	return report;
}

interface Jobs {
	readonly kernel: Kernel;
	readonly found: readonly Stat[];
}

/** Background jobs of a shell are found as its descendants, so this looks before its bash is killed with the command that it runs. */
async function findJobs(runtime: Runtime, task: string): Promise<Jobs[]> {
	const shells = runtime.registry.running(task).filter(({ spec }) => spec.kind === "shell");
	return Promise.all(
		shells.map(async ({ kernel, dir, spec, pid }) => {
			const now = await snapshot(kernel).catch(() => undefined); // out of reach: that is said of the shell itself
			if (!now) return { kernel, found: [] };
			return { kernel, found: members(now, dir, spec).flatMap((one) => (one === pid ? [] : (now.stats.get(one) ?? []))) };
		}),
	);
}

async function endJobs({ kernel, found }: Jobs): Promise<void> {
	if (found.length === 0) return;
	const find = (now: ProcessSnapshot) => ({ pids: now.familyOf(found.filter(now.isAlive).map(({ pid }) => pid)), ours: new Set<number>() });
	await endTree({ kernel, find, graceMs: KILL_GRACE_MS });
}

async function killAll(runtime: Runtime, task: string, report: Report): Promise<void> {
	const running = runtime.registry.running(task).filter(({ spec }) => spec.kind === undefined);
	await Promise.all(running.map((process) => killOne(runtime, process, report)));
}

async function killOne(runtime: Runtime, process: Process, report: Report): Promise<void> {
	const known = { command: maskedCommand(process), place: process.spec.place };
	try {
		const result = await process.kill();
		Audit.note(runtime.home, process.spec.task, { event: "killed", session_id: process.id, status: result.status, by: "end of the task" });
		if (!report.processes.some(({ session_id }) => session_id === process.id)) report.processes.push({ ...killSummary(process, result), ...known });
	} catch (error) {
		report.notes.push(`${process.id} (${known.command.slice(0, 80)}) could not be killed: ${fromSystem(error, "kill").message}.`);
	}
}

/** With the seat taken no program starts another shell; the program that has it finds its command killed, and gives the seat back. */
async function endShells(runtime: Runtime, task: string, report: Report, shells: Set<string>): Promise<void> {
	for (const key of seatsOf(runtime, task)) {
		const seat = Seat.of(runtime, task, key);
		let taken = seat.take("end");
		for (let looks = 0; !taken && looks < SEAT_LOOKS; looks++) {
			await sleep(LOOK_MS);
			taken = seat.take("end");
		}
		if (!taken) continue; // it is at work again: the next round
		try {
			for (const shell of runtime.registry.running(task).filter(({ spec }) => spec.kind === "shell" && keyOfPlace(spec) === key)) {
				await shell.kill({ graceMs: 0 }); // an interactive bash heeds nothing else
				shells.add(shell.id);
			}
			seat.clear();
		} catch (error) {
			report.notes.push(`A shell of the task could not be ended: ${fromSystem(error, "kill").message}.`);
		} finally {
			seat.giveBack();
		}
	}
}

async function endContainer(runtime: Runtime, place: Remembered, report: Report): Promise<void> {
	try {
		const stopped = await runtime.boxes.end(place);
		if (stopped.length > 0) report.sandboxes.push({ id: place.key, kind: place.wish.kind });
		report.notes.push(...stopped);
	} catch (error) {
		report.notes.push(`${place.wish.name} could not be stopped: ${fromSystem(error, "stop").message}. \`holdfast sandboxes\` shows what is left.`);
	}
}
