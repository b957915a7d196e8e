/** Determines the current state of a process. Caches nothing: each call looks again. */
import fs from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { HoldfastError, type Identity, isAlive } from "../base/index.js";
import { commandOf, ownExit, readExit, readParts, readState, type Spec, siblingOf, wasTaken, witnessOf } from "../keeper/index.js";
import { type Sight, sightOf } from "../places/index.js";
import { readKilled } from "./killing.js";
import { CONTAINER, endedBy, type LimitMet, limitOf } from "./limits.js";

export type Status =
	| { readonly status: "running"; readonly pid: number; readonly paused?: "disk" | "limit" | "rate"; readonly exitUnseen?: true }
	| {
			readonly status: "exited" | "killed";
			readonly pid: number | null;
			readonly exitCode: number;
			readonly signal: NodeJS.Signals | null;
			readonly endedAt: number;
			/** A limit that it hit; `killed` if that ended it. */
			readonly limit?: LimitMet;
	  }
	| { readonly status: "lost"; readonly pid: number | null; readonly exitCode: null; readonly reason: string }
	| { readonly status: "error"; readonly reason: string; readonly endedAt: number }
	| { readonly status: "starting" }
	| { readonly status: "elsewhere"; readonly host: string };

export const isOver = (status: Status): status is Extract<Status, { status: "exited" | "killed" | "lost" | "error" }> =>
	status.status === "exited" || status.status === "killed" || status.status === "lost" || status.status === "error";

/** Returns true if the command is alive and has not ended. Cheap, for counting. False can also mean that a closer check is needed. */
export function plainlyRuns(dir: string, spec: Spec): boolean {
	if (readExit(dir)) return false;
	const command = commandOf(readParts(dir), spec);
	return command !== undefined && sightOf(dir, spec).plainlyLives(command);
}

export function readStatus(dir: string, spec: Spec): Status {
	if (spec.past) {
		const { status, code, endedAt } = spec.past;
		if (status === "lost" || code === null) return { status: "lost", pid: null, exitCode: null, reason: "nobody saw how it ended" };
		return { status, pid: null, exitCode: code, signal: null, endedAt };
	}
	const sight = sightOf(dir, spec);
	const parts = readParts(dir);
	const command = commandOf(parts, spec);
	const exit = ownExit(dir, spec) ?? endOfShell(dir, spec, sight);
	if (exit?.kind === "none") return { status: "error", reason: exit.reason, endedAt: exit.at };
	if (exit?.kind === "lost") return { status: "lost", pid: command?.pid ?? null, exitCode: null, reason: exit.reason };
	if (exit) {
		const mark = readKilled(dir);
		const killed = mark !== undefined && (mark.code === undefined || exit.code > 128);
		const found = limitOf(dir, spec, exit);
		const limit = killed && found?.by === CONTAINER ? undefined : found; // killed by Holdfast, which its keeper in the container does not know
		return {
			status: killed || (limit && endedBy(limit, exit.code)) ? "killed" : "exited",
			pid: command?.pid ?? null,
			exitCode: (killed ? mark.code : undefined) ?? exit.code,
			signal: exit.signal === null ? null : signalName(exit.signal),
			endedAt: exit.at,
			...(limit ? { limit } : {}),
		};
	}
	const verdict = sight.absence();
	if (verdict?.kind === "lost") return { status: "lost", pid: command?.pid ?? null, exitCode: null, reason: verdict.reason };
	if (verdict?.kind === "elsewhere") return { status: "elsewhere", host: verdict.host };
	if (verdict?.kind === "unseen" && fs.existsSync(dir)) return { status: "starting" };
	const keeper = witnessOf(parts, spec);
	const witnessed = keeper !== undefined && sight.lives(keeper);
	if (command && sight.commandLives(command)) {
		if (spec.within && sight.neverSent(spec.within))
			return { status: "error", reason: "its caller was killed before the shell got the command; nothing ran", endedAt: spec.startedAt };
		return running(dir, command, witnessed);
	}
	// The keeper may have recorded the end since the first read.
	const again = witnessed ? undefined : (ownExit(dir, spec) ?? endOfShell(dir, spec, sight));
	if (again) return readStatus(dir, spec);
	if (command) {
		if (witnessed) {
			sight.goOn(keeper);
			return running(dir, command, true); // dead; its keeper is about to record how it ended
		}
		return { status: "lost", pid: command.pid, exitCode: null, reason: "its keeper was killed, so nobody saw how it ended" };
	}
	if (!fs.existsSync(dir)) return { status: "lost", pid: null, exitCode: null, reason: "its directory was removed" };
	if (sight.mayCome(parts) || witnessed || (parts.keeper && sight.lives(parts.keeper)) || isAlive(spec.starter) || isWaitedFor(dir))
		return { status: "starting" };
	if (!parts.keeper && (readParts(dir).keeper || readExit(dir))) return readStatus(dir, spec); // its keeper has registered since, or given up
	return { status: "lost", pid: null, exitCode: null, reason: "the program that started it, and its keeper, were killed during the start" };
}

/** Returns true if a keeper waits to read the start, even if it has not registered yet. */
function isWaitedFor(dir: string): boolean {
	try {
		fs.closeSync(fs.openSync(path.join(dir, "go"), fs.constants.O_WRONLY | fs.constants.O_NONBLOCK));
		return true;
	} catch {
		return false; // it has no reader
	}
}

/** Returns true if the process is not over and nothing shows that it has begun. */
export const mayBeUnderWay = (dir: string, spec: Spec): boolean =>
	!isOver(readStatus(dir, spec)) && (spec.within ? !wasTaken(dir, spec.within) : commandOf(readParts(dir), spec) === undefined);

function running(dir: string, command: Identity, witnessed: boolean): Status {
	const state = readState(dir);
	return {
		status: "running",
		pid: command.pid,
		...(state.kind === "paused" ? { paused: state.why } : {}),
		...(witnessed ? {} : { exitUnseen: true as const }),
	};
}

/** Returns the end of a command that ended its shell (exit, exec, kill $$): it is that of the shell. */
function endOfShell(dir: string, spec: Spec, sight: Sight): ReturnType<typeof readExit> {
	if (!spec.within || sight.commandLives(spec.within.bash)) return undefined;
	const own = ownExit(dir, spec); // again: it may have recorded its end and died since
	if (own) return own;
	const end = readExit(siblingOf(dir, spec.within.shell));
	return end && sight.neverTaken(spec.within) ? { kind: "none", reason: "the shell ended before it got it; nothing ran", at: end.at } : end;
}

export function signalName(number: number): NodeJS.Signals | null {
	const entry = Object.entries(constants.signals).find(([, value]) => value === number);
	return entry ? (entry[0] as NodeJS.Signals) : null;
}

/** Throws if the process is over or belongs to another host. */
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
