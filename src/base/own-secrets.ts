/**
 * Removes this program's secrets from /proc. A command that we start runs as the same user and can read the environment and the
 * arguments of its parents; so our own programs keep their secrets in memory only.
 */
import fs from "node:fs";
import { isSecret } from "./environment.js";
import { readProc } from "./proc.js";
import type { Redactor } from "./secrets/index.js";

let own: NodeJS.ProcessEnv = process.env;

/** The environment that this program was started with, secrets included. */
export const ownEnvironment = (): NodeJS.ProcessEnv => own;

/** Hides the secrets of our own programs; not for a library inside another program. `secrets` knows them from then on. Returns false if the kernel does not allow it: they stay readable. */
export function hideOwnSecrets(secrets: Redactor): boolean {
	const secret = Object.entries(process.env).filter(([name, value]) => value !== undefined && isSecret(secrets, name, value));
	const args = process.argv.filter((arg) => secrets.redact(arg) !== arg);
	if (secret.length === 0 && args.length === 0) return true;
	own = { ...process.env };
	for (const [name] of secret) delete process.env[name];
	try {
		wipe([...secret.map(([name, value]) => `${name}=${value}`), ...args]);
		return true;
	} catch {
		return false;
	}
}

/** The strings that the kernel put on our stack at the start: nothing refers to them now. */
function wipe(texts: readonly string[]): void {
	const stat = readProc("/proc/self/stat") ?? "";
	const [argsFrom = 0, , , environmentTo = 0] = stat
		.slice(stat.lastIndexOf(")") + 2)
		.split(" ")
		.slice(45, 49)
		.map(Number);
	if (!(argsFrom > 0 && environmentTo > argsFrom && Number.isSafeInteger(environmentTo))) throw new Error("the kernel does not say where they are");
	const memory = fs.openSync("/proc/self/mem", "r+");
	try {
		const bytes = Buffer.alloc(environmentTo - argsFrom);
		fs.readSync(memory, bytes, 0, bytes.length, argsFrom);
		for (const text of texts) {
			const needle = Buffer.from(`${text}\0`);
			for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1))
				if (at === 0 || bytes[at - 1] === 0) fs.writeSync(memory, Buffer.alloc(needle.length), 0, needle.length, argsFrom + at);
		}
	} finally {
		fs.closeSync(memory);
	}
}
