/** The tasks that a home knows something of: those that have a process, and those that the audit has a file of. */
import path from "node:path";
import { HoldfastError, namesIn, readStart, statIfThere, taskKey, typos } from "../base/index.js";
import type { Runtime } from "../process/index.js";

const NAMED = 2; // tasks in a question
const LISTED = 5; // and in an answer that has none to ask about
const LINE_BYTES = 16 * 1024;

export function knownTasks(runtime: Runtime): string[] {
	const { audit } = runtime.home;
	const names = new Set(runtime.list({ task: null, shells: true }).map(({ spec }) => spec.task));
	for (const name of namesIn(audit)) {
		const task = name.endsWith(".jsonl") ? taskIn(path.join(audit, name)) : undefined;
		if (task !== undefined) names.add(task);
	}
	return [...names].sort();
}

/** The tasks that have a transcript, with when each was last active: the one that was active last comes first. */
export function recordedTasks({ home, registry }: Runtime, most: number): { readonly task: string; readonly last_activity: string }[] {
	const found = new Map<string, { at: number; readonly names: (() => string | undefined)[] }>();
	const add = (key: string, at: number, name: () => string | undefined): void => {
		const known = found.get(key);
		found.set(key, { at: Math.max(at, known?.at ?? 0), names: [...(known?.names ?? []), name] });
	};
	for (const { spec } of registry.running()) if (spec.kind === undefined) add(taskKey(spec.task), spec.startedAt, () => spec.task);
	for (const [key, ticket] of registry.lastEnded()) add(key, ticket.endedAt, () => registry.endedProcess(ticket)?.spec.task);
	for (const name of namesIn(home.audit)) {
		const file = path.join(home.audit, name);
		const key = /^([0-9a-f]+)\.jsonl$/.exec(name)?.[1];
		if (key !== undefined) add(key, statIfThere(file)?.mtimeMs ?? 0, () => taskIn(file));
	}
	return [...found.values()]
		.sort((a, b) => b.at - a.at)
		.slice(0, most)
		.flatMap(({ at, names }) => {
			let task: string | undefined;
			for (const name of names) task ??= name();
			return task === undefined ? [] : [{ task, last_activity: new Date(at).toISOString() }];
		});
}

/** Each line says whose it is, at its beginning. */
export function taskIn(file: string): string | undefined {
	try {
		const text = /^\{"at":"[^"]*","task":("(?:[^"\\]|\\.)*")/.exec(readStart(file, LINE_BYTES))?.[1];
		return text === undefined ? undefined : JSON.parse(text);
	} catch {
		return undefined; // it has just been replaced, or a full disk has cut it
	}
}

/** Throws NOT_FOUND, with the tasks that may be meant, if a home knows nothing of a task. */
export function mustBeKnown(runtime: Runtime, task: string): void {
	if (namesIn(runtime.home.audit).some((name) => name.startsWith(taskKey(task)))) return;
	const known = knownTasks(runtime);
	if (known.includes(task)) return;
	const shown = (name: string) => JSON.stringify(name);
	const near = nearest(task, known).slice(0, NAMED);
	const others = `there are ${known.slice(0, LISTED).map(shown).join(", ")}${known.length > LISTED ? `, and ${known.length - LISTED} more` : ""}`;
	const hint = near.length > 0 ? `did you mean ${near.map(shown).join(" or ")}?` : known.length === 0 ? "no task has done anything yet" : others;
	throw new HoldfastError("NOT_FOUND", `there is no task ${shown(task)}; ${hint}`);
}

/** Returns the known names that begin with it or contain it, then those that differ by few letters. */
function nearest(task: string, known: readonly string[]): string[] {
	const wanted = task.toLowerCase();
	const has = known.filter((name) => wanted !== "" && name.toLowerCase().includes(wanted));
	const most = Math.max(1, Math.floor(task.length / 3));
	return [...has, ...known.filter((name) => !has.includes(name) && typos(wanted, name.toLowerCase()) <= most)];
}
