/** The events since a time that this home has on disk: for a consumer that resumes in another program, or much later. */
import path from "node:path";
import { readAudit } from "../audit/index.js";
import { namesIn, readStart, statIfThere } from "../base/index.js";
import { segmentName, segmentStarts } from "../keeper/index.js";
import { tasksWithNotices } from "../notices/index.js";
import { isOver, type Process, prunedUntil } from "../process/index.js";
import type { AgentRuntime } from "../tools/index.js";
import type { Happening } from "./event.js";
import { about, answered, asked, ended, lifeOf, started } from "./happenings.js";

const MOST = 10_000;
/** Questions are files for an hour after they have expired; after that the audit has them. */
const FILES_MS = 3_000_000;

export interface Past {
	/** In order of time, which each has. */
	readonly events: readonly (Happening & { readonly time: number })[];
	/** Missing parts, a sentence each. */
	readonly missing: readonly string[];
}

export function pastSince(runtime: AgentRuntime, since: number, now = Date.now()): Past {
	const missing: string[] = [];
	const found = [...processes(runtime, since, missing), ...approvals(runtime, since, now, missing), ...notices(runtime, since), ...places(runtime, since)];
	const events = found.map((one) => ({ ...one, time: one.time ?? now })).sort((a, b) => a.time - b.time);
	if (events.length > MOST) missing.push(`more than ${MOST} events have happened; the oldest are left out`);
	return { events: events.slice(-MOST), missing };
}

function processes({ registry, home }: AgentRuntime, since: number, missing: string[]): Happening[] {
	const pruned = prunedUntil(home);
	if (pruned !== undefined && pruned >= since) missing.push(`processes that ended before ${new Date(pruned).toISOString()} have been removed`);
	const found: Happening[] = [];
	const shown = (process: Process) => process.spec.kind === undefined;
	for (const hour of namesIn(home.ended)) {
		if ((statIfThere(path.join(home.ended, hour))?.mtimeMs ?? 0) < since) continue; // a ticket changes its directory
		for (const ticket of registry.ended(hour)) {
			if (ticket.ranges) continue; // commands of a shell, whose results their calls have
			const settled = statIfThere(ticket.file)?.ctimeMs ?? 0; // when the end was noted, which may be long after it
			const process = settled < since ? undefined : registry.matching(ticket.id)?.[0];
			if (!process || !shown(process)) continue;
			if (process.spec.startedAt >= since) found.push(started(process));
			found.push(ended(process, process.status(), settled));
		}
	}
	for (const process of registry.running().filter(shown)) {
		if (isOver(process.status())) continue;
		const ticket = statIfThere(path.join(home.live, process.id))?.ctimeMs ?? 0;
		if (Math.max(ticket, process.spec.startedAt) >= since) found.push({ ...started(process), time: Math.max(ticket, process.spec.startedAt) });
		const printed = lastOutput(process);
		if (printed >= since) found.push({ type: "process.printed", time: printed, ...about(process) });
	}
	return found;
}

function lastOutput({ dir }: Process): number {
	const last = segmentStarts(dir).at(-1);
	const stat = last === undefined ? undefined : statIfThere(path.join(dir, segmentName(last)));
	return stat && stat.size > 0 ? stat.mtimeMs : 0;
}

function approvals({ approvals: store, home }: AgentRuntime, since: number, now: number, missing: string[]): Happening[] {
	const found = store.list({ all: true }).flatMap((approval) => [asked(approval), answered(approval) ?? []].flat());
	const known = new Set(store.list({ all: true }).map(({ id }) => id));
	if (now - since > FILES_MS) {
		for (const { at, task, event, approval_id, command = "", cwd = "", place = "", outcome, by = null } of readAudit(home, { since }, () => undefined)) {
			if (approval_id === undefined || known.has(approval_id)) continue;
			const common = { time: Date.parse(at), task, approval_id };
			if (event === "asked") found.push({ type: "approval.asked", ...common, command, cwd, place });
			else if (event === "decided" && isAnswer(outcome)) found.push({ type: "approval.answered", ...common, answer: outcome, by });
		}
		if (namesIn(home.audit).some((name) => name.endsWith(".old.jsonl") && beginsAfter(path.join(home.audit, name), since)))
			missing.push("the audit of a task does not go back that far, so questions may be missing");
	}
	return found.filter(({ time = now }) => time >= since);
}

type Answered = Extract<Happening, { type: "approval.answered" }>["answer"];
const ANSWERS: readonly string[] = ["once", "task", "always", "no", "expired", "withdrawn"] satisfies Answered[];
const isAnswer = (outcome: string | undefined): outcome is Answered => outcome !== undefined && ANSWERS.includes(outcome);

function beginsAfter(file: string, since: number): boolean {
	try {
		return Date.parse(/"at":"([^"]+)"/.exec(readStart(file, 256))?.[1] ?? "") > since;
	} catch {
		return false; // it has just been replaced
	}
}

/** Notices that were not delivered yet. */
function notices({ notices: queues, home }: AgentRuntime, since: number): Happening[] {
	return tasksWithNotices(home)
		.flatMap((task) => queues.waiting(task))
		.map((notice): Happening => ({ type: "notice", time: Date.parse(notice.at), task: notice.task, notice }))
		.filter(({ time = 0 }) => time >= since);
}

/** Which life of a container is used now; of a sandbox, its process. */
function places({ home, registry }: AgentRuntime, since: number): Happening[] {
	const dir = path.join(home.root, "places");
	const containers = namesIn(dir).flatMap((name): Happening[] => {
		const time = name.endsWith(".life") ? (statIfThere(path.join(dir, name))?.mtimeMs ?? 0) : 0;
		const life = time >= since ? lifeOf(home, path.join(dir, name)) : undefined;
		if (!life) return [];
		return [!life.box ? { ...life, type: "place.down", time, reason: "the container was ended" } : { ...life, type: "place.up", time }];
	});
	const sandboxes = registry
		.running()
		.filter(({ spec }) => spec.kind === "sandbox" && spec.startedAt >= since)
		.map(({ id, spec }): Happening => ({ type: "place.up", time: spec.startedAt, place: "local+sandbox", task: spec.task, box: id }));
	return [...containers, ...sandboxes];
}
