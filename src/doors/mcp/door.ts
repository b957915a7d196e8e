import type { AgentRuntime } from "../../tools/index.js";
import { Calls } from "./calls.js";
import { McpHttp } from "./http.js";
import { watchAll } from "./listen.js";
import { createServer } from "./server.js";
import { CallTasks } from "./tasks.js";
import { LogWatches } from "./watches.js";

export interface DoorOptions {
	/** The task of everybody; without it each session is its own. */
	readonly task?: string;
	readonly answerMs?: number;
	/** After how long a call becomes a task, for clients that know those. */
	readonly quickMs?: number;
	readonly onError?: (error: Error) => void;
	readonly limits?: { readonly sessions?: number; readonly idleMs?: number };
}

export interface HttpDoor {
	/** Some call is under way. */
	readonly busy: boolean;
	fetch(request: Request): Promise<Response>;
	/** What runs goes on. */
	close(): Promise<void>;
}

/** What answers at /mcp, for a runtime. */
export function httpDoor(runtime: AgentRuntime, { answerMs, quickMs, ...options }: DoorOptions = {}): HttpDoor {
	const calls = new Calls();
	const tasks = new CallTasks(quickMs === undefined ? {} : { quickMs });
	const endShell = async (task: string) => {
		await calls.done(task); // what its client has left goes on in it
		await runtime.leaveTask(task);
	};
	const http = new McpHttp({
		...options,
		server: ({ task, modern }) => createServer(runtime, { task, calls, ...(answerMs === undefined ? {} : { answerMs }), ...(modern ? { tasks } : {}) }),
		watch: (task, uris, changed) => watchAll(new LogWatches(changed), runtime, task, uris),
		ended: (task) => void endShell(task).catch((error: Error) => options.onError?.(error)),
	});
	return {
		fetch: (request) => http.fetch(request),
		close: () => http.close(),
		get busy() {
			return calls.busy;
		},
	};
}
