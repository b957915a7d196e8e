/** Secrets that only the environment of a task's shell gives away: a program that did not start the shell learns them from the state it has written. */
import path from "node:path";
import { type Home, isSecret, perHome, statIfThere } from "../base/index.js";
import { procDir, type Spec } from "../keeper/index.js";
import { readState, SNAPSHOTS } from "./state.js";

/** Which state was read last, by shell. */
const learned = perHome(() => new Map<string, string>());

/** Masks, from here on, what is secret in the environment of the shell that ran this command. Does nothing for a process that no shell has run. */
export function knowShellSecrets(home: Home, { within, task }: Spec): void {
	if (!within) return;
	const dir = path.join(procDir(home, within.shell), "shell");
	const version = SNAPSHOTS.map((name) => statIfThere(path.join(dir, name))?.mtimeMs).join(" ");
	if (learned(home).get(within.shell) === version) return;
	learned(home).set(within.shell, version);
	for (const [name, value] of Object.entries(readState(dir)?.exported ?? {})) isSecret(home.secrets, name, value, task);
}
