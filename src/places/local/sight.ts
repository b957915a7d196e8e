/** Reads the state of a local process from /proc. */
import { childrenOf, hostIdentity, type Identity, isAlive, readStat, sameHost, sendSignal } from "../../base/index.js";
import { commandOf, readDrained, readParts, type Spec, starterIsGone, tookAnother, wasTaken } from "../../keeper/index.js";
import type { Sight } from "../sight.js";
import { waitsForCommands } from "./line.js";

export const localSight = (dir: string, spec: Spec): Sight => ({
	/** Another boot of this host: everything from then is over. Another host or pid namespace cannot be seen from here. */
	absence() {
		const here = hostIdentity();
		if (sameHost(spec.host, here)) return undefined;
		if (spec.host.host === here.host && spec.host.boot !== here.boot) return { kind: "lost", reason: "the machine was restarted while it ran" };
		return { kind: "elsewhere", host: spec.host.host };
	},
	lives: isAlive,
	commandLives: isAlive,
	plainlyLives: (command) => sameHost(spec.host, hostIdentity()) && !(spec.within && !isAlive(spec.starter)) && isAlive(command),
	/** The program that was to send the command is gone, its shell has taken another one last, and waits for more: the command will never come. */
	neverSent: (within) => !isAlive(spec.starter) && !wasTaken(dir, within) && waitsForCommands(within.bash.pid),
	/** Certain only when no program is left that could have sent the command: the shell may have taken others since. */
	neverTaken: (within) => starterIsGone(spec) && tookAnother(dir, within),
	goOn: ({ pid }) => goOn([pid]),
	mayCome: () => false,
	stale: undefined,
	hasChildren() {
		const command: Identity | undefined = commandOf(readParts(dir), spec);
		return command !== undefined && childrenOf(command.pid).length > 0;
	},
});

/** Like `isDrained` of ../sight.ts, for a local log that is not closed. */
export function isDrainedHere(dir: string): boolean {
	const { collector, keeper, terminal, child } = readParts(dir);
	if (!collector) return false; // it has no record of itself yet
	if (!isAlive(collector)) return true;
	if (terminal && child && isAlive(child)) {
		goOn([child.pid, collector.pid]);
		return false; // the relay may hold unwritten bytes
	}
	const drained = readDrained(dir);
	if (drained && drained.kind !== "dd" && child && isAlive(child)) {
		if (readStat(child.pid)?.state === "S") return readDrained(dir)?.kind !== "wait"; // see shell/slot-state.ts
		goOn([child.pid, collector.pid]);
		return false;
	}
	if (drained && drained.kind !== "dd" && child && keeper && isAlive(keeper)) {
		goOn([keeper.pid, collector.pid]);
		return false; // the copier was killed, and the keeper is about to have it replaced: until then a dd that sleeps is the one from before the copier
	}
	const runners = childrenOf(collector.pid);
	const copiers = runners.flatMap(childrenOf);
	const sleeps = (pid: number) => {
		const stat = readStat(pid);
		return stat?.comm === "dd" && stat.state === "S";
	};
	if (copiers.some(sleeps)) return true;
	goOn([collector.pid, ...runners, ...copiers]);
	return false;
}

/**
 * Parts of a keeper never stop by themselves. Continues one that another program has stopped, if only it can tell how the process ended or what it
 * printed last.
 */
function goOn(parts: readonly number[]): void {
	for (const pid of parts) if (readStat(pid)?.state === "T") sendSignal(pid, "SIGCONT");
}
