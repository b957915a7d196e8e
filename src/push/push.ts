/**
 * Tells people what needs them, wherever they are: questions of agents, programs that wait for a line or a password, and ends of processes.
 * `holdfast serve` runs it, with the targets of `notify` in config.json. Of several servers on a home one sends. docs/notify.md
 */
import path from "node:path";
import { ensureDir, Lease, type NotifyTarget } from "../base/index.js";
import { eventSource, type HoldfastEvent } from "../events/index.js";
import { clearTargets, keyboardOf, recordTarget } from "../process/index.js";
import type { AgentRuntime } from "../tools/index.js";
import { PUSH_TIMES, type PushTimes, type Report, TargetLine } from "./line.js";
import { type AnswerLinks, aboutEnd, aboutQuestion, aboutWaiting, type PushMessage } from "./message.js";

export interface PushOptions {
	readonly targets: readonly NotifyTarget[];
	/** The address of the page, without a slash at its end. */
	readonly page: string;
	/** Makes the links that answer a question, for one target. */
	readonly answerLinks: (approval: { id: string; expires_at: string }, target: string) => AnswerLinks;
	/** Told when a target begins to fail, or works again. */
	readonly say: (text: string) => void;
	readonly times?: Partial<PushTimes>;
}

/** Tells the targets from now on. Returns what ends that; messages under way are given up. */
export function startPush(runtime: AgentRuntime, { targets, page, answerLinks, say, times: given }: PushOptions): () => Promise<void> {
	if (targets.length === 0) return async () => {};
	const { home, approvals } = runtime;
	const times = { ...PUSH_TIMES, ...given };
	const closing = new AbortController();
	const report = reporter(home.root, say);
	const lines = targets.map((target) => new TargetLine(target, { times, report, closing: closing.signal }));
	const lease = oneOfMany(path.join(home.root, "notify"));
	const waiting = new Map<string, NodeJS.Timeout>();
	clearTargets(home.root);

	const tell = (kind: PushMessage["kind"], message: (target: NotifyTarget) => PushMessage): void => {
		if (!lease.held()) return;
		for (const line of lines) if (line.target.on.includes(kind)) line.add(message(line.target));
	};
	const calm = (id: string): void => {
		clearTimeout(waiting.get(id));
		waiting.delete(id);
	};
	/** An agent that is at work answers a prompt itself: a person is told only if it stays unanswered for a while. */
	const waits = (event: Extract<HoldfastEvent, { type: "process.waits" }>): void => {
		calm(event.session_id);
		if (event.waiting_for !== "line" && event.waiting_for !== "password") return;
		const later = () => {
			waiting.delete(event.session_id);
			safely(() => {
				const process = runtime.get(event.session_id);
				if (!keyboardOf(process)) tell("waiting", () => aboutWaiting(event, process, page));
			});
		};
		waiting.set(event.session_id, setTimeout(later, times.waitingMs));
	};
	const happened = (event: HoldfastEvent): void => {
		if (event.type === "approval.asked") {
			const approval = approvals.get(event.approval_id);
			if (approval.state === "pending") tell("question", ({ name }) => aboutQuestion(approval, page, answerLinks(approval, name)));
		} else if (event.type === "process.waits") waits(event);
		else if (event.type === "process.printed") calm(event.session_id);
		else if (event.type === "process.ended") {
			calm(event.session_id);
			const process = runtime.get(event.session_id);
			if (process.spec.within === undefined && process.spec.kind === undefined) tell("end", () => aboutEnd(event, process, page));
		}
	};
	const unobserve = eventSource(runtime).observe({
		changed: () => {},
		gone: calm,
		approvals: () => {},
		happened: (event) => safely(() => happened(event)),
	});
	// A person who is told of a question can answer it, so calls wait for the answer.
	const leave = targets.some(({ on }) => on.includes("question")) ? approvals.attend() : () => {};
	return async () => {
		unobserve();
		leave();
		for (const id of [...waiting.keys()]) calm(id);
		closing.abort();
		await Promise.all(lines.map((line) => line.idle()));
		lease.release();
	};
}

/** Runs `act` for an event whose process or question may have been removed meanwhile, which must not disturb other listeners. */
function safely(act: () => void): void {
	try {
		act();
	} catch {
		// its subject is gone, so there is nothing to tell
	}
}

/** Says once when a target begins to fail and when it works again; doctor reads the rest. */
function reporter(root: string, say: (text: string) => void): Report {
	const since = new Map<string, string>();
	return (name, failing) => {
		const known = since.get(name);
		if (!failing && known === undefined) return;
		if (!failing) {
			since.delete(name);
			say(`the notify target ${name} works again`);
		} else if (known === undefined) {
			since.set(name, new Date().toISOString());
			say(`the notify target ${name} fails: ${failing.error}; a message was lost`);
		}
		try {
			recordTarget(root, name, failing && { name, ...failing, at: since.get(name) as string });
		} catch {
			// a full disk: it was said above
		}
	};
}

function oneOfMany(dir: string): { held(): boolean; release(): void } {
	let lease: Lease | undefined;
	return {
		held: () => {
			if (lease?.held()) return true;
			ensureDir(dir);
			lease = Lease.take(path.join(dir, "sender"));
			return lease !== undefined;
		},
		release: () => lease?.release(),
	};
}
