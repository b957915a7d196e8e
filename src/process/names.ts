/** Names of processes. A process gets its name at the start; a later name is in the file `name` of the process directory. Names are not unique. */
import path from "node:path";
import { HoldfastError, idPrefix, namesIn, readIfThere, writeWhole } from "../base/index.js";
import type { Process } from "./process.js";
import type { Runtime } from "./runtime.js";

/** How many of the processes that ended last are searched for a name. */
const LOOKED_AT = 5_000;

/** Returns the current name. */
export const nameOf = ({ dir, spec }: Pick<Process, "dir" | "spec">): string | undefined =>
	(spec.past ? undefined : readIfThere(path.join(dir, "name"))) ?? spec.name;

/** Renames a process. Throws if the name cannot be a handle, or for a foreground command, whose directory serves other commands. */
export function rename(runtime: Runtime, process: Process, name: string): void {
	if (process.spec.within || process.spec.past || process.spec.kind)
		throw new HoldfastError("INVALID", `${process.id} is a command of a task's shell; only what was started in the background has a name`);
	if (nameOf(process) === name) return;
	checkName(runtime, name, process.spec.task);
	writeWhole(path.join(process.dir, "name"), name);
}

/** Restricts a search to one task; default: every task. */
interface Within {
	readonly task?: string | undefined;
}

/**
 * Finds a process by its id, by 4 or more digits of the id, or by its name. A name means the process that runs under it; if none runs, the one that
 * ended last. Throws NOT_FOUND if there is none, or if the text is ambiguous.
 */
export function processCalled(runtime: Runtime, text: string, within: Within = {}): Process {
	const byId = runtime.registry.matching(text) ?? [];
	const running = runningCalled(runtime, text, within);
	const other = running.find(({ id }) => !byId.some((process) => process.id === id));
	if (byId[0] && other)
		throw new HoldfastError("NOT_FOUND", `"${text}" is the name of ${other.id} and the beginning of ${byId[0].id}; give more digits of the one you mean`);
	if (byId.length > 0) return runtime.get(text);
	if (running.length > 1) {
		const known = running.map(({ id, spec }) => `${id} (task ${spec.task})`).join(", ");
		throw new HoldfastError("NOT_FOUND", `${running.length} running processes are called "${text}": ${known}; give the id of one`);
	}
	const found = running[0] ?? lastCalled(runtime, text, within);
	if (found) return found;
	if (idPrefix(text) !== undefined) return runtime.get(text); // throws NOT_FOUND
	throw new HoldfastError("NOT_FOUND", `"${text}" is not a process id, and no process is called that; \`holdfast ps\` lists those there are`);
}

/** Returns the running processes with this name, newest first. */
export const runningCalled = (runtime: Runtime, name: string, { task }: Within = {}): Process[] =>
	runtime.list({ task: task ?? null, ended: false }).filter((process) => nameOf(process) === name);

function lastCalled({ home, registry }: Runtime, name: string, { task }: Within): Process | undefined {
	let left = LOOKED_AT;
	const hours = namesIn(home.ended).sort((a, b) => Number(b) - Number(a));
	for (const hour of hours)
		for (const ticket of registry.ended(hour).reverse()) {
			if (ticket.ranges) continue;
			if (left-- === 0) return undefined;
			const process = registry.endedProcess(ticket);
			if (process && nameOf(process) === name && (task === undefined || process.spec.task === task)) return process;
		}
	return undefined;
}

/** Throws unless the name can be a handle in this task. */
export function checkName(runtime: Runtime, name: string, task: string = runtime.task): void {
	if (name.trim() === "") throw new HoldfastError("INVALID", "a name is empty; give one that says what runs, such as web");
	if (!isPlain(name)) throw new HoldfastError("INVALID", NOT_PLAIN);
	if (/^proc_/i.test(name) || idPrefix(name) !== undefined)
		throw new HoldfastError("INVALID", `the name "${name}" looks like an id, of which 4 digits are enough; choose another, such as ${suggested(name)}`);
	const [other] = runningCalled(runtime, name, { task });
	if (other)
		throw new HoldfastError(
			"INVALID",
			`${other.id} runs under the name "${name}" in task ${task}; choose another name, or end that one: holdfast kill ${other.id.slice(5, 11)}`,
		);
}

/** Returns false for control characters, which could act on a terminal, and for lone surrogates, which a file cannot hold. */
export const isPlain = (name: string): boolean => !/\p{Cc}|[\ud800-\udfff]/u.test(name);
export const NOT_PLAIN = "a name has a control character, or half of a character, in it; choose one of letters and digits, such as web";

const suggested = (name: string): string => `my-${name.replace(/^proc_/i, "") || "process"}`;
