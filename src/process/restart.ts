/**
 * Processes that restart when they end. The kept process is `keeper/restart.sh`, so a kill also ends the restarts, and all runs share one id and one
 * log.
 */
import fs from "node:fs";
import path from "node:path";
import { counted, HoldfastError, readIfThere, shellQuote } from "../base/index.js";
import { keeperFile, type Tools } from "../keeper/index.js";

export const RESTARTS = ["always", "on-failure"] as const;
export type Restart = (typeof RESTARTS)[number];

/** The record that restart.sh writes. */
export interface Restarts {
	/** `stopped`: by a TERM from outside. */
	readonly state: "running" | "waiting" | "gave-up" | "stopped";
	readonly count: number;
	/** The exit code of the last run. */
	readonly code: number;
}

/** Returns the argv that runs a command repeatedly. Writes the command to a file, so that no process list shows it. */
export function restarting(
	policy: Restart,
	dir: string,
	command: string | readonly string[],
	{ sh, bash, sleep }: Pick<Tools, "sh" | "bash" | "sleep">,
): string[] {
	const text = typeof command === "string" ? command : `exec ${command.map(shellQuote).join(" ")}\n`;
	fs.writeFileSync(path.join(dir, "again"), text, { mode: 0o600 });
	return [sh, keeperFile("restart.sh"), policy, dir, bash ?? sh, sleep];
}

/** Throws unless processes of this place can be restarted: restart.sh runs only on this machine. */
export function checkRestart(isLocal: boolean): void {
	if (!isLocal) throw new HoldfastError("INVALID", "restart: only what runs on this machine, outside of a sandbox, can be started again when it ends");
}

/** Returns the record of restarts; undefined before the first end. */
export function readRestarts(dir: string): Restarts | undefined {
	const [, state, count, code] = /^(running|waiting|gave-up|stopped) (\d+) (\d+) *\n$/.exec(readIfThere(path.join(dir, "restarts")) ?? "") ?? [];
	return state === undefined ? undefined : { state: state as Restarts["state"], count: Number(count), code: Number(code) };
}

/** Returns a note on the restarts for a person; undefined while the process simply runs. `over`: no process of it is left. */
export function restartNote({ state, count, code }: Restarts, over: boolean): string | undefined {
	if (state === "gave-up") return `given up after ${counted(count, "restart")}: it ended soon after its start each time, the last time with code ${code}`;
	return state === "waiting" && !over ? `it ended with code ${code}, and is started again soon` : undefined;
}
