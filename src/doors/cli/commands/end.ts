import { HoldfastError } from "../../../base/errors.js";
import { counted } from "../../../base/quantity.js";
import type { EndedTask } from "../../../shell/index.js";
import { type Call, type CommandBody, EXIT } from "../command.js";
import { oneLine } from "../output.js";

export const end: CommandBody = {
	name: "end",
	usage: "TASK",
	options: {},
	teach: `
Everything that the task has started is killed with its tree, its persistent shells end, and its sandbox or container is removed
(one that is to be kept is stopped). Logs stay for 7 days. What is called for the task afterwards begins anew.

Exit code: 0 when nothing of it is left, 1 when something is.
\`holdfast ps --all\` and \`holdfast ps --all --shells\` show what tasks have.

Examples
  holdfast end ci-42
  holdfast end default --json`,
	async run(call) {
		const task = taskOf(call);
		const runtime = await call.runtime();
		const { endTask } = await import("../../../shell/index.js");
		const report = await endTask(runtime, task);
		if (call.out.json) call.out.data(report);
		else show(call, report);
		return report.gone ? EXIT.ok : EXIT.failed;
	},
};

function taskOf({ words, values }: Call): string {
	const [word, ...more] = words;
	if (more.length > 0) throw new HoldfastError("INVALID", `only one task is expected, not also "${more.join(" ")}"`);
	if (word !== undefined && values.task !== undefined) throw new HoldfastError("INVALID", "name the task as a word or with --task, not both");
	const task = word ?? values.task;
	if (typeof task !== "string" || task === "")
		throw new HoldfastError(
			"INVALID",
			"name the task that is to end; `holdfast ps --all` shows whose processes there are, and `holdfast ps --all --shells` whose shells",
		);
	return task;
}

function show({ out }: Call, { task, processes, shells, sandboxes, notes, gone }: EndedTask): void {
	for (const item of processes)
		out.line(
			`${item.session_id} ${item.status === "error" ? `still alive: ${item.survivors.join(", ")}` : "ended"}${item.place === "local" ? "" : ` on ${item.place}`}: ${oneLine(item.command, 80)}`,
		);
	for (const { id, kind } of sandboxes) out.line(`${id} ended: the task's sandbox (${kind})`);
	for (const note of notes) out.note(note);
	const what =
		processes.length + shells + sandboxes.length === 0
			? "nothing of it was there"
			: `${counted(processes.length, "process", "processes")}, ${counted(shells, "shell")}`;
	out.line(gone ? `task ${task}: ${what}; nothing is left` : `task ${task}: something is left`);
}
