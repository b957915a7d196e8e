/** Follows a task from now on. A command is told when it has ended; one that takes longer also while it runs. */
import { setTimeout as sleep } from "node:timers/promises";
import { type AuditEvent, followAudit, runOf } from "../audit/index.js";
import { Wakeup } from "../base/index.js";
import type { Process, Runtime } from "../process/index.js";
import { knowShellSecrets } from "../shell/index.js";
import { type EntryOfProcess, entryOf, tellOf } from "./read.js";

const LONG_MS = 2_000; // a command that runs for longer is told while it does
const LOOK_MS = 500;
const GATHER_MS = 100; // a busy agent is looked at so often at most

interface Pending {
	readonly run: AuditEvent;
	readonly since: number;
	told: boolean;
}

/** Yields until the signal aborts: first the processes that run now, then what happens. From its first step on nothing is missed. */
export async function* followTask(runtime: Runtime, task: string, signal: AbortSignal): AsyncGenerator<EntryOfProcess, void> {
	const { home } = runtime;
	const wakeup = new Wakeup();
	const news: AuditEvent[] = [];
	const stop = new AbortController();
	const over = AbortSignal.any([signal, stop.signal]);
	const reading = gather(followAudit(home, { task }, over), news, wakeup);
	const unwatch = home.watch.directory(home.live, wakeup.poke);
	const pending = new Map<string, Pending>();
	const alone = new Set<string>(); // processes that have no line in the audit
	try {
		while (!signal.aborted) {
			yield* audited(runtime, news.splice(0), pending, alone);
			yield* byThemselves(runtime, task, alone);
			for (const [id, entry] of pending) {
				if (entry.told || performance.now() - entry.since < LONG_MS) continue;
				entry.told = true;
				const told = find(runtime, id, { run: entry.run });
				if (told) yield told;
			}
			// The end of a process is an event of its own directory: it is looked for while one runs.
			const looks = pending.size > 0 || runtime.registry.running(task).some(({ spec }) => spec.kind === undefined);
			if (news.length === 0) await wakeup.next(looks ? LOOK_MS : undefined, signal);
			await sleep(GATHER_MS, undefined, { signal }).catch(() => {}); // aborted: the loop ends
		}
	} finally {
		stop.abort();
		unwatch();
		await reading;
	}
}

async function gather(events: AsyncIterable<AuditEvent>, into: AuditEvent[], wakeup: Wakeup): Promise<void> {
	for await (const event of events) {
		into.push(event);
		wakeup.poke();
	}
}

function* audited(runtime: Runtime, events: readonly AuditEvent[], pending: Map<string, Pending>, alone: Set<string>): Generator<EntryOfProcess, void> {
	for (const event of events) {
		const id = event.session_id;
		if (event.event === "run" && id !== undefined) pending.set(id, { run: event, since: performance.now(), told: false });
		else if (event.event === "ended" && id !== undefined) {
			const run = pending.get(id)?.run;
			pending.delete(id);
			alone.delete(id);
			const told = find(runtime, id, { ...(run ? { run } : {}), end: event });
			if (told) yield told;
		} else if (event.event !== "run" && event.event !== "ended") yield { entry: entryOf(event) };
	}
}

/** Processes that a person, or a program, has started without a call. */
function* byThemselves(runtime: Runtime, task: string, alone: Set<string>): Generator<EntryOfProcess, void> {
	const now = new Map(runtime.registry.running(task).map((process) => [process.id, process]));
	for (const [id, process] of now) {
		if (alone.has(id) || process.spec.kind !== undefined || process.spec.within || isAudited(process)) continue;
		alone.add(id);
		const told = tellOf(process);
		if (told) yield told;
	}
	for (const id of alone) {
		if (now.has(id)) continue;
		alone.delete(id);
		const told = find(runtime, id, {});
		if (told) yield told;
	}
}

const isAudited = ({ dir }: Process): boolean => runOf(dir) !== undefined;

function find(runtime: Runtime, id: string, known: Parameters<typeof tellOf>[1]): EntryOfProcess | undefined {
	const process = runtime.registry.matching(id)?.[0];
	if (process) knowShellSecrets(runtime.home, process.spec);
	return process && tellOf(process, known);
}
