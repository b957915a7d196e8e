import { HoldfastError } from "../../../base/errors.js";
import { counted } from "../../../base/quantity.js";
import type { Runtime } from "../../../process/runtime.js";
import { type Summary, summary } from "../../../process/summary.js";
import type { ShellItem } from "../../../shell/index.js";
import { type CommandBody, EXIT, noWords } from "../command.js";
import { PATIENCE_MS } from "../look.js";
import { type Output, oneLine } from "../output.js";

export const ps: CommandBody = {
	name: "ps",
	usage: "[--all] [--running | --shells]",
	options: {
		all: { type: "boolean", short: "a", help: "of every task, not only this one" },
		running: { type: "boolean", short: "r", help: "leave out those that have ended" },
		shells: { type: "boolean", short: "s", help: "the persistent shells instead: where each is, and what it runs" },
	},
	teach: `
Those that ended stay in the list for 30 minutes from their end; their output stays for 7 days.
Remote processes are refreshed first. If that fails, a note says so and gives the time of the last known state (--json: notes).
A shell belongs to its task, one for each place, and is not in the list of processes. It ends with its task: holdfast end TASK.

Examples
  holdfast ps
  holdfast ps --shells --all
  holdfast ps --all --json | jq -r '.processes[] | select(.status=="running").session_id'`,
	async run(call) {
		noWords(call);
		const { values, out, runtime } = call;
		if (values.shells && values.running) throw new HoldfastError("INVALID", "--running is about processes: shells are listed while they run");
		const opened = await runtime();
		const unreached = await opened.sync({ ...(values.all ? { task: null } : {}), shells: values.shells === true, ms: PATIENCE_MS });
		for (const note of unreached) out.remark(note);
		if (values.shells) {
			const { listShells } = await import("../../../shell/index.js");
			const shells = await listShells(opened, values.all ? null : opened.task);
			if (out.json) out.data({ shells });
			else if (shells.length === 0) out.note("no shells; `holdfast terminal -- COMMAND` starts one");
			else shellTable(shells, out, { tasks: values.all === true });
			return EXIT.ok;
		}
		const list = opened.list({ ...(values.all ? { task: null } : {}), ended: !values.running });
		const processes = list.map((process) => summary(process));
		if (out.json) out.data({ processes });
		else if (processes.length === 0) out.note(noneHere(opened));
		else table(processes, out, { tasks: values.all === true, said: unreached });
		return EXIT.ok;
	},
};

/** What to say when the task has no processes: others may have some. */
function noneHere(runtime: Runtime): string {
	const others = runtime.list({ task: null, ended: false });
	const tasks = new Set(others.map(({ spec }) => spec.task)).size;
	if (tasks === 0) return "no processes; start one with `holdfast run --background -- COMMAND`";
	return `no processes in task ${runtime.task}; ${counted(others.length, "runs", "run")} in ${counted(tasks, "other task")}: holdfast ps --all`;
}

const PLACE_CHARS = 30;
const DIRECTORY_CHARS = 40;
const COMMAND_CHARS = 200;

function table(processes: readonly Summary[], out: Output, { tasks, said }: { tasks: boolean; said: readonly string[] }): void {
	const places = processes.some(({ place }) => place !== "local");
	out.table(
		["ID", ...(tasks ? ["TASK"] : []), ...(places ? ["PLACE"] : []), "STATUS", "PID", "RAN", "COMMAND"],
		processes.map((item) => [
			item.session_id,
			...(tasks ? [oneLine(item.task, 16)] : []),
			...(places ? [oneLine(item.place, PLACE_CHARS)] : []),
			statusCell(item, out),
			String(item.pid ?? "-"),
			age(item.uptime_seconds),
			oneLine(item.name ? `${item.name}: ${item.command}` : item.command, COMMAND_CHARS),
		]),
	);
	for (const item of processes) if (item.note && item.status === "running" && !said.includes(item.note)) out.note(`${item.session_id}: ${item.note}`);
}

function shellTable(shells: readonly ShellItem[], out: Output, { tasks }: { tasks: boolean }): void {
	const places = shells.some(({ place }) => place !== "local");
	out.table(
		["ID", ...(tasks ? ["TASK"] : []), ...(places ? ["PLACE"] : []), "PID", "AGE", "DIRECTORY", "RUNS"],
		shells.map((item) => [
			item.session_id,
			...(tasks ? [oneLine(item.task, 16)] : []),
			...(places ? [oneLine(item.place, PLACE_CHARS)] : []),
			String(item.pid ?? "-"),
			age(item.uptime_seconds),
			oneLine(item.cwd ?? "?", DIRECTORY_CHARS),
			item.runs ? `${item.runs.session_id}: ${oneLine(item.runs.command, 60)}` : item.current ? "nothing" : "nothing, and ends",
		]),
	);
	const whose = [...new Set(shells.map(({ task }) => task))];
	out.note(
		`\`holdfast end ${whose.length === 1 && /^[\w.-]+$/.test(whose[0] as string) ? whose[0] : "TASK"}\` ends a task with its shells and all else it has started`,
	);
}

export function statusCell(item: Summary, out: Output): string {
	const ending = item.limit && item.status === "killed" ? item.limit.name : (item.signal ?? (item.exit_code === null ? "" : String(item.exit_code)));
	const text = item.status === "running" ? (item.note?.startsWith("paused") ? "paused" : "running") : `${item.status}${ending ? ` ${ending}` : ""}`;
	return out.style(item.status === "running" ? "green" : item.exit_code === 0 ? "dim" : "red", text);
}

function age(seconds: number): string {
	if (seconds < 120) return `${seconds}s`;
	if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
	if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
	return `${Math.floor(seconds / 86_400)}d`;
}
