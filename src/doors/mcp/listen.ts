/** `subscriptions/listen`, the newer protocol's way to subscribe. The SDK answers it; which logs to watch is for us to see. */
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";
import type { Runtime } from "../../process/index.js";
import { processAt } from "./logs.js";
import type { LogWatches } from "./watches.js";

export interface Listen {
	readonly id: RequestId;
	readonly uris: readonly string[];
}

/** Returns the subscription that a message asks for, if it asks for one. */
export function listenOf(message: unknown): Listen | undefined {
	const { id, method, params } = (message ?? {}) as { id?: RequestId; method?: string; params?: { notifications?: { resourceSubscriptions?: unknown } } };
	if (method !== "subscriptions/listen" || id === undefined) return undefined;
	const uris = params?.notifications?.resourceSubscriptions;
	return { id, uris: Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [] };
}

/** The id of the request that a message takes back. */
export function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
	if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
	return (message.params as { requestId?: RequestId } | undefined)?.requestId;
}

/** Watch those that exist; of others there is never any news. Returns what ends it. */
export function watchAll(watches: LogWatches, runtime: Runtime, task: string, uris: readonly string[]): () => void {
	const ends: (() => void)[] = [];
	for (const uri of uris) {
		try {
			ends.push(watches.add(uri, processAt(runtime, task, uri)));
		} catch {
			// no such process, or too many watches: listening has no way to refuse one of several
		}
	}
	return () => {
		for (const end of ends) end();
	};
}
