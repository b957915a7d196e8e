/** What is known of a process right now. Nothing here is remembered: each call looks. */
import fs from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { HoldfastError } from "../base/errors.js";
import { readIfThere, readStart } from "../base/files.js";
import { childrenOf, hostIdentity, type Identity, isAlive, readProc, readStat, readsStdin, sameHost, sendSignal } from "../base/proc.js";
import { type Parts, readExit, readParts, readState } from "../keeper/layout.js";
import { isDead, isFar, readThere } from "../keeper/there.js";
import { CONTAINER, endedBy, type LimitMet, limitOf } from "./limits.js";
import type { Spec, Within } from "./spec.js";

export type Status =
	| { readonly status: "running"; readonly pid: number; readonly paused?: "disk" | "limit" | "rate"; readonly exitUnseen?: true }
	| {
			readonly status: "exited" | "killed";
			readonly pid: number | null;
			readonly exitCode: number;
			readonly signal: NodeJS.Signals | null;
			readonly endedAt: number;
			/** A limit that it met; `killed` if that ended it. */
			readonly limit?: LimitMet;
	  }
	| { readonly status: "lost"; readonly pid: number | null; readonly exitCode: null; readonly reason: string }
	| { readonly status: "error"; readonly reason: string; readonly endedAt: number }
	| { readonly status: "starting" }
	| { readonly status: "elsewhere"; readonly host: string };

export const isOver = (status: Status): status is Extract<Status, { status: "exited" | "killed" | "lost" | "error" }> =>
	status.status === "exited" || status.status === "killed" || status.status === "lost" || status.status === "error";

/** Cheap, for counting: the command is alive and has not ended. False can also mean that it takes a closer look. */
export function plainlyRuns(dir: string, spec: Spec): boolean {
	if (isFar(spec) || !sameHost(spec.host, hostIdentity()) || readExit(dir) || (spec.within && !isAlive(spec.starter))) return false;
	const command = commandOf(readParts(dir), spec);
	return command !== undefined && isAlive(command);
}

export function readStatus(dir: string, spec: Spec): Status {
	const parts = readParts(dir);
	const command = commandOf(parts, spec);
	const exit = ownExit(dir, spec) ?? endOfShell(dir, spec);
	if (exit?.kind === "none") return { status: "error", reason: exit.reason, endedAt: exit.at };
	if (exit?.kind === "lost") return { status: "lost", pid: command?.pid ?? null, exitCode: null, reason: exit.reason };
	if (exit) {
		const mark = readIfThere(path.join(dir, "killed"));
		const killed = mark !== undefined && (mark === "" || exit.code > 128);
		const found = limitOf(dir, spec, exit);
		const limit = killed && found?.by === CONTAINER ? undefined : found; // by us, which its keeper in there does not know
		return {
			status: killed || (limit && endedBy(limit, exit.code)) ? "killed" : "exited",
			pid: command?.pid ?? null,
			exitCode: killed && mark ? Number(mark) : exit.code,
			signal: exit.signal === null ? null : signalName(exit.signal),
			endedAt: exit.at,
			...(limit ? { limit } : {}),
		};
	}
	const here = hostIdentity();
	if (!isFar(spec) && !sameHost(spec.host, here)) {
		// Another boot of this very host: whatever ran then is over. Anything else cannot be seen from here.
		if (spec.host.host === here.host && spec.host.boot !== here.boot)
			return { status: "lost", pid: command?.pid ?? null, exitCode: null, reason: "the machine was restarted while it ran" };
		return { status: "elsewhere", host: spec.host.host };
	}
	const own = isFar(spec) ? readThere(dir) : undefined;
	const there = spec.within && isFar(spec) ? readThere(siblingOf(dir, spec.within.shell)) : own;
	if (isFar(spec) && !there?.at && fs.existsSync(dir)) return { status: "starting" }; // nobody has seen it yet: its starter may have been killed before he could
	const lost = there?.lost ?? (spec.within && isDead(there, spec.within.bash) ? own?.lost : undefined);
	if (lost !== undefined) return { status: "lost", pid: command?.pid ?? null, exitCode: null, reason: lost };
	const lives = isFar(spec) ? (who: Identity) => !isDead(there, who) : isAlive;
	const keeper = witnessOf(parts, spec);
	const witnessed = keeper !== undefined && lives(keeper);
	if (command && (spec.within && isFar(spec) ? !isDead(own, command) : lives(command))) {
		if (spec.within && !isFar(spec) && neverSent(dir, spec, spec.within))
			return { status: "error", reason: "whoever started it was killed before the shell got it; nothing ran", endedAt: spec.startedAt };
		return running(dir, command, witnessed);
	}
	// The keeper may have written the end since we looked for it above.
	const again = witnessed ? undefined : (ownExit(dir, spec) ?? endOfShell(dir, spec));
	if (again) return readStatus(dir, spec);
	if (command) {
		if (witnessed) {
			if (!isFar(spec)) goOn([keeper.pid]);
			return running(dir, command, true); // dead, and its keeper is about to say how it ended
		}
		return { status: "lost", pid: command.pid, exitCode: null, reason: "its keeper was killed, so nobody saw how it ended" };
	}
	if (!fs.existsSync(dir)) return { status: "lost", pid: null, exitCode: null, reason: "its directory was removed" };
	const unseen = isFar(spec) && !parts.keeper; // Process.sync finds out
	if (unseen || witnessed || (parts.keeper && lives(parts.keeper)) || isAlive(spec.starter) || isWaitedFor(dir)) return { status: "starting" };
	if (!parts.keeper && (readParts(dir).keeper || readExit(dir))) return readStatus(dir, spec); // it has introduced itself since, or given up
	return { status: "lost", pid: null, exitCode: null, reason: "whoever started it, and its keeper, were killed during the start" };
}

/** Somebody is there to hear the word to go, though he may not have introduced himself yet: a keeper that was only just started. */
function isWaitedFor(dir: string): boolean {
	try {
		fs.closeSync(fs.openSync(path.join(dir, "go"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK));
		return true;
	} catch {
		return false; // nobody reads it
	}
}

/** Whoever was to send it is gone, its shell has taken another one last, and waits for more: it will never come. */
const neverSent = (dir: string, spec: Spec, within: Within): boolean => !isAlive(spec.starter) && !wasTaken(dir, within) && waitsForCommands(within.bash.pid);

/** Its shell has it, or had it before the next one. */
const wasTaken = (dir: string, { name, shell }: Within): boolean => beginOf(path.join(siblingOf(dir, shell), "shell", "begun")) === name;

/** Nobody is left who could start it, or send it to its shell, and will not come back. What he has sent may still be under way. */
export function starterIsGone({ host, starter }: Spec): boolean {
	const here = hostIdentity();
	if (host.host !== here.host) return false; // he cannot be seen from here
	return host.boot !== here.boot || (host.pidns === here.pidns && !isAlive(starter));
}

/** Of one elsewhere: nothing that was seen says that it has begun. */
export const mayBeUnderWay = (dir: string, spec: Spec): boolean =>
	!isOver(readStatus(dir, spec)) && (spec.within ? !wasTaken(dir, spec.within) : commandOf(readParts(dir), spec) === undefined);

/** A log that has served another command elsewhere has the end of that one there until the shell is told of this one. */
function ownExit(dir: string, spec: Spec): ReturnType<typeof readExit> {
	const exit = readExit(dir);
	return spec.within && exit?.kind === "exit" && exit.of !== undefined && exit.of !== spec.within.name ? undefined : exit;
}

/** A shell that has read all that it was sent. */
export const waitsForCommands = (pid: number): boolean => readsStdin(readProc(`/proc/${pid}/syscall`));

function beginOf(file: string): string | undefined {
	try {
		return readStart(file, 256).split(" ", 1)[0];
	} catch {
		return undefined; // gone; or, in a sandbox, locked by somebody
	}
}

function running(dir: string, command: Identity, witnessed: boolean): Status {
	const state = readState(dir);
	return {
		status: "running",
		pid: command.pid,
		...(state.kind === "paused" ? { paused: state.why } : {}),
		...(witnessed ? {} : { exitUnseen: true as const }),
	};
}

/** The command's own process: below the terminal's keeper when there is one; for a foreground command the shell itself. */
export const commandOf = (parts: Parts, spec: Spec): Identity | undefined =>
	spec.within?.bash ?? (spec.terminal ? parts.command : (parts.command ?? parts.child));

/** Who writes `exit`. */
export const witnessOf = (parts: Parts, spec: Spec): Identity | undefined =>
	spec.within?.keeper ?? (spec.terminal ? (parts.terminal ?? parts.keeper) : parts.keeper);

/** The directory of another process of the same home. */
export const siblingOf = (dir: string, id: string): string => path.join(dir, "..", "..", id.charAt(5), id);

/** The replica of a remote shell says that it is dead, and that of its command was copied before: how the command ended is not known yet. */
export function endsWithShell(dir: string, spec: Spec): boolean {
	if (!spec.within || !isFar(spec) || ownExit(dir, spec)) return false;
	const own = readThere(dir);
	return own?.lost === undefined && !isDead(own, spec.within.bash) && isDead(readThere(siblingOf(dir, spec.within.shell)), spec.within.bash);
}

/**
 * A command that ended its shell (exit, exec, kill $$) ended as the shell did. On another machine two replicas are compared, and that of
 * the shell may be newer: its end counts once a look at the command has found the shell dead, and no record of the command's own end after that.
 */
function endOfShell(dir: string, spec: Spec): ReturnType<typeof readExit> {
	if (!spec.within) return undefined;
	const shell = siblingOf(dir, spec.within.shell);
	if (isFar(spec) ? !isDead(readThere(dir), spec.within.bash) : isAlive(spec.within.bash)) return undefined;
	const own = ownExit(dir, spec); // once more: it may have written its end and died since
	if (own) return own;
	const end = readExit(shell);
	// A link may have broken while it was sent.
	if (end && isFar(spec) && beginOf(path.join(shell, "shell", "begun")) !== spec.within.name)
		return { kind: "none", reason: "the shell ended before it got it; nothing ran", at: end.at };
	return end;
}

/**
 * Written when a signal of ours is certain to reach it, so that a natural end is never called a kill. `code`: its exit code, where the
 * shell that runs it would record that of an interrupted command: if this runtime is killed before it can put that right, the next
 * one knows. A code that no signal gives is of a command that ended by itself before that.
 */
export function markKilled(dir: string, code?: number): void {
	fs.writeFileSync(path.join(dir, "killed"), code === undefined ? "" : String(code), { mode: 0o600 });
}

export function signalName(number: number): NodeJS.Signals | null {
	const entry = Object.entries(constants.signals).find(([, value]) => value === number);
	return entry ? (entry[0] as NodeJS.Signals) : null;
}

/**
 * After the exit: has everything that was printed before it reached the log? Yes once the collector has closed, or
 * sleeps in its read of an empty pipe that somebody (a grandchild) still holds, or is gone.
 */
export function isDrained(dir: string): boolean {
	if (readState(dir).kind === "closed" || !fs.existsSync(dir)) return true;
	if (fs.existsSync(path.join(dir, "there"))) return readThere(dir)?.drained ?? false;
	const { collector, terminal, child } = readParts(dir);
	if (!collector) return false; // it has not even introduced itself
	if (!isAlive(collector)) return true;
	if (terminal && child && isAlive(child)) {
		goOn([child.pid, collector.pid]);
		return false; // the relay may have something in its hands
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

/** Parts of a keeper never stop by themselves. One that something else has stopped is continued where only it can tell how the process ended or what it printed last. */
function goOn(parts: readonly number[]): void {
	for (const pid of parts) if (readStat(pid)?.state === "T") sendSignal(pid, "SIGCONT");
}

/** Throws if it cannot be any more. */
export function mustRun(process: { readonly id: string; status(): Status }, what: string): void {
	const status = process.status();
	if (status.status === "elsewhere")
		throw new HoldfastError("NOT_HERE", `cannot ${what}: ${process.id} runs on another host (${status.host}) or in another container; ask there`);
	if (isOver(status))
		throw new HoldfastError("ENDED", `cannot ${what}: ${process.id} has ended (${describeEnd(status)}); its log is still there, and to go on start it again`);
}

export function describeEnd(status: Status): string {
	switch (status.status) {
		case "exited":
		case "killed":
			return `${status.status}, ${status.signal ?? `code ${status.exitCode}`}${status.limit ? `, limit ${status.limit.name}` : ""}`;
		case "lost":
			return `lost: ${status.reason}`;
		case "error":
			return `never started: ${status.reason}`;
		default:
			return status.status;
	}
}
