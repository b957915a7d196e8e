/**
 * Throwing away a command and all that it has started, and keeping the shell. bash gives a command up on SIGINT and reads
 * the next line; but only once its child has gone, and not if the command has trapped it. So: INT to bash and TERM to
 * the rest, then KILL to the rest; then our own USR1 trap, which resets INT and raises it; in the end a new shell.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, readStat, sendSignal } from "../base/proc.js";
import { membersWithin } from "../process/kill.js";
import type { Spec } from "../process/spec.js";
import { markKilled } from "../process/status.js";
import { snapshot } from "../process/tree.js";
import type { Bash } from "./bash.js";
import type { Slot } from "./slot.js";

const GRACE_MS = 2_000;
const ROUND_MS = 10;
const TRAPPED_AFTER = 20; // rounds without anybody left but bash
const GIVE_UP_AFTER = 60;

/** Resolves when the end is recorded, or the shell is gone, and nothing of the command is left, or at least has had its KILL. */
export async function interrupt(bash: Bash, slot: Slot, spec: Spec): Promise<void> {
	const tree = async () => (spec.within ? membersWithin(await snapshot(), spec, spec.within, true) : []).filter((pid) => pid !== bash.bash.pid);
	const over = () => slot.end() !== undefined || !isAlive(bash.bash);
	const asked = new Set<number>();
	const graceEnds = performance.now() + GRACE_MS;
	markKilled(slot.dir);
	let left = await tree();
	for (let round = 0, alone = 0; !over() || left.length > 0; round++) {
		if (!over()) {
			if (readStat(bash.bash.pid)?.state === "T") sendSignal(bash.bash.pid, "SIGCONT"); // `suspend`
			if (alone >= GIVE_UP_AFTER) sendSignal(bash.bash.pid, "SIGKILL");
			else if (alone === TRAPPED_AFTER) sendSignal(bash.bash.pid, "SIGUSR1");
			else if (alone < TRAPPED_AFTER && round % 5 === 0) sendSignal(bash.bash.pid, "SIGINT");
		}
		for (const pid of left) {
			if (performance.now() > graceEnds) sendSignal(pid, "SIGKILL");
			else if (!asked.has(pid)) {
				sendSignal(pid, "SIGTERM");
				sendSignal(pid, "SIGCONT"); // a stopped one cannot act on it
			}
			asked.add(pid);
		}
		if (over() && performance.now() > graceEnds + GRACE_MS) return; // in the kernel, where no signal reaches it
		await sleep(round < 5 ? 2 : ROUND_MS);
		left = await tree();
		if (left.length === 0) alone++;
	}
}
