import { counted, HoldfastError } from "../../../base/index.js";
import type { EndedTask } from "../../../shell/index.js";
import { type CliCall, type CommandBody, EXIT } from "../command.js";
import { oneLine } from "../output.js";
import { ageOption } from "../quantity.js";

export const end: CommandBody = {
	name: "end",
	usage: "TASK | --gone [--older-than AGE]",
	options: {
		gone: { type: "boolean", help: "end every task whose MCP client is gone (holdfast tasks)" },
		"older-than": { type: "string", value: "AGE", help: "with --gone: only of clients that are gone for so long: 30m, 12h, 7d" },
	},
	teach: `
Everything that the task has started is killed with its tree, its persistent shells end, and its sandbox or container is removed
(one that is to be kept is stopped). --gone ends what clients have left that are not connected now: a client that is started again would
otherwise come back to it. Logs stay for 7 days. What is called for the task afterwards begins anew.

Exit code: 0 when nothing of it is left, 1 when something is.
\`holdfast tasks\` lists the tasks, \`holdfast ps\` and \`holdfast ps --shells\` what they have. With --gone --json: {ended: [what end gives for one]}.

Examples
  holdfast end ci-42
  holdfast end default --json
  holdfast end --gone --older-than 7d`,
	async run(call) {
		if (call.values.gone) return endGone(call);
		if (call.values["older-than"] !== undefined) throw new HoldfastError("INVALID", "--older-than goes with --gone");
		const task = taskOf(call);
		const runtime = await call.runtime();
		const { endTask } = await import("../../../shell/index.js");
		const report = await endTask(runtime, task);
		if (call.out.json) call.out.data(report);
		else show(call, report);
		return report.gone ? EXIT.ok : EXIT.failed;
	},
};

async function endGone(call: CliCall): Promise<number> {
	const { words, values, out } = call;
	if (words.length > 0 || values.task !== undefined) throw new HoldfastError("INVALID", "name a task or give --gone, not both");
	const age = ageOption(call, "older-than");
	const runtime = await call.runtime();
	const [{ endTask }, { abandoned, taskList }] = await Promise.all([import("../../../shell/index.js"), import("../tasks.js")]);
	const ended: EndedTask[] = [];
	const left = async () => abandoned(await taskList(runtime), age);
	for (const { task } of await left()) if ((await left()).some((still) => still.task === task)) ended.push(await endTask(runtime, task)); // its client may have come back meanwhile
	if (out.json) out.data({ ended });
	else if (ended.length === 0) out.note(`no task is left by a client that is gone${age === undefined ? "" : " for so long"}`);
	else for (const report of ended) show(call, report);
	return ended.every(({ gone }) => gone) ? EXIT.ok : EXIT.failed;
}

function taskOf({ words, values }: CliCall): string {
	const [word, ...more] = words;
	if (more.length > 0) throw new HoldfastError("INVALID", `only one task is expected, not also "${more.join(" ")}"`);
	if (word !== undefined && values.task !== undefined) throw new HoldfastError("INVALID", "name the task as a word or with --task, not both");
	const task = word ?? values.task;
	if (typeof task !== "string" || task === "") throw new HoldfastError("INVALID", "name the task that is to end; `holdfast tasks` lists those there are");
	return task;
}

function show({ out }: CliCall, { task, processes, shells, sandboxes, notes, gone }: EndedTask): void {
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
