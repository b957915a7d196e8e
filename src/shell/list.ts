/** The persistent shells of tasks, as lists show them. */
import { type Process, type Runtime, standing } from "../process/index.js";
import { directoryOfShell } from "./bash.js";
import { currentOf } from "./seat.js";

export interface ShellItem {
	readonly session_id: string;
	readonly task: string;
	readonly place: string;
	readonly pid: number | null;
	/** The next command of the task goes to this shell; another one was for one command alone, and ends with it. */
	readonly current: boolean;
	/** Its working directory; null if that could not be found out. */
	readonly cwd: string | null;
	/** The command that it runs at the moment. */
	readonly runs: { readonly session_id: string; readonly command: string } | null;
	readonly started_at: string;
	readonly uptime_seconds: number;
	readonly note?: string;
}

/** Newest first. `null`: of every task. Those on other machines as they were last seen. */
export async function listShells(runtime: Runtime, task: string | null): Promise<ShellItem[]> {
	const live = runtime.list({ task, shells: true, ended: false });
	return Promise.all(live.filter(({ spec }) => spec.kind === "shell").map((shell) => itemOf(runtime, shell, live)));
}

async function itemOf(runtime: Runtime, shell: Process, live: readonly Process[]): Promise<ShellItem> {
	const { session_id, task, place, pid, started_at, uptime_seconds, note } = standing(shell);
	const command = live.find(({ spec }) => spec.within?.shell === shell.id);
	const cwd = pid === null || shell.unreachable !== undefined ? null : await directoryOfShell(shell, pid).catch(() => null); // it ends, or so does the line
	return {
		session_id,
		task,
		place,
		pid,
		current: currentOf(runtime, shell.spec) === shell.id,
		cwd: cwd === null ? null : shell.secrets.redact(cwd),
		runs: command ? { session_id: command.id, command: standing(command).command } : null,
		started_at,
		uptime_seconds,
		...(note ? { note } : {}),
	};
}
