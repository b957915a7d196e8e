/**
 * Throwing away a command and all that it has started, and keeping the shell. bash gives a command up on SIGINT and reads
 * the next line; but only once its child has gone (without job control: has gone by INT too), and not if the command has
 * trapped it. So: INT to everybody; a moment later TERM to the children, then KILL, each after USR1 to bash, where our trap
 * raises INT before anything else is run; in the end a new shell. Never INT again and again: bash 5.2 may crash when one
 * comes while it is still cleaning up after the last.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Sent } from "../base/kernel.js";
import { membersWithin } from "../process/kill.js";
import type { Spec } from "../process/spec.js";
import { markKilled } from "../process/status.js";
import { snapshot } from "../process/tree.js";
import type { Bash } from "./bash.js";
import type { Slot } from "./slot.js";

const POLITE_MS = 50;
const GRACE_MS = 2_000;
const ROUND_MS = 10;
const TRAPPED_AFTER = 20; // rounds without anybody left but bash
const GIVE_UP_AFTER = 60;

/** Resolves when the end is recorded, or the shell is gone, and nothing of the command is left, or at least has had its KILL. */
export async function interrupt(bash: Bash, slot: Slot, spec: Spec, { kept = false } = {}): Promise<void> {
	if (kept) slot.drainRest(); // its log takes nothing more: what is in the pipe is let through, so that it can be drained
	const { kernel } = bash.process;
	markKilled(slot.dir);
	const asking = performance.now();
	let now = await snapshot(kernel);
	const polite = POLITE_MS + 2 * (performance.now() - asking); // on another machine what it did reaches us later
	const tree = () => (spec.within ? membersWithin(now, slot.dir, spec, spec.within, true) : []).filter((pid) => pid !== bash.bash.pid);
	const over = () => slot.end() !== undefined || !now.isAlive(bash.bash);
	const to = (pid: number, signal: NodeJS.Signals): Sent => ({ pid, signal, of: now.stats.get(pid) });
	const asked = new Map<number, NodeJS.Signals>();
	let reached: NodeJS.Signals = "SIGINT";
	let left = tree();
	await kernel.signal(allAtOnce(bash.bash.pid, left, to));
	const begin = performance.now();
	for (const pid of left) asked.set(pid, "SIGINT");
	for (let round = 0, alone = 0; !over() || left.length > 0; round++) {
		const passed = performance.now() - begin;
		const stage = passed > GRACE_MS ? "SIGKILL" : passed > polite ? "SIGTERM" : "SIGINT";
		const sent: Sent[] = [];
		if (!over()) {
			if (now.table.statOf(bash.bash.pid)?.state === "T") sent.push(to(bash.bash.pid, "SIGCONT")); // `suspend`
			if (alone >= GIVE_UP_AFTER) sent.push(to(bash.bash.pid, "SIGKILL"));
			else if (alone === TRAPPED_AFTER || stage !== reached) sent.push(to(bash.bash.pid, "SIGUSR1"));
		}
		reached = stage;
		for (const pid of left) {
			if (asked.get(pid) === stage) continue;
			asked.set(pid, stage);
			sent.push(to(pid, stage), to(pid, "SIGCONT")); // a stopped one cannot act on it
		}
		if (sent.length > 0) await kernel.signal(sent);
		if (over() && passed > 2 * GRACE_MS) return; // in the kernel, where no signal reaches it
		await sleep(round < 5 ? 2 : ROUND_MS);
		now = await snapshot(kernel);
		left = tree();
		if (left.length === 0) alone++;
	}
}

/** INT for everybody at the same moment: else the end of a pipeline may end well because its beginning is gone, and bash goes on. */
function allAtOnce(bash: number, others: readonly number[], to: (pid: number, signal: NodeJS.Signals) => Sent): Sent[] {
	const each = (pids: readonly number[], signal: NodeJS.Signals) => pids.map((pid) => to(pid, signal));
	return [...each([bash, ...others], "SIGSTOP"), ...each([bash, ...others], "SIGINT"), ...each([...others, bash], "SIGCONT")];
}
