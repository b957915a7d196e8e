import { counted, HoldfastError, REMOTE_MS } from "../../../base/index.js";
import type { Runtime } from "../../../process/index.js";
import type { ShellItem } from "../../../shell/index.js";
import { type CommandBody, EXIT, noWords } from "../command.js";
import { type Output, oneLine } from "../output.js";
import { age, idCell, type Listed, listed, statusCell } from "../waits.js";

export const ps: CommandBody = {
	name: "ps",
	usage: "[--all] [--running | --shells]",
	options: {
		all: { type: "boolean", short: "a", help: "of every task, also with --json" },
		task: { type: "string", value: "NAME", help: "only of this task (default: every task; with --json: default)" },
		running: { type: "boolean", short: "r", help: "leave out those that have ended" },
		shells: { type: "boolean", short: "s", help: "the persistent shells instead: where each is, and what it runs" },
	},
	teach: `
Without --json it lists the processes of every task; --task NAME, those of one. A program on a terminal that waits for input says for what:
waits: line, password or keys, or idle where only its silence says so (--json: waiting_for).
Those that ended stay in the list for 30 minutes from their end; their output stays for 7 days.
Remote processes are refreshed first. If that fails, a note says so and gives the time of the last known state (--json: notes).
A shell belongs to its task, one for each place, and is not in the list of processes. It ends with its task: holdfast end TASK.

Examples
  holdfast ps
  holdfast ps --running --task ci
  holdfast ps --shells
  holdfast ps --all --json | jq -r '.processes[] | select(.status=="running").session_id'`,
	async run(call) {
		noWords(call);
		const { values, out, runtime } = call;
		if (values.shells && values.running) throw new HoldfastError("INVALID", "--running is about processes: shells are listed while they run");
		const opened = await runtime();
		const task = values.all || (!out.json && values.task === undefined) ? null : opened.task;
		const unreached = await opened.sync({ task, shells: values.shells === true, ms: REMOTE_MS.person });
		for (const note of unreached) out.remark(note);
		if (values.shells) {
			const { listShells } = await import("../../../shell/index.js");
			const shells = await listShells(opened, task);
			if (out.json) out.data({ shells });
			else if (shells.length === 0) out.note("no shells; `holdfast terminal -- COMMAND` starts one");
			else shellTable(shells, out, { tasks: task === null });
			return EXIT.ok;
		}
		const processes = await listed(opened.list({ task, ended: !values.running }));
		if (out.json) out.data({ processes });
		else if (processes.length === 0) out.note(noneHere(opened, task));
		else processTable(processes, out, { tasks: task === null, said: unreached });
		return EXIT.ok;
	},
};

/** Returns the text for an empty list: other tasks may have processes. */
function noneHere(runtime: Runtime, task: string | null): string {
	const others = task === null ? [] : runtime.list({ task: null, ended: false });
	const tasks = new Set(others.map(({ spec }) => spec.task)).size;
	if (tasks === 0) return "no processes; start one with `holdfast run --background -- COMMAND`";
	return `no processes in task ${task}; ${counted(others.length, "runs", "run")} in ${counted(tasks, "other task")}: holdfast ps`;
}

const PLACE_CHARS = 30;
const DIRECTORY_CHARS = 40;
const COMMAND_CHARS = 200;

export function processTable(processes: readonly Listed[], out: Output, { tasks, said }: { tasks: boolean; said: readonly string[] }): void {
	const places = processes.some(({ place }) => place !== "local");
	out.table(
		["ID", ...(tasks ? ["TASK"] : []), ...(places ? ["PLACE"] : []), "STATUS", "PID", "RAN", "COMMAND"],
		processes.map((item) => [
			idCell(item, out),
			...(tasks ? [oneLine(item.task, 16)] : []),
			...(places ? [oneLine(item.place, PLACE_CHARS)] : []),
			statusCell(item, out),
			String(item.pid ?? "-"),
			age(item.uptime_seconds),
			oneLine(item.name ? `${item.name}: ${item.command}` : item.command, COMMAND_CHARS),
		]),
		{ drop: ["PID", "RAN", "PLACE", "TASK"] },
	);
	for (const item of processes)
		if (item.note && (item.status === "running" || item.restart) && !said.includes(item.note)) out.note(`${item.session_id}: ${item.note}`);
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
		{ drop: ["PID", "AGE", "PLACE", "TASK", "DIRECTORY"] },
	);
	const whose = [...new Set(shells.map(({ task }) => task))];
	out.note(
		`\`holdfast end ${whose.length === 1 && /^[\w.-]+$/.test(whose[0] as string) ? whose[0] : "TASK"}\` ends a task with its shells and all else it has started`,
	);
}
