/** An MCP server on a runtime: the tools, and the logs as resources. One is made for each connection, whatever carries it. */
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { packageVersion } from "../../base/index.js";
import type { AgentRuntime } from "../../tools/index.js";
import { announceNotices } from "./announce.js";
import { howToAsk } from "./approve.js";
import { ANSWER_MS, asking, type Caller, callTool, runTool } from "./call.js";
import { ConnectionCalls } from "./calls.js";
import { clientName } from "./client.js";
import { INSTRUCTIONS } from "./instructions.js";
import { LOG_TEMPLATE, listLogs, processAt, readLog } from "./logs.js";
import { type CallTasks, declaresTasks, serveTasks, TASKS } from "./tasks.js";
import { type ServedTool, toolsOf } from "./tools.js";
import { LogWatches } from "./watches.js";

export interface ServerOptions {
	/** The task of all calls. */
	readonly task: string;
	/** How long a call without a progress token may take, in milliseconds. */
	readonly answerMs?: number;
	/** The newer protocol's tasks, if it is that. */
	readonly tasks?: CallTasks;
	readonly calls?: ConnectionCalls;
	/** Beside ours. */
	readonly tools?: readonly ServedTool[];
}

const VERSION = packageVersion();

export function createServer(runtime: AgentRuntime, options: ServerOptions): Server {
	const server = new Server(
		{ name: "holdfast", title: "Holdfast", version: VERSION },
		{
			instructions: INSTRUCTIONS,
			capabilities: { tools: {}, resources: { subscribe: true }, logging: {}, ...(options.tasks ? { extensions: { [TASKS]: {} } } : {}) },
		},
	);
	serveTools(server, {
		runtime,
		calls: new ConnectionCalls(),
		answerMs: ANSWER_MS,
		asking: (context) => howToAsk(server, context),
		client: (context) => clientName(server, context),
		...options,
	});
	if (options.tasks) serveTasks(server, options.tasks, options.task);
	const closed = new AbortController();
	serveLogs(server, runtime, options.task, closed.signal);
	server.oninitialized = () => void announceNotices(server, runtime, options.task, closed.signal);
	server.onclose = () => closed.abort();
	return server;
}

function serveTools(server: Server, caller: Caller & Pick<ServerOptions, "tasks" | "tools">): void {
	const { runtime, tasks, tools: more } = caller;
	server.setRequestHandler("tools/list", () => toolsOf(runtime, more).listed);
	server.setRequestHandler("tools/call", ({ params: { name, arguments: args } }, context) => {
		const { tools } = toolsOf(runtime, more);
		const tool = tools.find((candidate) => candidate.name === name);
		if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool "${name}"; there are ${tools.map((known) => known.name).join(", ")}`);
		if (tasks && declaresTasks(context))
			return asking(caller, context, (more) => tasks.run(caller, context, (call) => runTool(caller, tool, args, { ...call, ...more })));
		return callTool(caller, tool, args, context);
	});
}

function serveLogs(server: Server, runtime: AgentRuntime, task: string, closed: AbortSignal): void {
	const watches = new LogWatches((uri) => void server.sendResourceUpdated({ uri }).catch(() => {})); // the connection is gone
	const subscribed = new Map<string, () => void>();
	server.setRequestHandler("resources/list", () => listLogs(runtime, task));
	server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [LOG_TEMPLATE] }));
	server.setRequestHandler("resources/read", ({ params }) => readLog(runtime, task, params.uri));
	server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
		if (!subscribed.has(uri)) subscribed.set(uri, watches.add(uri, processAt(runtime, task, uri)));
		return {};
	});
	server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
		subscribed.get(uri)?.();
		subscribed.delete(uri);
		return {};
	});
	closed.addEventListener("abort", () => watches.close());
}
