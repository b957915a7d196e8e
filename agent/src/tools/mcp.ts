/**
 * MCP servers of others as tools: `server__tool`. A server is started, or connected to, when a conversation that uses it is opened; one that dies is a failed
 * result in words, and is started again for the next call. The SDK is loaded with the first of them.
 */
import fs from "node:fs";
import path from "node:path";
import type { McpServerConfig } from "../base/index.js";
import { type ListedTool, McpConnection, type McpSurroundings } from "./mcp-connection.js";
import { textOf } from "./mcp-content.js";
import { mcpTools } from "./mcp-tools.js";
import type { AgentTool, Availability, Toolset } from "./tool.js";

export interface McpOptions extends McpSurroundings {
	readonly servers: Readonly<Record<string, McpServerConfig>>;
}

export class McpServers implements AsyncDisposable {
	readonly #servers: ReadonlyMap<string, OneServer>;

	constructor({ servers, ...around }: McpOptions) {
		this.#servers = new Map(Object.entries(servers).map(([name, config]) => [name, new OneServer(name, config, around)]));
	}

	/** A set for each server. Its tools are known once it is loaded. */
	get sets(): Toolset[] {
		return [...this.#servers.values()].map(({ set }) => set);
	}

	/** Starts these servers and asks for their tools. One that cannot be used is a set that is off; nothing is thrown. */
	async load(names: readonly string[], signal?: AbortSignal): Promise<AgentTool[]> {
		const chosen = [...this.#servers].filter(([name]) => names.includes(name)).map(([, server]) => server);
		await Promise.all(chosen.map((server) => server.load(signal)));
		return chosen.flatMap(({ tools }) => tools);
	}

	/** Ends the servers that this program has started. */
	async close(): Promise<void> {
		await Promise.all([...this.#servers.values()].map((server) => server.close()));
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}
}

class OneServer {
	readonly set: Toolset;
	readonly #name: string;
	readonly #config: McpServerConfig;
	readonly #connection: McpConnection;
	readonly #env: NodeJS.ProcessEnv;
	tools: readonly AgentTool[] = [];
	#problem: string | undefined;

	constructor(name: string, config: McpServerConfig, around: McpSurroundings) {
		this.#name = name;
		this.#config = config;
		this.#env = around.env ?? process.env;
		this.#connection = new McpConnection(name, config, around);
		const tools = () => this.tools.map((tool) => tool.name);
		const where = "url" in config ? config.url : config.command;
		this.set = {
			name,
			description: `MCP server ${where}`,
			get tools() {
				return tools();
			},
			available: () => this.#availability(),
		};
	}

	async load(signal?: AbortSignal): Promise<void> {
		if (this.tools.length > 0 || !this.#availability().ok) return;
		try {
			const listed = await this.#connection.list(signal);
			const wanted = this.#config.tools;
			const used = wanted ? listed.filter(({ name }) => wanted.includes(name)) : listed;
			this.#problem = used.length > 0 ? undefined : listed.length > 0 ? "it has none of the tools that are chosen" : "it has no tools";
			this.tools = mcpTools(this.#name, used, (tool, args, context) => this.#run(tool, args, context));
		} catch (error) {
			this.#problem = error instanceof Error ? error.message : String(error);
		}
	}

	async #run(tool: ListedTool, args: Record<string, unknown>, context: Parameters<AgentTool["run"]>[1]) {
		const answer = await this.#connection.call(tool.name, args, context);
		if ("problem" in answer) return { text: `Error: ${answer.problem}`, failed: true };
		return textOf(answer.result, context.id);
	}

	async close(): Promise<void> {
		await this.#connection.close();
	}

	#availability(): Availability {
		const setting = `mcpServers.${this.#name}`;
		if (!this.#config.enabled) return { ok: false, why: "it is switched off", fix: `set ${setting}.enabled to true` };
		if ("command" in this.#config && !isProgram(this.#config.command, this.#env.PATH, this.#config.cwd))
			return { ok: false, why: `${this.#config.command} is not installed`, fix: `install it, or change ${setting}.command` };
		if (this.#problem !== undefined) return { ok: false, why: this.#problem, fix: `check ${setting}, then open the conversation again` };
		return { ok: true };
	}
}

function isProgram(command: string, search = "", cwd = "."): boolean {
	const files = command.includes("/") ? [path.resolve(cwd, command)] : search.split(":").map((dir) => path.join(dir || ".", command));
	return files.some((file) => {
		try {
			fs.accessSync(file, fs.constants.X_OK);
			return fs.statSync(file).isFile();
		} catch {
			return false; // not there, or not for us
		}
	});
}
