/** `tasks PATH`: which tasks of a folder or file can be run, and what is wrong with the others. Nothing is started. */
import { loadTasks, type TaskItem, type TaskProblem } from "../../tasks/index.js";
import type { Call } from "../table.js";

const SHOWN = 60; // characters of a prompt

export async function run({ out, words }: Call): Promise<number> {
	const { items, problems, warnings } = loadTasks(words[0] ?? ".");
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

const textOf = ({ at, key, text }: TaskProblem): string => `${at}: ${key ? `${key} ` : ""}${text}`;

function aboutOf(item: TaskItem): string {
	const text =
		item.kind === "harbor" ? (item.task.steps[0]?.instruction ?? item.task.instruction) : item.kind === "swe" ? item.row.problem_statement : item.row.prompt;
	const line = text.split("\n").find((one) => one.trim() !== "") ?? "";
	return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
}
