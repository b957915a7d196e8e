import type { AgentRuntime } from "../../tools/index.js";
import { McpHttp } from "./http.js";
import { watchAll } from "./listen.js";
import { createServer } from "./server.js";
import { LogWatches } from "./watches.js";

export interface DoorOptions {
	/** The task of everybody; without it each session is its own. */
	readonly task?: string;
	readonly answerMs?: number;
	readonly onError?: (error: Error) => void;
	readonly limits?: { readonly sessions?: number; readonly idleMs?: number };
}

/** What answers at /mcp, for a runtime. */
export function httpDoor(runtime: AgentRuntime, { answerMs, ...options }: DoorOptions = {}): McpHttp {
	return new McpHttp({
		...options,
		server: ({ task }) => createServer(runtime, { task, ...(answerMs === undefined ? {} : { answerMs }) }),
		watch: (task, uris, changed) => watchAll(new LogWatches(changed), runtime, task, uris),
	});
}
