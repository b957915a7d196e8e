// What a test run leaves when it is interrupted: daemons that tests share, and whatever their tests had just started. All of it names the run's directory.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

/** Kills every process of the run with its descendants, unmounts its directory and what is below it, and removes that. Returns how many processes there were. */
export function sweep(root) {
	const killed = new Set();
	for (let found = processesOf(root); found.length > 0; found = processesOf(root)) {
		if (found.every((pid) => killed.has(pid))) break; // in the kernel, where no signal reaches them
		for (const pid of found) {
			killed.add(pid);
			try {
				process.kill(pid, "SIGKILL");
			} catch {
				// It has just ended.
			}
		}
		spawnSync("sleep", ["0.1"]);
	}
	for (const line of read("/proc/self/mounts").split("\n").reverse()) {
		const [, where] = line.split(" ");
		if (where === root || where?.startsWith(`${root}/`)) spawnSync("umount", ["-l", where]);
	}
	fs.rmSync(root, { recursive: true, force: true });
	return killed.size;
}

const CGROUPS = "/sys/fs/cgroup";

/** The control groups of homes, in each hierarchy: one that was removed with its runtime killed leaves them behind. */
export const homeGroups = () =>
	["", ...namesIn(CGROUPS)].map((name) => path.join(CGROUPS, name, "holdfast")).flatMap((dir) => namesIn(dir).map((name) => path.join(dir, name)));

/** Removes the empty ones, which a directory with a process in it or below it is not, of those that were not there `before`. */
export function sweepGroups(before) {
	for (const group of homeGroups())
		if (!before.includes(group)) spawnSync("find", [group, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+"], { stdio: "ignore" });
}

function namesIn(dir) {
	try {
		return fs.readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
	} catch {
		return []; // not there, or not ours
	}
}

function processesOf(root) {
	const parents = new Map();
	const found = new Set();
	for (const name of fs.readdirSync("/proc")) {
		const pid = Number(name);
		if (!(pid > 1) || pid === process.pid) continue;
		const [state, parent] = read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
		if (state === undefined || state === "Z") continue;
		parents.set(pid, Number(parent));
		if (read(`/proc/${pid}/cmdline`).includes(`${root}/`) || read(`/proc/${pid}/environ`).includes(`TEST_ROOT=${root}`)) found.add(pid);
	}
	// A container's processes name nothing, but hang below its shim.
	for (let size = -1; size !== found.size; ) {
		size = found.size;
		for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
	}
	return [...found];
}

function read(file) {
	try {
		return fs.readFileSync(file, "utf8");
	} catch {
		return ""; // it has ended, or is another user's
	}
}
