/** The `sudo` that a task's commands find first: the real one, told to ask us for the password. The text of a command stays as it is. */
import fs from "node:fs";
import path from "node:path";
import { asset, ensureDir, readIfThere, shellQuote, writeWhole } from "../base/index.js";

export const ASKPASS = asset("sudo/askpass.mjs");

/** The path of the real sudo; undefined if it is not installed, and for root, who needs no password. */
export function findSudo(env: NodeJS.ProcessEnv = process.env): string | undefined {
	if (process.getuid?.() === 0) return undefined;
	const dirs = [...(env.PATH ?? "").split(":"), "/run/wrappers/bin", "/usr/bin", "/bin"];
	return dirs
		.filter(path.isAbsolute)
		.map((dir) => path.join(dir, "sudo"))
		.find(isSetuid);
}

function isSetuid(file: string): boolean {
	try {
		const stat = fs.statSync(file);
		return stat.isFile() && stat.uid === 0 && (stat.mode & 0o4000) !== 0;
	} catch {
		return false; // there is none, or not for us
	}
}

/** Writes the program if it is missing. Returns the directory for PATH. */
export function writePrograms(root: string, options: { sudo: string; sockets: string }): string {
	const bin = path.join(root, "bin");
	ensureDir(bin);
	const askpass = path.join(root, "askpass");
	// Nothing of the command's environment reaches it.
	install(askpass, `#!/bin/sh\nexec /usr/bin/env -i ${[process.execPath, ASKPASS, options.sockets].map(shellQuote).join(" ")}\n`);
	install(path.join(bin, "sudo"), wrapper(options.sudo, askpass));
	return bin;
}

function install(file: string, text: string): void {
	if (readIfThere(file) !== text) writeWhole(file, text);
	fs.chmodSync(file, 0o700);
}

/** A caller that names the source of the password, or wants none, gets the real sudo unchanged. */
const wrapper = (sudo: string, askpass: string): string => `#!/bin/sh
# sudo, but for the password: Holdfast has it, or says at once that there is none. Made by holdfast; written anew when it changes.
value=
for word in "$@"; do
  if [ -n "$value" ]; then value=; continue; fi
  case $word in
  --askpass | --stdin | --non-interactive) exec ${shellQuote(sudo)} "$@" ;;
  --*) ;;
  -*[!ABbEeHiKklNnPSsVv-]*) case $word in -?) value=1 ;; esac ;; # one with a value
  -*[SnA]*) exec ${shellQuote(sudo)} "$@" ;;
  -*) ;;
  *) break ;;
  esac
done
[ -z "\${SUDO_ASKPASS-}" ] || exec ${shellQuote(sudo)} "$@"
SUDO_ASKPASS=${shellQuote(askpass)}
export SUDO_ASKPASS
exec ${shellQuote(sudo)} -A "$@"
`;
