import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { serveHttp } from "../../src/doors/http/index.js";
import { type HttpDoor, httpDoor } from "../../src/doors/mcp/index.js";
import { CLI } from "./cli.js";
import { atEnd, endAll, tempDir, until } from "./home.js";
import { openRuntime, type ProcessResult, type Runtime, type TerminalResult } from "./internal.js";

/** Both generations of the protocol. */
export const GENERATIONS = ["2025-11-25", "2026-07-28"] as const;
export type Generation = (typeof GENERATIONS)[number];

export interface Connected {
	readonly client: Client;
	/** Calls a tool; the structured result. */
	call(name: "terminal" | "process", args: Record<string, unknown>, options?: Parameters<Client["callTool"]>[1]): Promise<Result>;
}

/** All that either tool may give back; an id where one is expected. */
export type Result = TerminalResult & ProcessResult & { session_id: string };

export interface ClientOptions {
	readonly generation?: Generation;
	readonly capabilities?: ClientCapabilities;
	/** What it calls itself. */
	readonly name?: string;
	readonly version?: string;
}

export const newClient = ({ generation = "2025-11-25", capabilities, name = "test", version = "1" }: ClientOptions): Client =>
	new Client(
		{ name, version },
		{ versionNegotiation: { mode: generation === "2025-11-25" ? "legacy" : { pin: generation } }, ...(capabilities ? { capabilities } : {}) },
	);

const connected = (client: Client): Connected => ({
	client,
	call: async (name, args, options) => (await client.callTool({ name, arguments: args }, options)).structuredContent as Result,
});

/** A home for servers that are programs of their own. Ended with the test are also the shells they leave. */
export function testHome(): string {
	const home = tempDir("home");
	atEnd(async () => endAll(await openRuntime({ home, warm: 0 })));
	return home;
}

/** The real client on `holdfast mcp`. */
export async function overStdio(
	home: string,
	args: readonly string[] = [],
	{ prefix = [], ...options }: ClientOptions & { prefix?: readonly string[] } = {},
): Promise<Connected & { transport: StdioClientTransport }> {
	const client = newClient(options);
	const env = { ...(process.env as Record<string, string>), HOLDFAST_HOME: home };
	const [command, ...words] = [...prefix, process.execPath, CLI, "mcp", ...args] as [string, ...string[]];
	const transport = new StdioClientTransport({ command, args: words, env, stderr: "ignore" });
	atEnd(() => client.close());
	await client.connect(transport);
	return { ...connected(client), transport };
}

export interface Served {
	readonly url: string;
	readonly token: string;
	readonly door: HttpDoor;
	/** How many requests the server has seen broken off. */
	broken(): number;
	connect(options?: ClientOptions & { query?: string }): Promise<Connected & { transport: StreamableHTTPClientTransport }>;
	/** A request as somebody sends it who is no client. */
	request(init?: { method?: string; headers?: Record<string, string>; body?: unknown }): Promise<Response>;
}

/** The HTTP door on a runtime. */
export async function overHttp(runtime: Runtime, options: Parameters<typeof httpDoor>[1] = {}): Promise<Served> {
	const token = "t".repeat(32);
	const door = httpDoor(runtime, options);
	let broken = 0;
	const mcp = (request: Request) => {
		request.signal.addEventListener("abort", () => broken++);
		return door.fetch(request);
	};
	const server = await serveHttp({ host: "127.0.0.1", port: 0, token, routes: { "/mcp": mcp } });
	atEnd(async () => {
		await door.close();
		await server.close();
	});
	const url = `${server.origin}/mcp`;
	return {
		url,
		token,
		door,
		broken: () => broken,
		connect: ({ query = "", ...rest } = {}) => connectTo(url + query, token, rest),
		request: ({ method = "POST", headers = {}, body } = {}) =>
			fetch(url, {
				method,
				headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
				...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
			}),
	};
}

/** The real client over HTTP. */
export async function connectTo(url: string, token: string, options: ClientOptions = {}): Promise<Connected & { transport: StreamableHTTPClientTransport }> {
	const client = newClient(options);
	const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
	atEnd(() => client.close());
	await client.connect(transport);
	return { ...connected(client), transport };
}

/** A command that says it has started, and ends when it is told to. */
export function gate(dir = tempDir("gate")): { command: string; started: () => boolean; open: () => void } {
	const file = (name: string) => path.join(dir, name);
	return {
		command: `echo started; touch ${file("started")}; until [ -e ${file("open")} ]; do sleep 0.02; done; echo finished`,
		started: () => fs.existsSync(file("started")),
		open: () => fs.writeFileSync(file("open"), ""),
	};
}

/** Send a call on a connection of its own, and break that off once the command runs. The server has seen that when this resolves: a call that ends before is answered. */
export async function cutOff(
	served: Served,
	generation: Generation,
	command: string,
	started: () => boolean,
	capabilities: Record<string, unknown> = {},
): Promise<net.Socket> {
	const url = new URL(`${served.url}?task=mine`);
	const meta =
		generation === "2025-11-25"
			? {}
			: { _meta: { "io.modelcontextprotocol/protocolVersion": generation, "io.modelcontextprotocol/clientCapabilities": capabilities, progressToken: 1 } };
	const session: Record<string, string> =
		generation === "2025-11-25" ? { "mcp-session-id": (await served.connect({ query: "?task=mine" })).transport.sessionId as string } : {};
	const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "terminal", arguments: { command }, ...meta } });
	const headers: Record<string, string> = {
		Host: url.host,
		Authorization: `Bearer ${served.token}`,
		Accept: "application/json, text/event-stream",
		"Content-Type": "application/json",
		"Content-Length": String(Buffer.byteLength(body)),
		"MCP-Protocol-Version": generation,
		"Mcp-Method": "tools/call",
		"Mcp-Name": "terminal",
		...session,
	};
	const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
	const socket = net.connect(Number(url.port), url.hostname);
	socket.write(`POST ${url.pathname}${url.search} HTTP/1.1\r\n${head.join("")}\r\n${body}`);
	await until("the command runs", started);
	const before = served.broken();
	socket.destroy();
	await until("the server has seen that it is broken off", () => served.broken() > before);
	return socket;
}
