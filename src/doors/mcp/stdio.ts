/** MCP on stdin and stdout: one connection, both generations of the protocol. Ends when stdin does, and takes nothing with it. */
import type { JSONRPCMessage, McpServerFactory, RequestId, Server, Transport } from "@modelcontextprotocol/server";
import { serveStdio as serve } from "@modelcontextprotocol/server/stdio";
import type { AgentRuntime } from "../../tools/index.js";
import { Calls } from "./calls.js";
import { cancelledBy, listenOf, watchAll } from "./listen.js";
import { createServer, type ServerOptions } from "./server.js";
import { standardIo } from "./standard-io.js";
import { CallTasks } from "./tasks.js";
import { LogWatches } from "./watches.js";

export interface StdioDoor {
	/** Resolves when the client is gone, or after `close`. */
	readonly closed: Promise<void>;
	/** Some call is under way. */
	readonly busy: boolean;
	/** Resolves when the commands of calls that were taken back are dead, or in the background. */
	settled(): Promise<void>;
	close(): Promise<void>;
}

export function serveStdio(runtime: AgentRuntime, options: ServerOptions & { wire?: Transport; onError?: (error: Error) => void }): StdioDoor {
	let server: Server | undefined;
	const watches = new LogWatches((uri) => void server?.sendResourceUpdated({ uri }).catch(() => {})); // the connection is gone
	const calls = new Calls();
	const listens = new Map<RequestId, () => void>();
	const hear = (message: JSONRPCMessage) => {
		const listen = listenOf(message);
		if (listen) listens.set(listen.id, watchAll(watches, runtime, options.task, listen.uris));
		const cancelled = cancelledBy(message);
		if (cancelled === undefined) return;
		listens.get(cancelled)?.();
		listens.delete(cancelled);
	};
	const wire = options.wire ?? standardIo();
	let handle: { close(): Promise<void> } | undefined;
	const closed = new Promise<void>((resolve) => {
		const transport = tap(wire, hear, () => {
			watches.close();
			resolve();
		});
		const tasks = new CallTasks();
		const factory: McpServerFactory = ({ era }) => {
			server = createServer(runtime, { ...options, calls, ...(era === "modern" ? { tasks } : {}) });
			return server;
		};
		handle = serve(factory, { transport, ...(options.onError ? { onerror: options.onError } : {}) });
	});
	return {
		closed,
		close: async () => handle?.close(),
		settled: () => calls.settled(),
		get busy() {
			return calls.busy;
		},
	};
}

/** The same transport, overheard: the SDK keeps subscriptions to itself. */
function tap(wire: Transport, hear: (message: JSONRPCMessage) => void, closed: () => void): Transport {
	const tapped: Transport = { start: () => wire.start(), send: (message, options) => wire.send(message, options), close: () => wire.close() };
	wire.onmessage = (message, extra) => {
		hear(message);
		tapped.onmessage?.(message, extra);
	};
	wire.onerror = (error) => tapped.onerror?.(error);
	wire.onclose = () => {
		tapped.onclose?.();
		closed();
	};
	return tapped;
}
