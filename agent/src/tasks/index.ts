/** Tasks for evaluations: loaded from where they are, checked, and with a digest each. agent/docs/tasks.md */
import fs from "node:fs";
import path from "node:path";
import { AgentError } from "../base/index.js";
import { loadHarbor } from "./harbor.js";
import type { LoadedTasks } from "./item.js";
import { loadRows } from "./rows.js";
import { TERMINAL_TEST, terminalTest } from "./terminal-test.js";

export { folderDigest } from "./folder.js";
export type { HarborStep, HarborTask } from "./harbor.js";
export type { HarborEnvironment, HarborSettings } from "./harbor-schema.js";
export type { LoadedTasks, PromptRow, TaskItem, TaskProblem } from "./item.js";

export { expandVariables } from "./variables.js";

/** Loads a task, a folder of tasks, a file of rows, or the set that is built in. Throws if there is nothing of the kind. */
export function loadTasks(from: string): LoadedTasks {
	if (from === TERMINAL_TEST) return terminalTest();
	const where = path.resolve(from);
	const stat = fs.statSync(where, { throwIfNoEntry: false });
	if (!stat) throw new AgentError("NOT_FOUND", `there is no ${where}; give a folder of tasks, or a .jsonl file`);
	const loaded = stat.isDirectory() ? loadHarbor(where) : loadRows(where);
	if (loaded.items.length + loaded.problems.length === 0)
		throw new AgentError("INVALID", `${where} has no tasks: ${stat.isDirectory() ? "no folder in it has a task.toml" : "it has no rows"}`);
	return loaded;
}
