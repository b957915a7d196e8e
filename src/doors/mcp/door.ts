import type { AgentRuntime } from "../../tools/index.js";
import { ConnectionCalls } from "./calls.js";
import { McpHttp } from "./http.js";
import { HttpClients } from "./http-clients.js";
import { watchAll } from "./listen.js";
import { createServer } from "./server.js";
import type { HttpDoor, HttpDoorSettings } from "./surface.js";
import { CallTasks } from "./tasks.js";
import type { ServedTool } from "./tools.js";
import { LogWatches } from "./watches.js";

export type { HttpDoor };
export interface DoorOptions extends HttpDoorSettings {
	/** Beside ours. */
	readonly tools?: readonly ServedTool[];
}

/** Returns the handler of requests at /mcp for a runtime. */
export function httpDoor(runtime: AgentRuntime, { answerMs, quickMs, tools, ...options }: DoorOptions = {}): HttpDoor {
	const calls = new ConnectionCalls();
	const tasks = new CallTasks(quickMs === undefined ? {} : { quickMs });
	const endShell = async (task: string) => {
		await calls.done(task); // what its client has left goes on in it
		await runtime.leaveTask(task);
	};
	const http = new McpHttp({
		...options,
		clients: new HttpClients(runtime.home),
		server: ({ task, modern }) =>
			createServer(runtime, { task, calls, ...(tools ? { tools } : {}), ...(answerMs === undefined ? {} : { answerMs }), ...(modern ? { tasks } : {}) }),
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
