/** The MCP door as the library shows it: `holdfast/mcp`. */
import * as z from "zod";
import { agentOf, checkNames, type DefinedTool, type Runtime, runOf } from "../../api/index.js";
import { parseOptions } from "../../base/index.js";
import { httpDoor as innerHttpDoor } from "./door.js";
import { createServer as innerServer } from "./server.js";
import { serveStdio as innerStdio } from "./stdio.js";
import type { HttpDoor, HttpDoorSettings, McpServer, McpTransport, StdioDoor } from "./surface.js";
import type { ServedTool } from "./tools.js";

interface More {
	/** Tools of `defineTool`, beside Holdfast's own. */
	readonly tools?: readonly DefinedTool[];
}

export type { HttpDoor, McpServer, McpTransport, StdioDoor };
export interface ServerOptions extends More {
	/** The task of all calls. */
	readonly task: string;
	/** How long a call without a progress token may take, in milliseconds. */
	readonly answerMs?: number;
}
export interface StdioOptions extends More {
	/** The task of all calls. Default: the one that belongs to the client and the directory this program was started in. */
	readonly task?: string;
	readonly answerMs?: number;
	/** In place of stdin and stdout. */
	readonly wire?: McpTransport;
	readonly onError?: (error: Error) => void;
}
export interface DoorOptions extends HttpDoorSettings, More {}

const aTask = z.string().min(1).max(1_000);
const aNumber = z.number().int().min(1).optional();
const aFunction = z.custom<(error: Error) => void>((value) => typeof value === "function", "must be a function").optional();
const serverSchema = z.strictObject({ task: aTask, answerMs: aNumber, tools: z.unknown().optional() });
const stdioSchema = serverSchema.extend({
	task: aTask.optional(),
	wire: z.custom<McpTransport>((value) => typeof value === "object" && value !== null, "must be a transport of an MCP SDK").optional(),
	onError: aFunction,
});
const doorSchema = serverSchema.extend({
	task: aTask.optional(),
	quickMs: z.number().int().min(0).optional(),
	onError: aFunction,
	limits: z.strictObject({ sessions: aNumber, idleMs: aNumber }).optional(),
});

/** Returns an MCP server for one connection, to be connected to a transport. Throws INVALID if an option cannot be used. */
export function createServer(runtime: Runtime, options: ServerOptions): McpServer {
	parseOptions("createServer", serverSchema, options);
	return innerServer(agentOf(runtime), withServed(options));
}

/** Serves one client on stdin and stdout. */
export function serveStdio(runtime: Runtime, options: StdioOptions = {}): StdioDoor {
	parseOptions("serveStdio", stdioSchema, options);
	return innerStdio(agentOf(runtime), withServed(options));
}

/** Returns the handler of requests at /mcp, as a fetch handler. */
export function httpDoor(runtime: Runtime, options: DoorOptions = {}): HttpDoor {
	parseOptions("httpDoor", doorSchema, options);
	return innerHttpDoor(agentOf(runtime), withServed(options));
}

/** Throws INVALID if two have the same name, or one was not made by `defineTool`. */
function withServed<O extends More>({ tools, ...options }: O): Omit<O, "tools"> & { tools?: readonly ServedTool[] } {
	if (tools === undefined) return options;
	checkNames(tools);
	return {
		...options,
		tools: tools.map((tool) => ({ ...tool, outputSchema: tool.outputSchema, run: (agent, args, call = {}) => runOf(tool)(agent, args, call) })),
	};
}
