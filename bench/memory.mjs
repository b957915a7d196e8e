/** Memory, proportional (PSS): what is shared, the text of the shell mostly, is divided among those who share it. */
import fs from "node:fs";
import path from "node:path";

export const pssKb = (pid) => Number(/^Pss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))[1]);

export const sumPssKb = (pids) => pids.reduce((sum, pid) => sum + pssKb(pid), 0);

/** The keeper's own processes: those it names in `meta` but the command, and all below its collector, down to dd. */
export function keeperPids(process) {
	const parts = fs.readFileSync(path.join(process.dir, "meta"), "utf8").matchAll(/^(keeper|collector) (\d+) /gm);
	return [...parts].flatMap(([, role, pid]) => (role === "collector" ? withAllBelow(pid) : [pid]));
}

const withAllBelow = (pid) => [pid, ...childrenOf(pid).flatMap(withAllBelow)];
export const childrenOf = (pid) => fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
