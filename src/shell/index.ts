/** The room of persistent shells: one kept bash per task runs its foreground commands, one after another, and keeps state. */
export { type EndedTask, endTask } from "./end-task.js";
export { listShells, type ShellItem } from "./list.js";
export { seatsOf } from "./seat.js";
export { pruneSeats } from "./seats.js";
export { knowShellSecrets } from "./secrets.js";
export { type CommandRequest, type RunResult, type ShellContext, Shells } from "./shells.js";
