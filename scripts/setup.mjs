// What a fresh clone needs before anything runs: dependencies, a build, and for the tests some Debian packages.
// Quick when there is nothing to do. Only Node's own modules here: this runs before `npm ci`.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Run a program in the root of the project; ends this one when it fails. */
export function run(program, args, options = {}) {
	const { status, error } = spawnSync(program, args, { cwd: root, stdio: "inherit", ...options });
	if (error) throw error;
	if (status !== 0) process.exit(status ?? 1);
}

export function ensureDependencies() {
	if (isInstalled()) return;
	console.error("installing dependencies …");
	// No install scripts: nothing here has to be compiled (of tree-sitter-bash only its WebAssembly file is used).
	const args = ["ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
	run("npm", args, { stdio: ["ignore", process.stderr, process.stderr] });
}

/** Whether what npm has noted that it installed is what the lock file wants. Packages for other platforms are not installed. */
function isInstalled() {
	const installed = path.join(root, "node_modules", ".package-lock.json"); // written when an install is complete
	if (!fs.existsSync(installed)) return false;
	const [have, want] = [installed, path.join(root, "package-lock.json")].map((file) => JSON.parse(fs.readFileSync(file, "utf8")).packages);
	const fits = ([where, { version, optional }]) => (where in have ? have[where].version === version : optional === true);
	return (
		Object.entries(want)
			.filter(([where]) => where.includes("node_modules/")) // also those that a workspace has for itself
			.every(fits) && Object.keys(have).every((where) => where in want)
	);
}

/** Quick when nothing has changed; else it says what it does. */
export function ensureBuilt() {
	run(process.execPath, [path.join(root, "scripts", "build.mjs")]);
}

/** Debian packages for the tests. Without root nothing is installed: the tests that need one say so and are skipped. */
export function ensurePackages(wanted) {
	const missing = Object.entries(wanted).filter(([, file]) => !fs.existsSync(file));
	if (missing.length === 0) return;
	const names = missing.map(([name]) => name);
	if (process.getuid() !== 0 || !fs.existsSync("/usr/bin/apt-get")) {
		console.error(`not installed: ${names.join(", ")} (needs root and Debian's apt-get); tests that need them are skipped`);
		return;
	}
	console.error(`installing ${names.join(", ")} …`);
	const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
	const quiet = { env, stdio: ["ignore", "ignore", "inherit"] };
	if (spawnSync("apt-get", ["update", "-qq"], quiet).status !== 0) console.error("apt-get update failed; trying to install all the same");
	if (spawnSync("sh", ["-c", INSTALL, "/usr/sbin/policy-rc.d", ...names], quiet).status !== 0) console.error("that failed; tests that need them are skipped");
}

/** Debian starts what it installs (an sshd for all the world) unless a file says no. If there is one it is somebody's own; ours goes also after Ctrl-C. */
const INSTALL = `
if (set -C; printf '#!/bin/sh\\nexit 101\\n' >"$0") 2>/dev/null; then
	trap 'rm -f "$0"' EXIT
	trap 'exit 130' HUP INT TERM
	chmod 755 "$0"
fi
apt-get install -y -qq --no-install-recommends "$@"`;
