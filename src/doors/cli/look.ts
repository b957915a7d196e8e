/** Processes as they are now, wherever they run, for commands that look at them or do something to them. */
import { lastRun } from "../../audit/index.js";
import { HoldfastError, idPrefix, REMOTE_MS } from "../../base/index.js";
import { type Process, processCalled, type Runtime } from "../../process/index.js";
import type { CliCall } from "./command.js";

/** Returns a process by its id, some of its digits, or its name; with --task only names of that task count. */
export async function processOf(call: CliCall, id: string): Promise<Process> {
	const runtime = await call.runtime();
	const process = find(runtime, id, namesOf(call));
	const note = await process.sync(undefined, REMOTE_MS.person);
	if (note !== undefined) call.out.remark(note);
	return process;
}

/** Finds a process. If it was removed, and no list of removed ones has it, the audit may still know what it was. */
function find(runtime: Runtime, id: string, within: { task?: string }): Process {
	try {
		return processCalled(runtime, id, within);
	} catch (error) {
		const digits = error instanceof HoldfastError && error.code === "NOT_FOUND" ? idPrefix(id) : undefined;
		const ran = digits?.length === 12 && !runtime.registry.whenRemoved(id) ? lastRun(runtime.home, `proc_${digits}`) : undefined;
		if (!ran) throw error;
		throw new HoldfastError(
			"NOT_FOUND",
			`proc_${digits} ran at ${ran.at} in task "${ran.task}", and its output is not kept any more; \`holdfast log\` of that task says how it ended`,
			{ cause: error },
		);
	}
}

/** Returns the task whose names count; none: the names of all tasks. */
export const namesOf = ({ values }: Pick<CliCall, "values">): { task?: string } => (typeof values.task === "string" ? { task: values.task } : {});

/** Returns what a person types for a process: its name, if that needs no quotes and does not look like digits of an id, else some digits. */
export const handleOf = ({ id, name }: { readonly id: string; readonly name?: string | undefined }): string =>
	name !== undefined && /^[\w.][\w.-]*$/.test(name) && idPrefix(name) === undefined ? name : id.slice(5, 11);

/** While it is followed: says when its machine becomes unreachable, and when it is back. Returns a function that ends that. */
export function tellOfReach({ out }: Pick<CliCall, "out">, process: Process): () => void {
	const { place } = process.spec;
	let away = process.unreachable !== undefined;
	return process.watch((name) => {
		if (name !== "there" && name !== null) return;
		const reason = process.unreachable?.replace(`cannot reach ${place}: `, "");
		if (away === (reason !== undefined)) return;
		away = reason !== undefined;
		out.remark(away ? `${place} cannot be reached (${reason}); what runs there runs on, and it is tried again` : `${place} is there again`);
	});
}
