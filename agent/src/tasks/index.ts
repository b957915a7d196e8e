/** Tasks for evaluations: loaded from where they are, checked, and with a digest each. agent/docs/environments.md */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError, openAgentHome } from "../base/index.js";
import { isArchive, unpacked } from "./archive.js";
import { checkedOut, isRepository } from "./checkout.js";
import { isHarborTask, loadHarbor } from "./harbor.js";
import type { LoadedTasks, LoadOptions } from "./item.js";
import { loadRows } from "./rows.js";
import { TERMINAL_TEST, terminalTest } from "./terminal-test.js";

export { folderDigest } from "./folder.js";
export type { HarborStep, HarborTask } from "./harbor.js";
export type { HarborEnvironment, HarborSettings } from "./harbor-schema.js";
export type { LoadedTasks, LoadOptions, PromptRow, TaskItem, TaskProblem } from "./item.js";

export type { SweRow } from "./swe.js";
export { expandVariables } from "./variables.js";

/** The tasks that come with the package. */
const EXAMPLES = "examples";

/** Loads a task, a folder of tasks, a file of rows, or the set that is built in. Throws if there is nothing of the kind. */
export function loadTasks(from: string, options: LoadOptions = {}): LoadedTasks {
	if (from === TERMINAL_TEST) return terminalTest();
	if (from === EXAMPLES) return loadHarbor(fileURLToPath(new URL("../../tasks", import.meta.url)));
	if (isRepository(from)) return loadFolder(checkedOut(from, cacheOf()), from);
	const where = path.resolve(from);
	const stat = fs.statSync(where, { throwIfNoEntry: false });
	if (!stat) throw new AgentError("NOT_FOUND", `there is no ${where}; give a folder of tasks, a .tar.gz of one, the URL of a git repository, or a .jsonl file`);
	if (stat.isDirectory()) return loadFolder(where, where);
	if (isArchive(where)) return loadFolder(unpacked(where, cacheOf()), where);
	return some(loadRows(where, options), where, "it has no rows");
}

/** A folder of tasks may be all that there is in it, as in most archives. */
function loadFolder(folder: string, from: string): LoadedTasks {
	const names = isHarborTask(folder) ? [] : fs.readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== ".git");
	const [only] = names;
	const inner = only?.isDirectory() && names.length === 1 ? path.join(folder, only.name) : folder;
	return some(loadHarbor(inner), from, "no folder in it has a task.toml");
}

function some(loaded: LoadedTasks, from: string, why: string): LoadedTasks {
	if (loaded.items.length + loaded.problems.length === 0) throw new AgentError("INVALID", `${from} has no tasks: ${why}`);
	return loaded;
}

/** Returns the directory of unpacked and cloned tasks. */
const cacheOf = (): string => path.join(openAgentHome().root, "tasks");
