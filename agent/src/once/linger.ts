/** Processes that report their end, and are waited for. */
import type { Runtime } from "holdfast";
import type { Entry } from "../talk/index.js";
import type { Conversation } from "../turn/index.js";

/** Ids of those that the model has asked to be told about, and whose end the conversation does not know yet. */
function unreported(entries: readonly Entry[]): string[] {
	const asked = new Set(
		entries.flatMap((entry) =>
			entry.t === "assistant" ? entry.calls.filter(({ args }) => /"notify_on_complete"\s*:\s*true/.test(args)).map(({ id }) => id) : [],
		),
	);
	const started = entries.flatMap((entry) => (entry.t === "result" && entry.process !== undefined && asked.has(entry.call) ? [entry.process] : []));
	return started.filter((id) => !entries.some((entry) => entry.t === "notice" && entry.id.startsWith(id) && entry.id.endsWith("completed")));
}

/** Those that still run. */
export const reporting = (runtime: Runtime, entries: readonly Entry[]): string[] => unreported(entries).filter((id) => isRunning(runtime, id));

function isRunning(runtime: Runtime, id: string): boolean {
	try {
		return runtime.get(id).status().status === "running";
	} catch {
		return false; // removed long ago
	}
}

const LOOK_MS = 50;
/** After its end the news of a process are there at once; what has not come by then was told to another program. */
const NEWS_MS = 10_000;

/** Waits until they have ended and the conversation has answered their news; or until `signal` aborts. */
export async function linger(runtime: Runtime, conversation: Conversation, signal: AbortSignal): Promise<void> {
	const { log } = conversation;
	let quiet = Date.now();
	while (!signal.aborted && unreported(log.entries).length > 0) {
		if (conversation.busy || reporting(runtime, log.entries).length > 0) quiet = Date.now();
		else if (Date.now() - quiet > NEWS_MS) return;
		await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
	}
	await conversation.idle();
}
