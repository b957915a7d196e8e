/**
 * Throwing away a command and all that it has started, and keeping the shell. bash gives a command up on SIGINT and reads
 * the next line; but only once its child has gone (without job control: has gone by INT too), and not if the command has
 * trapped it. So an interruption is INT to the command and to bash, as at a terminal, and a moment later TERM to what is left;
 * a kill begins with TERM, since a script may go on after a child that handles INT and ends well. Then KILL. With TERM and KILL
 * goes ABORT to bash, where our trap raises INT before anything else is run; in the end a new shell. Each time all of it is stopped
 * first (halt.ts). A command that has, or may have, put a trap of its own in place of ours loses its shell. Never INT again and again: bash 5.2 may crash when one comes while it is still cleaning up after the last.
 */
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Spec } from "../keeper/index.js";
import {
	continued,
	continuedBut,
	deafParents,
	halt,
	haltBefore,
	ignores,
	type Members,
	markKilled,
	membersWithin,
	type ProcessSnapshot,
	snapshot,
	to,
	whileKilling,
} from "../process/index.js";
import type { Bash } from "./bash.js";
import type { Slot } from "./slot.js";

const STAGES = ["SIGINT", "SIGTERM", "SIGKILL"] as const;
const ABORT = "SIGPWR"; // trapped in rc.bash; one that no script sends to its shell or traps
const POLITE_MS = 50;
const GRACE_MS = 2_000;
const ROUND_MS = 10;
const TRAPPED_AFTER = 20; // rounds with only bash left
const GIVE_UP_AFTER = 60;

export interface Interruption {
	/** The end to record. */
	readonly code: number;
	/** With INT first. */
	readonly gently: boolean;
	/** The command's log is full. */
	readonly kept: boolean;
}

/** Resolves when the end is recorded, or the shell is gone, and nothing of the command is left, or at least has had its KILL. */
export const interrupt = (bash: Bash, slot: Slot, spec: Spec, interruption: Interruption): Promise<void> =>
	whileKilling(slot.dir, () => throwAway(bash, slot, spec, interruption));

/** Whether shell text may trap the signal of ours: it names that, or signals that are known only when it runs. A file that it sources is not looked at. */
export function mayTrapAbort(command: string): boolean {
	const signals = command.matchAll(/\btrap\s+(?:--\s+)?(?:'[^']*'|"(?:[^"\\]|\\.)*"|\S+)([^;\n&|]*)/g);
	return [...signals].some(([, words = ""]) => /pwr|\b30\b|[$`{]/i.test(words));
}

async function throwAway({ process: { kernel }, bash }: Bash, slot: Slot, spec: Spec, { code, gently, kept }: Interruption): Promise<void> {
	if (kept) slot.drainRest(); // its log takes nothing more: what is in the pipe is let through, so that it can be drained
	markKilled(slot.dir, code);
	const all = (now: ProcessSnapshot): Members => (spec.within ? membersWithin(now, slot.dir, spec, spec.within, true) : { pids: [], ours: new Set() });
	const over = (now: ProcessSnapshot) => slot.end() !== undefined || !now.isAlive(bash);

	let now!: ProcessSnapshot; // by `send`
	let left: readonly number[] = [];
	let deaf: ReadonlySet<number> = new Set();
	let interrupted = false; // bash has had its INT
	const look = async () => {
		now = await snapshot(kernel);
		left = all(now).pids.filter((pid) => pid !== bash.pid);
	};
	const trapped = mayTrapAbort(spec.command);
	const abort = async (): Promise<NodeJS.Signals> => {
		const [status = ""] = trapped ? [] : await kernel.read([`/proc/${bash.pid}/status`]);
		return trapped || ignores(status, constants.signals[ABORT]) ? "SIGKILL" : ABORT;
	};
	/** To the whole command at one moment; to bash, if it is still at it, another signal. */
	const send = async (signal: (typeof STAGES)[number]): Promise<void> => {
		const halted = signal === "SIGKILL" ? await halt(kernel, all) : await haltBefore(kernel, all, signal, bash.pid);
		({ now } = halted);
		left = halted.pids.filter((pid) => pid !== bash.pid);
		const toBash = !interrupted && (signal === "SIGINT" || left.length === 0) ? "SIGINT" : await abort();
		interrupted ||= toBash === "SIGINT";
		deaf = signal === "SIGKILL" ? new Set() : await deafParents(kernel, { ...halted, pids: left }, signal, deaf);
		const awake = left.filter((pid) => !deaf.has(pid));
		await kernel.signal([
			...to(now, left.toReversed(), signal), // children first: when a parent ends of KILL, the kernel continues a stopped group
			...(over(now) ? [] : to(now, [bash.pid], toBash)),
			...(signal === "SIGINT" ? continued(now, awake) : continuedBut({ now, pids: left }, deaf)),
			...continued(now, [bash.pid]),
			...halted.others,
		]);
	};

	const asking = performance.now();
	let stage = gently ? 0 : 1;
	await send(STAGES[stage] as (typeof STAGES)[number]);
	const begin = performance.now();
	const polite = POLITE_MS + begin - asking; // on another machine what it did reaches us later
	for (let round = 0, alone = 0; !over(now) || left.length > 0; round++) {
		const passed = performance.now() - begin;
		const onlyDeaf = left.length > 0 && left.every((pid) => deaf.has(pid)); // they wait for the next
		const next = Math.max(stage + Number(onlyDeaf), passed > GRACE_MS ? 2 : passed > polite ? 1 : 0);
		if (next > stage || (next === 2 && left.length > 0)) await send(STAGES[next] as (typeof STAGES)[number]);
		else if (!over(now)) {
			if (now.table.statOf(bash.pid)?.state === "T") await kernel.signal(to(now, [bash.pid], "SIGCONT")); // `suspend`
			if (alone >= GIVE_UP_AFTER) await kernel.signal(to(now, [bash.pid], "SIGKILL"));
			else if (alone === TRAPPED_AFTER) {
				await kernel.signal(to(now, [bash.pid], interrupted ? ABORT : "SIGINT"));
				interrupted = true;
			}
		}
		stage = next;
		if (over(now) && passed > 2 * GRACE_MS) return; // in the kernel, where no signal reaches it
		await sleep(round < 5 ? 2 : ROUND_MS);
		await look();
		if (left.length === 0) alone++;
	}
}
