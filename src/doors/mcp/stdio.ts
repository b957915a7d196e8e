/** MCP on stdin and stdout: one connection, both generations of the protocol. Ends when stdin does, and takes nothing with it. */
import type { JSONRPCMessage, McpServerFactory, RequestId, Server, Transport } from "@modelcontextprotocol/server";
import { serveStdio as serve } from "@modelcontextprotocol/server/stdio";
import type { AgentRuntime } from "../../tools/index.js";
import { ConnectionCalls } from "./calls.js";
import { clientIn } from "./client.js";
import { cancelledBy, listenOf, watchAll } from "./listen.js";
import { createServer, type ServerOptions } from "./server.js";
import { standardIo } from "./standard-io.js";
import type { McpTransport, StdioDoor } from "./surface.js";
import { type OwnTask, ownTask } from "./task.js";
import { CallTasks } from "./tasks.js";
import { LogWatches } from "./watches.js";

export interface StdioOptions extends Omit<ServerOptions, "task"> {
	/** The task of all calls. Default: the one that belongs to the client and the directory this program was started in. */
	readonly task?: string;
	readonly wire?: McpTransport;
	readonly onError?: (error: Error) => void;
}

export function serveStdio(runtime: AgentRuntime, options: StdioOptions): StdioDoor {
	let server: Server | undefined;
	let own: OwnTask | undefined;
	let { task } = options;
	const watches = new LogWatches((uri) => void server?.sendResourceUpdated({ uri }).catch(() => {})); // the connection is gone
	const calls = new ConnectionCalls();
	const listens = new Map<RequestId, () => void>();
	const hear = (message: JSONRPCMessage) => {
		const listen = listenOf(message);
		if (listen) listens.set(listen.id, watchAll(watches, runtime, task as string, listen.uris));
		const cancelled = cancelledBy(message);
		if (cancelled === undefined) return;
		listens.get(cancelled)?.();
		listens.delete(cancelled);
	};
	const choose = async (first: JSONRPCMessage): Promise<void> => {
		if (task !== undefined) return;
		own = await ownTask(runtime, clientIn(first));
		task = own.task;
		calls.note(task, own.left);
	};
	const wire = (options.wire ?? standardIo()) as Transport;
	let handle: { close(): Promise<void> } | undefined;
	const closed = new Promise<void>((resolve) => {
		const transport = tap(wire, { choose, hear }, () => {
			watches.close();
			resolve();
		});
		const tasks = new CallTasks();
		const factory: McpServerFactory = ({ era }) => {
			server = createServer(runtime, { ...options, task: task as string, calls, ...(era === "modern" ? { tasks } : {}) });
			return server;
		};
		handle = serve(factory, { transport, ...(options.onError ? { onerror: options.onError } : {}) });
	});
	return {
		closed,
		close: async () => {
			await handle?.close();
			if (own) await runtime.leaveTask(own.task); // its state is there for the next one
			own?.release();
		},
		settled: () => calls.settled(),
		get busy() {
			return calls.busy;
		},
	};
}

interface Ears {
	/** Called with the first message; the others wait until it is done. */
	choose(first: JSONRPCMessage): Promise<void>;
	hear(message: JSONRPCMessage): void;
}

/** Wraps the transport and reads along: the SDK does not show subscriptions, nor the client's name before a server is made. */
function tap(wire: Transport, { choose, hear }: Ears, closed: () => void): Transport {
	const tapped: Transport = { start: () => wire.start(), send: (message, options) => wire.send(message, options), close: () => wire.close() };
	let chosen: Promise<void> | undefined;
	let waiting = 0;
	wire.onmessage = (message, extra) => {
		const deliver = () => {
			hear(message);
			tapped.onmessage?.(message, extra);
		};
		if (chosen !== undefined && waiting === 0) return deliver();
		waiting++;
		chosen = (chosen ?? choose(message)).then(
			() => {
				waiting--;
				deliver();
			},
			(error: Error) => tapped.onerror?.(error),
		);
	};
	wire.onerror = (error) => tapped.onerror?.(error);
	wire.onclose = () => {
		tapped.onclose?.();
		closed();
	};
	return tapped;
}
