/**
 * People's requests to a run: lines in `requests.jsonl`, which any program may add. The runner follows them as they come, and reads all of them again when it
 * begins: so a request holds whether a runner runs now, was restarted, or comes tomorrow. Requests for an episode name the attempt that they mean, so that
 * carrying one out twice changes nothing.
 */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { AgentError, isoTime, LineFile, readLines, systemClock, watchFile, withClaim } from "../base/index.js";
import { isCollected } from "./ledger.js";

export type RunRequest =
	| { readonly do: "pause" | "continue" }
	| { readonly do: "set"; readonly concurrency: number }
	/** Ends the attempt, or keeps it from beginning: its result is the error `cancelled`. */
	| { readonly do: "cancel"; readonly index: number; readonly attempt: number }
	/** Takes back the result of this attempt: the episode is made again. */
	| { readonly do: "requeue"; readonly index: number; readonly attempt: number }
	/** Scores this attempt again, from what was kept of it. */
	| { readonly do: "rescore"; readonly index: number; readonly attempt: number };

export type StampedRequest = RunRequest & { readonly id: string; readonly at: string };

/** The sum of all requests, as it holds now. */
export interface Wanted {
	readonly paused: boolean;
	/** As a person set it; it goes before what the runner was started with. */
	readonly concurrency: number | undefined;
	/** `INDEX.ATTEMPT` of those that are to be cancelled. */
	readonly cancelled: ReadonlySet<string>;
	/** Those that change the ledger, in their order. */
	readonly rows: readonly Extract<StampedRequest, { do: "requeue" | "rescore" }>[];
}

export const attemptKey = (index: number, attempt: number): string => `${index}.${attempt}`;

const requestsFile = (run: string): string => path.join(run, "requests.jsonl");

/** Adds a person's request. Throws `INVALID` where no runner would follow it. */
export async function askRun(run: string, request: RunRequest): Promise<StampedRequest> {
	if (!isCollected(run)) return addRequest(run, request);
	throw new AgentError("INVALID", "the workers of a collector play this run, and they follow no such request; it is for runs that one program plays");
}

/** Resolves when the request is on the disk. */
export async function addRequest(run: string, request: RunRequest): Promise<StampedRequest> {
	const stamped = { ...request, id: randomBytes(6).toString("hex"), at: isoTime(systemClock) };
	await withClaim(path.join(run, "requests.claim"), "request", async () => {
		const file = LineFile.open(requestsFile(run));
		try {
			await file.append([stamped], { sync: true });
		} finally {
			await file.close();
		}
	});
	return stamped;
}

export function readRequests(run: string): Wanted {
	const all = readLines(requestsFile(run)).values as StampedRequest[];
	const cancelled = new Set<string>();
	let [paused, concurrency]: [boolean, number | undefined] = [false, undefined];
	const rows: Extract<StampedRequest, { do: "requeue" | "rescore" }>[] = [];
	for (const request of all) {
		if (request.do === "pause") paused = true;
		else if (request.do === "continue") paused = false;
		else if (request.do === "set") concurrency = request.concurrency;
		else if (request.do === "cancel") cancelled.add(attemptKey(request.index, request.attempt));
		else if (request.do === "requeue" || request.do === "rescore") rows.push(request);
		else throw new AgentError("BROKEN", `${requestsFile(run)} has a request "${(request as { do?: string }).do}", which this version does not know`);
	}
	return { paused, concurrency, cancelled, rows };
}

/** Calls `changed` with what holds, now and after each request; `failed` if the file is damaged. Returns what ends it. */
export function followRequests(run: string, changed: (wanted: Wanted) => void, failed: (error: unknown) => void): () => void {
	let seen = -1;
	const look = (): void => {
		try {
			const { bytes } = readLines(requestsFile(run));
			if (bytes === seen) return;
			seen = bytes;
			changed(readRequests(run));
		} catch (error) {
			failed(error);
		}
	};
	look();
	return watchFile(requestsFile(run), look);
}
