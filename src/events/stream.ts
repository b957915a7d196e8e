/** Events as an async iterable. A consumer is a position among the events that the source keeps: a slow one costs nothing, and one that has fallen behind is told from disk. */
import * as z from "zod";
import { aSignal, HoldfastError, parseOptions, Wakeup } from "../base/index.js";
import type { AgentRuntime } from "../tools/index.js";
import { type Happening, type HoldfastEvent, isOf, keyOf } from "./event.js";
import { type EventId, idText, parseId } from "./id.js";
import { pastSince } from "./past.js";
import { EventSource } from "./source.js";

/** How long before the last event something may have been on disk without having been told: what is this old is told again. */
const SLACK_MS = 3_000;
const AGAIN_MS = 10_000;
const FUTURE_MS = 60_000;

export interface EventOptions {
	/** Only of this task. Default: of all. */
	readonly task?: string | undefined;
	/** The id of the last event that the consumer had: it is told what it missed. Default: what happens from now on. */
	readonly after?: string | undefined;
	readonly signal?: AbortSignal | undefined;
}

const optionsSchema = z.strictObject({
	task: z.string().min(1).optional(),
	after: z.string().optional(),
	signal: aSignal,
});

const sources = new WeakMap<AgentRuntime, EventSource>();

export function eventSource(runtime: AgentRuntime): EventSource {
	const known = sources.get(runtime) ?? new EventSource(runtime);
	sources.set(runtime, known);
	return known;
}

/** Throws INVALID if an option is unknown or wrong. `over`: events until it aborts are told, later ones are not. */
export function streamEvents(runtime: AgentRuntime, options: EventOptions = {}, over?: AbortSignal): AsyncGenerator<HoldfastEvent, void> {
	const { task, after, signal } = parseOptions("events", optionsSchema, options);
	if (runtime.closed) throw new HoldfastError("ABORTED", "this runtime is closed; open another one");
	const from = after === undefined ? undefined : parseId(runtime.home, after);
	return stream(runtime, { task, from, signal, over });
}

interface Wanted {
	readonly task: string | undefined;
	readonly from: EventId | undefined;
	readonly signal: AbortSignal | undefined;
	readonly over: AbortSignal | undefined;
}

async function* stream(runtime: AgentRuntime, { task, from, signal, over }: Wanted): AsyncGenerator<HoldfastEvent, void> {
	const source = eventSource(runtime);
	const wakeup = new Wakeup();
	const stop = AbortSignal.any([runtime.closing, ...(signal ? [signal] : [])]);
	const wake = () => wakeup.poke();
	over?.addEventListener("abort", wake, { once: true });
	/** The number of the last event about the output of each process. */
	const printed = new Map<string, number>();
	const unobserve = source.observe({
		changed: () => {},
		approvals: () => {},
		gone: (id) => printed.delete(id),
		happened: (event) => {
			if (event.type === "process.printed") printed.set(event.session_id, source.ring.next - 1);
			wakeup.poke();
		},
	});
	try {
		await source.ready;
		let told = NOTHING;
		let time = from?.time ?? Date.now();
		let missed: { readonly until: number; readonly at: number } | undefined = { until: source.ring.next, at: Date.now() };
		let position = from ? (source.ring.behind(from) ?? LOST) : source.ring.next;
		let ending = false;
		while (!stop.aborted) {
			if (missed !== undefined && position >= missed.until) {
				const at = missed.at;
				missed = undefined;
				yield { id: source.ring.idBefore(position, at), at: new Date(at).toISOString(), type: "listening" };
				continue;
			}
			if (position < source.ring.first) {
				// The consumer was too slow, or comes back to another program: what it has not had is read from disk.
				position = source.ring.next;
				const past = readPast(source, time, task);
				time = Date.now();
				told = past;
				for (const event of past.events) {
					if (stop.aborted) return;
					yield event;
				}
				continue;
			}
			const event = position < source.ring.next ? source.ring.at(position) : undefined;
			if (event) {
				const number = position++;
				time = parseId(runtime.home, event.id).time;
				const isOld = event.type === "process.printed" && (printed.get(event.session_id) ?? number) > number;
				if (!isOld && isOf(event, task) && !isTold(event, told)) yield event;
			} else if (ending) return;
			else if (over?.aborted) {
				await source.settle();
				ending = true;
			} else await wakeup.next(undefined, stop);
		}
	} finally {
		over?.removeEventListener("abort", wake);
		unobserve();
	}
}

interface PastEvents {
	readonly events: readonly HoldfastEvent[];
	/** The keys of `events`, which need not be told again. */
	readonly keys: ReadonlySet<string>;
	/** Until when the source may find the same. */
	readonly until: number;
}

const NOTHING: PastEvents = { events: [], keys: new Set(), until: 0 };
/** Before every position that the source can have. */
const LOST = -1;

function isTold(event: HoldfastEvent, { keys, until }: PastEvents): boolean {
	const key = keyOf(event);
	return key !== undefined && keys.has(key) && Date.now() < until;
}

function readPast(source: EventSource, time: number, task: string | undefined): PastEvents {
	const { home } = source.runtime;
	const now = Date.now();
	const isFuture = time > now + FUTURE_MS;
	const past = isFuture ? { events: [], missing: ["the clock of this machine was set back"] } : pastSince(source.runtime, time - SLACK_MS, now);
	let number = 0;
	const event = (happening: Happening, at: number): HoldfastEvent => {
		const { time: when = at, ...rest } = happening;
		return { id: idText(home, { time: at, epoch: "disk", number: number++ }), at: new Date(when).toISOString(), ...rest } as HoldfastEvent;
	};
	const shown = past.events.filter((one) => isOf(one, task));
	const gaps = past.missing.map((text): Happening => ({ type: "gap", since: new Date(time).toISOString(), text }));
	const events = [
		...gaps.map((gap) => event(gap, Math.min(time, now))),
		...shown.map((one) => event(one, Math.min(one.time, now))),
		...source
			.standing()
			.filter((one) => isOf(one, task))
			.map((one) => event(one, now)),
	];
	return { events, keys: new Set(events.flatMap((one) => keyOf(one) ?? [])), until: now + AGAIN_MS };
}
