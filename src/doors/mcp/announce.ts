/**
 * Notices as log messages, the moment they come. Most clients show those to people, if at all; only a tool result
 * is sure to reach the model. So each is announced here and stays in the queue: the next result brings it, with the same id.
 */
import { LOG_LEVEL_META_KEY, type Server, type ServerContext } from "@modelcontextprotocol/server";
import type { AgentRuntime } from "../../tools/index.js";

/** Until `signal` aborts. The older protocol: the newer one has no log messages outside of a request. */
export async function announceNotices(server: Server, runtime: AgentRuntime, task: string, signal: AbortSignal): Promise<void> {
	try {
		for await (const notice of runtime.notices.stream(task, { signal, leave: true }))
			await server.sendLoggingMessage({ level: "info", logger: "holdfast", data: runtime.home.secrets.redactAll(notice) }, server.transport?.sessionId);
	} catch (error) {
		if (!signal.aborted) server.onerror?.(error as Error);
	}
}

/** The newer protocol: while a call lasts whose request asks for log messages. Returns what ends it. */
export function announceDuring({ mcpReq }: ServerContext, runtime: AgentRuntime, task: string): () => void {
	const call = new AbortController();
	if ((mcpReq.envelope as Record<string, unknown> | undefined)?.[LOG_LEVEL_META_KEY] !== undefined) void announce(call.signal);
	return () => call.abort();

	async function announce(signal: AbortSignal): Promise<void> {
		try {
			for await (const notice of runtime.notices.stream(task, { signal, leave: true }))
				await mcpReq.log("info", runtime.home.secrets.redactAll(notice), "holdfast");
		} catch {
			// the client is gone, or the home cannot be read just now, which the result says
		}
	}
}
