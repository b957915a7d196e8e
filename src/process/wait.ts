/** Waits for the end of a process, or for any of several conditions. */

import * as z from "zod";
import { aSignal, DRAIN_MS, HoldfastError, parseOptions, until, type Watch, watchAll, watchEnd } from "../base/index.js";
import { isDrained } from "../places/index.js";
import type { Process } from "./process.js";
import { isOver, type Status } from "./status.js";
import { type Condition, PatternSearch, type Until, untilSchema } from "./until.js";

export const DRAIN_LOOK_MS = 2;

export interface WaitOptions {
	readonly until?: Until;
	/** Milliseconds. Default: no limit. */
	readonly timeout?: number;
	readonly signal?: AbortSignal;
	/** Offset at which a pattern search starts. Default: the oldest output kept. */
	readonly from?: number;
}

const waitSchema = z.lazy(() =>
	z.strictObject({
		until: z.unknown().optional(),
		timeout: z.number().min(0).or(z.literal(Number.POSITIVE_INFINITY)).optional(),
		signal: aSignal,
		from: z.number().int().min(0).optional(),
	}),
);

export interface WaitResult {
	/** The condition that held; null if the time was up first. */
	readonly matched: Condition | null;
	readonly timedOut: boolean;
	readonly status: Status;
	/** End of the match of a pattern, so that a search can continue from it; otherwise the end of the output. */
	readonly offset: number;
	/** The text that a pattern matched. */
	readonly match?: string;
}

/** Waits until the process exits, any condition of `until` holds, or the time is up. Never affects the process. */
export async function waitFor(process: Process, options: WaitOptions = {}): Promise<WaitResult> {
	parseOptions("wait", waitSchema, options);
	const condition = parseUntil(options.until);
	const search = condition.pattern === undefined ? undefined : new PatternSearch(condition.pattern);
	const stop = new AbortController();
	const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
	const deadline = options.timeout === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.timeout;
	const cursor = process.log.cursor(options.from ?? 0);
	const begin = Math.max(cursor.offset, process.log.bounds().first);
	let probed: Condition | undefined;
	let hopeless: unknown;
	const probe = (name: Condition, promise: Promise<void>): Watch =>
		watchEnd(
			promise.then(
				() => {
					probed ??= name;
				},
				(error: unknown) => {
					if (!signal.aborted) hopeless = error; // otherwise the wait is over
				},
			),
		);
	const { port, http, status: wanted } = condition;
	const { processes } = process.machine;
	const watch = watchAll(
		(poke) => process.watch(poke),
		...(port === undefined ? [] : [probe("port", processes.portOpens(process, port, signal))]),
		...(http === undefined ? [] : [probe("http", processes.httpAnswers(process, { url: http, status: wanted }, signal))]),
	);
	let end = process.log.bounds().end;
	let quietSince = performance.now();
	let next = Number.POSITIVE_INFINITY; // when to look again without an event
	const result = (matched: Condition | null, status: Status): WaitResult => ({
		matched,
		timedOut: matched === null,
		status,
		offset: matched === "pattern" ? begin + (search?.matchEnd ?? 0) : process.log.bounds().end,
		...(search?.match === undefined ? {} : { match: search.match }),
	});
	const look = (): WaitResult | undefined => {
		if (options.signal?.aborted) throw new HoldfastError("ABORTED", "the wait was interrupted; the process goes on", { cause: options.signal.reason });
		const status = process.status();
		const drained = isOver(status) && isDrained(process.dir);
		if (search) {
			for (let slice = cursor.read(); slice.bytes.length > 0; slice = cursor.read()) {
				if (search.push(slice.bytes)) return result("pattern", status);
			}
			if (drained && search.end()) return result("pattern", status);
		}
		if (probed) return result(probed, status);
		if (hopeless !== undefined) throw hopeless;
		const now = performance.now();
		if (isOver(status) && (drained || now - quietSince > DRAIN_MS)) return result("exit", status);
		if (condition.silence !== undefined || isOver(status)) {
			const size = process.log.bounds().end;
			if (size !== end) {
				end = size;
				quietSince = now;
			}
		}
		next = deadline;
		if (condition.silence !== undefined) {
			const quietAt = quietSince + condition.silence * 1000;
			if (now >= quietAt) return result("silence", status);
			next = Math.min(next, quietAt);
		}
		if (now >= deadline) return result(null, status);
		if (isOver(status)) next = now + DRAIN_LOOK_MS;
		return undefined;
	};
	try {
		const every = () => next - performance.now();
		const found = await until(watch, look, { every, ...(options.signal ? { signal: options.signal } : {}) });
		return found as WaitResult; // without a deadline, `until` ends only with a result
	} finally {
		stop.abort();
		cursor.close();
	}
}

function parseUntil(until: Until | undefined): Until {
	const condition = parseOptions("until", untilSchema, until ?? { exit: true });
	if (condition.status !== undefined && condition.http === undefined) throw new HoldfastError("INVALID", "until: `status` goes with `http`");
	return condition;
}
