/** `tasks PATH`: which tasks of a folder or file can be run, and what is wrong with the others. Nothing is started. */
import { KeyRing } from "../../base/index.js";
import { toolsetStates } from "../../setup/index.js";
import { type LoadedTasks, loadTasks, type TaskItem, type TaskProblem } from "../../tasks/index.js";
import { type CallSettings, settingsOf } from "../settings.js";
import type { Call } from "../table.js";

const SHOWN = 60; // characters of a prompt

export async function run(call: Call): Promise<number> {
	const { out, words } = call;
	const { items, problems, warnings } = await checkedTasks(words[0] ?? ".", settingsOf(call));
	if (out.json) {
		out.data({ items: items.map(({ kind, key, digest }) => ({ kind, key, digest })), problems, warnings });
		return problems.length > 0 ? 1 : 0;
	}
	if (items.length > 0)
		out.table(
			["TASK", "KIND", "DIGEST", "ABOUT"],
			items.map((item) => [item.key, item.kind, item.digest.slice(0, 12), aboutOf(item)]),
		);
	for (const warning of warnings) out.note(`${out.style("yellow", "note")}  ${textOf(warning)}`);
	for (const problem of problems) out.note(`${out.style("red", "cannot be run")}  ${textOf(problem)}`);
	const refused = new Set(problems.map(({ at }) => at)).size;
	out.note(`${items.length} can be run${refused > 0 ? `, ${refused} cannot` : ""}`);
	return refused > 0 ? 1 : 0;
}

/** Throws `ToolsetError` if the settings name a toolset that there is not; a row that does is a problem. */
export async function checkedTasks(from: string, { config, home }: CallSettings): Promise<LoadedTasks> {
	const states = await toolsetStates(config, new KeyRing(home));
	return loadTasks(from, { toolsets: new Set(states.map(({ name }) => name)) });
}

export const textOf = ({ at, key, text }: TaskProblem): string => `${at}: ${key ? `${key} ` : ""}${text}`;

function aboutOf(item: TaskItem): string {
	const text =
		item.kind === "harbor" ? (item.task.steps[0]?.instruction ?? item.task.instruction) : item.kind === "swe" ? item.row.problem_statement : item.row.prompt;
	const line = text.split("\n").find((one) => one.trim() !== "") ?? "";
	return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
}
