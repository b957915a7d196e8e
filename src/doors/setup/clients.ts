/** The MCP clients we know: where each keeps its configuration on Linux, and what an entry looks like there. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { findProgram, HoldfastError } from "../../base/index.js";
import { type ConfigFormat, jsonWithComments, jsonWithoutTrailingCommas, strictJson, toml } from "./formats.js";
import type { Server } from "./server.js";

export interface McpClient {
	/** The name that people type. */
	readonly id: string;
	readonly name: string;
	readonly format: ConfigFormat;
	/** The key that holds the servers by their names. */
	readonly table: string;
	/** A program on the PATH that is no other. Not `code` or `cursor`: they also stand for an editor on another machine. */
	readonly program?: string;
	/** Started from a desktop, without the PATH of a person's shell. */
	readonly desktop?: boolean;
	/** How long a call may take, where the client would give up before ours is over. Not for an entry that says something else. */
	readonly patience?: ServerEntry;
	place(where: Where): Place;
	entry(server: Server): ServerEntry;
}

export type ServerEntry = Readonly<Record<string, string | number | readonly string[]>>;

/** Our own limit is 600 s, and where both are equal the client's clock wins. */
const PATIENCE_S = 660;

interface Where {
	readonly env: NodeJS.ProcessEnv;
	readonly home: string;
	/** $XDG_CONFIG_HOME. */
	readonly config: string;
}

interface Place {
	readonly file: string;
	/** A directory that the client makes. */
	readonly dir: string;
}

const commandAndArgs = ({ command, args }: Server): ServerEntry => ({ command, args });

export const CLIENTS: readonly McpClient[] = [
	{
		id: "claude-code",
		name: "Claude Code",
		program: "claude",
		format: strictJson,
		table: "mcpServers",
		place({ env, home }) {
			const dir = path.resolve(env.CLAUDE_CONFIG_DIR || path.join(home, ".claude"));
			const old = path.join(dir, ".config.json"); // goes before .claude.json where it exists
			return { dir, file: fs.existsSync(old) ? old : path.join(env.CLAUDE_CONFIG_DIR ? dir : home, ".claude.json") };
		},
		entry: commandAndArgs,
	},
	{
		id: "claude-desktop",
		name: "Claude Desktop",
		desktop: true,
		format: strictJson,
		table: "mcpServers",
		place({ env, config }) {
			const dir = path.resolve(env.CLAUDE_USER_DATA_DIR || path.join(config, "Claude"));
			return { dir, file: path.join(dir, "claude_desktop_config.json") };
		},
		entry: commandAndArgs,
	},
	{
		id: "cursor",
		name: "Cursor",
		desktop: true,
		format: jsonWithComments,
		table: "mcpServers",
		place: ({ home }) => ({ dir: path.join(home, ".cursor"), file: path.join(home, ".cursor", "mcp.json") }),
		entry: commandAndArgs,
	},
	{
		id: "vscode",
		name: "VS Code",
		desktop: true,
		format: jsonWithComments,
		table: "servers",
		place({ env, config }) {
			const data = env.VSCODE_PORTABLE ? path.join(env.VSCODE_PORTABLE, "user-data") : path.join(env.VSCODE_APPDATA || config, "Code");
			const dir = path.resolve(data, "User");
			return { dir, file: path.join(dir, "mcp.json") };
		},
		entry: (server) => ({ type: "stdio", ...commandAndArgs(server) }),
	},
	{
		id: "codex",
		name: "Codex",
		program: "codex",
		format: toml,
		table: "mcp_servers",
		patience: { tool_timeout_sec: PATIENCE_S }, // 300 without it, whatever progress we report
		place({ env, home }) {
			const dir = path.resolve(env.CODEX_HOME || path.join(home, ".codex"));
			return { dir, file: path.join(dir, "config.toml") };
		},
		entry: commandAndArgs,
	},
	{
		id: "gemini",
		name: "Gemini CLI",
		program: "gemini",
		format: jsonWithoutTrailingCommas,
		table: "mcpServers",
		patience: { timeout: PATIENCE_S * 1000 }, // 600,000 without it
		place({ env, home }) {
			const dir = path.resolve(env.GEMINI_CLI_HOME || home, ".gemini");
			return { dir, file: path.join(dir, "settings.json") };
		},
		entry: commandAndArgs,
	},
	{
		id: "opencode",
		name: "opencode",
		program: "opencode",
		format: jsonWithComments,
		table: "mcp",
		place({ env, config }) {
			const dir = path.resolve(env.OPENCODE_CONFIG_DIR || path.join(config, "opencode"));
			if (env.OPENCODE_CONFIG) return { dir, file: path.resolve(env.OPENCODE_CONFIG) };
			const files = ["opencode.jsonc", "opencode.json"].map((name) => path.join(dir, name)); // the first one wins over the second
			return { dir, file: files.find((file) => fs.existsSync(file)) ?? path.join(dir, "opencode.json") };
		},
		entry: ({ command, args }) => ({ type: "local", command: [command, ...args] }),
	},
];

/** Returns the path of a client's configuration, which may not exist, and whether there is a sign of the client on this machine. */
export function locate(client: McpClient, env: NodeJS.ProcessEnv): { file: string; found: boolean } {
	const home = homeOf(env);
	const config = env.XDG_CONFIG_HOME && path.isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : path.join(home, ".config");
	const { file, dir } = client.place({ env, home, config });
	const found = fs.existsSync(file) || fs.existsSync(dir) || (client.program !== undefined && findProgram(client.program, env) !== undefined);
	return { file, found };
}

function homeOf(env: NodeJS.ProcessEnv): string {
	const home = env.HOME ?? accountHome();
	if (!path.isAbsolute(home)) throw new HoldfastError("CONFIG", `the home directory is not known (HOME is "${home}"); set HOME to it, as an absolute path`);
	return home;
}

function accountHome(): string {
	try {
		return os.userInfo().homedir;
	} catch {
		return ""; // an account without an entry in the list of users
	}
}
