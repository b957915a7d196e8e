/** A connection to one MCP server: made when it is needed, and made again when it is gone. */
import type { CallToolResult, Client, Tool, Transport } from "@modelcontextprotocol/client";
import type { KeyRing, KeySource, McpServerConfig } from "../base/index.js";
import type { ToolCallContext } from "./tool.js";

export type ListedTool = Pick<Tool, "name" | "title" | "description" | "inputSchema" | "annotations">;

/** Programs that are fetched and unpacked at their first start take long. */
const START_SECONDS = 30;
const SAID_CHARS = 500; // of what it wrote to stderr
const PING_MS = 1_000;
const LONGEST = 10; // times the time of a call, if it tells of its progress

export interface McpSurroundings {
	readonly keys: Pick<KeyRing, "read">;
	/** Environment that servers are looked for and started with, as far as it is harmless. */
	readonly env?: NodeJS.ProcessEnv;
	/** How long a server may take to start. */
	readonly startSeconds?: number;
}

export class McpConnection {
	readonly #name: string;
	readonly #config: McpServerConfig;
	readonly #keys: Pick<KeyRing, "read">;
	readonly #env: NodeJS.ProcessEnv;
	readonly #startMs: number;
	#connected: Promise<Client> | undefined;
	/** The pid of the program that it was started as. */
	#pid: (() => number | null) | undefined;
	/** The server's last words on stderr; `#wrong`: the fault in its stdout. */
	#said = "";
	#wrong: string | undefined;
	#closed = false;

	constructor(name: string, config: McpServerConfig, { keys, env = process.env, startSeconds = START_SECONDS }: McpSurroundings) {
		this.#name = name;
		this.#config = config;
		this.#keys = keys;
		this.#env = env;
		this.#startMs = startSeconds * 1_000;
	}

	/** Throws, in words, if it cannot be connected to. */
	async list(signal?: AbortSignal): Promise<ListedTool[]> {
		const client = await this.#client();
		const { tools } = await client.listTools(undefined, { timeout: this.#startMs, ...(signal ? { signal } : {}) }).catch((error: unknown) => {
			throw new Error(`it did not list its tools: ${this.#why(error)}`);
		});
		return tools;
	}

	async call(
		tool: string,
		args: Record<string, unknown>,
		{ signal, progress }: ToolCallContext,
	): Promise<{ readonly result: CallToolResult } | { readonly problem: string }> {
		let client: Client;
		try {
			client = await this.#client();
		} catch (error) {
			return { problem: `the MCP server ${this.#name} could not be started, so nothing was done: ${(error as Error).message}` };
		}
		const timeout = this.#seconds * 1_000;
		try {
			const result = await client.callTool(
				{ name: tool, arguments: args },
				{
					timeout,
					maxTotalTimeout: timeout * LONGEST,
					signal,
					resetTimeoutOnProgress: true,
					onprogress: ({ progress: done, total, message }) => progress?.(message ?? `${done}${total === undefined ? "" : `/${total}`}`),
				},
			);
			return { result: result as CallToolResult };
		} catch (error) {
			return { problem: await this.#problemOf(error, signal) };
		}
	}

	async close(): Promise<void> {
		this.#closed = true;
		await this.#drop();
	}

	get #seconds(): number {
		return this.#config.seconds;
	}

	#client(): Promise<Client> {
		if (this.#closed) return Promise.reject(new Error("the conversation is closed"));
		this.#connected ??= this.#connect().catch((error: unknown) => {
			this.#connected = undefined; // the next call tries again
			throw error;
		});
		return this.#connected;
	}

	async #connect(): Promise<Client> {
		this.#said = "";
		this.#wrong = undefined;
		const { Client: McpClient } = await import("@modelcontextprotocol/client");
		const transport = await this.#transport();
		// On HTTP both generations of the protocol are tried; a program would have to be started twice for that.
		const client = new McpClient(
			{ name: "holdfast-agent", version: "0.1.0" },
			"url" in this.#config ? { versionNegotiation: { mode: "auto", probe: { timeoutMs: this.#startMs } } } : {},
		);
		client.onerror = (error) => {
			this.#wrong = error.message;
		};
		client.onclose = () => {
			this.#connected = undefined;
		};
		try {
			await client.connect(transport, { timeout: this.#startMs });
			return client;
		} catch (error) {
			await client.close().catch(() => {});
			await transport.close().catch(() => {});
			throw new Error(`it did not start within ${this.#startMs / 1_000} s or cannot speak MCP: ${this.#why(error)}`);
		}
	}

	async #transport(): Promise<Transport> {
		const config = this.#config;
		if ("url" in config) {
			const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
			const headers = new Headers(config.headers);
			if (config.key) headers.set("authorization", `Bearer ${await this.#keys.read(config.key)}`);
			return new StreamableHTTPClientTransport(new URL(config.url), { requestInit: { headers } });
		}
		const { StdioClientTransport, DEFAULT_INHERITED_ENV_VARS } = await import("@modelcontextprotocol/client/stdio");
		// Nothing of our environment but names that are known to be harmless: it may have keys of other programs in it.
		const inherited = DEFAULT_INHERITED_ENV_VARS.flatMap((name) => (this.#env[name] === undefined ? [] : [[name, this.#env[name]] as const]));
		const given = await Promise.all(Object.entries(config.env).map(async ([name, value]) => [name, await this.#valueOf(value)] as const));
		const transport = new StdioClientTransport({
			command: config.command,
			args: config.args,
			env: Object.fromEntries([...inherited, ...given]),
			stderr: "pipe",
			...(config.cwd === undefined ? {} : { cwd: config.cwd }),
		});
		this.#pid = () => transport.pid;
		transport.stderr?.on("data", (chunk: Buffer) => {
			this.#said = (this.#said + chunk.toString("utf8")).slice(-SAID_CHARS);
		});
		return transport;
	}

	#valueOf(value: string | KeySource): string | Promise<string> {
		return typeof value === "string" ? value : this.#keys.read(value);
	}

	/** Whatever is not an answer of the server itself ends the connection: the next call makes a new one. */
	async #problemOf(error: unknown, signal: AbortSignal): Promise<string> {
		const server = `the MCP server ${this.#name}`;
		if (signal.aborted) return `[interrupted] ${server} was told to stop; it may have done a part of it`;
		const { ProtocolError, SdkError, SdkErrorCode } = await import("@modelcontextprotocol/client");
		if (error instanceof ProtocolError) return `${server} answers: ${this.#why(error)}`;
		if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) return `${server} gave an answer that is none in MCP: ${this.#why(error)}`;
		if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
			const hangs = await this.#hangs();
			if (hangs) await this.#end();
			const next = hangs ? "It does not react at all and was ended; the next call starts it again" : "It may still be at work, so look before you repeat this";
			return `${server} gave no answer within ${this.#seconds} s. ${next}`;
		}
		const why = this.#why(error);
		await this.#drop();
		return `${server} was gone before it answered (${why}); whether this was done is not known, look before you repeat it. The next call starts it again`;
	}

	async #hangs(): Promise<boolean> {
		const client = await this.#connected?.catch(() => undefined);
		if (!client || "url" in this.#config) return false; // of an HTTP server only this request is known to hang
		return client.ping({ timeout: PING_MS }).then(
			() => false,
			() => true,
		);
	}

	/** A program that does not react would not end by itself either, and closing waits seconds for that. */
	async #end(): Promise<void> {
		const pid = this.#pid?.();
		try {
			if (pid) process.kill(pid, "SIGKILL");
		} catch {
			// it has ended meanwhile
		}
		await this.#drop();
	}

	async #drop(): Promise<void> {
		const client = await this.#connected?.catch(() => undefined);
		this.#connected = undefined;
		await client?.close().catch(() => {});
	}

	#why(error: unknown): string {
		const message = error instanceof Error ? error.message : String(error);
		const said = this.#said.trim().split("\n").slice(-3).join(" | ");
		return [message, ...(this.#wrong !== undefined && this.#wrong !== message ? [this.#wrong] : []), ...(said === "" ? [] : [`it printed: ${said}`])]
			.join("; ")
			.slice(0, 1_000);
	}
}
