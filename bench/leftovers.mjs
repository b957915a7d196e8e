/** After the last measurement: nothing of this run may stay. What should not have been there is said. */
import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "../dist/lib/index.js";
import { endAll, sleep } from "./lib.mjs";

export async function removeAll(root) {
	const homes = fs.readdirSync(root).map((name) => path.join(root, name));
	for (const home of homes.filter((dir) => fs.existsSync(path.join(dir, "live")))) {
		await endAll(await openRuntime({ home, warm: 0 })); // a measurement that crashed has not ended what it started
		removeGroups(home);
	}
	await endProcesses(root);
	fs.rmSync(root, { recursive: true, force: true, maxRetries: 3 });
}

/** Control groups are in one for each task, and have the ids of their processes; those of all homes are beside each other. */
function removeGroups(home) {
	const groups = groupsOf(home);
	if (!groups) return;
	const tasks = fs.readdirSync(groups).filter((name) => /^[0-9a-f]{12}$/.test(name));
	const left = tasks.flatMap((task) =>
		fs
			.readdirSync(path.join(groups, task))
			.filter((name) => name.startsWith("proc_") && fs.existsSync(path.join(home, "procs", name.charAt(5), name)))
			.map((name) => path.join(groups, task, name)),
	);
	for (const dir of left) fs.rmdirSync(dir);
	if (left.length > 0) console.error(`removed ${left.length} control groups that Holdfast had left behind in ${path.basename(home)}`);
}

/** The directory that the groups are in: any spec that names one will do. */
function groupsOf(home) {
	for (const shelf of fs.readdirSync(path.join(home, "procs"))) {
		for (const id of fs.readdirSync(path.join(home, "procs", shelf))) {
			const text = fs.readFileSync(path.join(home, "procs", shelf, id, "spec.json"), "utf8");
			const group = text && JSON.parse(text).cgroup; // empty: a blank, never used
			if (group) return path.dirname(path.dirname(group));
		}
	}
	return undefined;
}

/** Everybody who names the directory of this run, and no other, in his arguments: a keeper that did not end. */
async function endProcesses(root) {
	const find = () => fs.readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid && argumentsOf(pid).includes(`${root}/`));
	for (let look = 0; look < 20 && find().length > 0; look++) await sleep(100);
	for (const pid of find()) {
		console.error(`ended process ${pid} that Holdfast had left behind: ${argumentsOf(pid).replaceAll("\0", " ").slice(0, 300)}`);
		process.kill(Number(pid), "SIGKILL");
	}
}

function argumentsOf(pid) {
	try {
		return fs.readFileSync(`/proc/${pid}/cmdline`, "latin1");
	} catch {
		return ""; // it has gone
	}
}
