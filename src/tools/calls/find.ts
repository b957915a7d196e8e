/** Finds out what happened to a call with an id, from the records on disk: after any crash, and without guessing. */
import { setTimeout as sleep } from "node:timers/promises";
import { identityOf, isProgramGone, me } from "../../base/index.js";
import { findRange, procDir, readSpec } from "../../keeper/index.js";
import {
	type CallEffect,
	type CallState,
	type FileEffect,
	isOver,
	isUnderWay,
	type Process,
	type Runtime,
	readCall,
	type Status,
	werePruned,
} from "../../process/index.js";
import type { ToolResult } from "../result.js";

const SETTLE_MS = 5_000; // for a keeper or a shell to report whether it received a killed program's command
const LOOK_MS = 10;

/** The known outcome of a call. */
export type FoundCall =
	/** Nothing was done: the call can be repeated with the same id. */
	| { readonly state: "never" }
	/** The call or its process is running. `result`: the call's answer, if kept. */
	| { readonly state: "running"; readonly tool: string; readonly session_id?: string; readonly result?: ToolResult }
	/** `status` and `exit_code` are those of the process, or of the answer. `result`: the answer, if it was to be kept and is not settled. */
	| {
			readonly state: "ended";
			readonly tool: string;
			readonly session_id?: string;
			readonly status: string | null;
			readonly exit_code?: number | null;
			readonly result?: ToolResult;
			readonly settled?: true;
	  }
	/** The call may or may not have been carried out; `reason` says why that cannot be known. */
	| { readonly state: "unknown"; readonly reason: string; readonly tool?: string; readonly session_id?: string };

export async function findCall(runtime: Runtime, task: string, id: string): Promise<FoundCall> {
	for (let tries = 1; ; tries++) {
		const before = readCall(runtime.home, task, id);
		if (!before) {
			if (!werePruned(runtime.home, task)) return { state: "never" };
			return { state: "unknown", reason: "there is no record of it, and records of old calls of this task were removed" };
		}
		const gone = isCallerGone(runtime, before);
		const call = readCall(runtime.home, task, id); // everything its caller wrote before it died is on disk by now
		if (call && call.file === before.file) return { ...(await lookAt(runtime, call, gone)) };
		if (tries > 100) return { state: "unknown", reason: "other programs make calls with this id all the time" };
	}
}

function isCallerGone(runtime: Runtime, call: CallState): boolean {
	return call.by === me() ? !isUnderWay(call) : isProgramGone(runtime.home, call.by, call.file);
}

async function lookAt(runtime: Runtime, call: CallState, gone: boolean): Promise<FoundCall> {
	const { tool, end, effect } = call;
	const session = effect && "session" in effect ? effect.session : undefined; // the call's own session; a wait, for instance, is about a session of another call
	const kept = call.result === undefined ? {} : { result: call.result as ToolResult };
	if (end && (session === undefined || !isOpen(end.status)))
		return {
			state: "ended",
			tool,
			...(session === undefined || end.session_id === undefined ? {} : { session_id: session }),
			...end,
			...kept,
			...(call.settled ? { settled: true } : {}),
		};
	if (session !== undefined) return ofProcess(runtime, call, session, gone);
	if (!gone) return { state: "running", tool };
	return effect ? ofEffect(call, effect) : { state: "never" };
}

/** Returns true if the process continued after the call had answered. */
const isOpen = (status: string | null): boolean => status === "running" || status === "awaiting_input";

async function ofProcess(runtime: Runtime, call: CallState, session: string, gone: boolean): Promise<FoundCall> {
	const { tool } = call;
	const own = { tool, session_id: session };
	const kept = call.result === undefined ? {} : { result: call.result as ToolResult };
	const spec = readSpec(procDir(runtime.home, session));
	if (!spec || spec.call !== call.id || spec.task !== call.task) {
		const range = findRange(procDir(runtime.home, session), session); // another command may occupy its slot now
		if (range && range.call === call.id && range.task === call.task)
			return { state: "ended", ...own, status: range.status ?? "exited", exit_code: range.code, ...kept, ...(call.settled ? { settled: true } : {}) };
		if (call.removed || call.end) return { state: "unknown", reason: "its process was removed from the home", ...own };
		return gone ? { state: "never" } : { state: "running", tool };
	}
	const process = runtime.registry.process(spec);
	const unreached = await process.sync();
	if (unreached !== undefined) return { state: "unknown", reason: unreached, ...own };
	if (gone && !(await untilKnown(process))) return { state: "unknown", reason: "it may be on its way to its shell still; look again later", ...own };
	const status = process.status();
	if (status.status === "error") return gone ? { state: "never" } : { state: "running", ...own };
	if (status.status === "elsewhere")
		return { state: "unknown", reason: `its process belongs to another host or container (${status.host}); ask there`, ...own };
	if (status.status === "lost" && status.pid === null) return { state: "unknown", reason: status.reason, ...own };
	if (!isOver(status)) return { state: "running", ...own, ...kept };
	return { state: "ended", ...own, status: status.status, exit_code: codeOf(status), ...kept, ...(call.settled ? { settled: true } : {}) };
}

const codeOf = (status: Status): number | null => ("exitCode" in status ? status.exitCode : null);

/** Waits until it is clear whether the process has started. Returns false if that is still open. */
async function untilKnown(process: Process): Promise<boolean> {
	const giveUp = performance.now() + SETTLE_MS;
	for (;;) {
		const { status } = process.status();
		if (status !== "starting" && !process.mayBeUnderWay()) return true;
		if (performance.now() > giveUp) return false;
		await sleep(LOOK_MS);
	}
}

/** Returns the outcome of a call whose caller died after it had recorded this effect. */
function ofEffect({ tool, end }: CallState, effect: CallEffect): FoundCall {
	const cannot = (reason: string): FoundCall => ({ state: "unknown", reason, tool });
	if ("act" in effect) return cannot(`the program that made the call was killed as it was about to ${effect.act}`);
	if (!("files" in effect)) return cannot("its process is not on record");
	const done = effect.files.map(isInPlace);
	if (done.every((one) => one === false)) return { state: "never" };
	if (done.every((one) => one === true)) return { state: "ended", tool, status: end?.status ?? "ok" };
	if (done.includes(undefined)) return cannot("the program that made the call was killed as it put the file in place; look at the file");
	return cannot(`the program that made the call was killed between its files: ${done.filter(Boolean).length} of ${done.length} are changed; look at them`);
}

/** Returns whether the file was put in place; undefined if unknown. A rename from its temporary path keeps a file's identity. */
function isInPlace(file: FileEffect): boolean | undefined {
	if (!file) return undefined;
	const [from, to] = file.removes ? [file.target, file.temp] : [file.temp, file.target];
	if (identityOf(to) === file.identity) return true;
	return identityOf(from) === file.identity ? false : undefined;
}
