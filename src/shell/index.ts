/** The room of persistent shells: one kept bash per task runs its foreground commands, one after another, and keeps state. */
export { type EndedTask, endTask } from "./end-task.js";
export { listShells, type ShellItem } from "./list.js";
export { type RunOptions, type RunResult, type ShellContext, Shells } from "./shells.js";
