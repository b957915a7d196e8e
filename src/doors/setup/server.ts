/** How a client starts Holdfast's MCP server. */
import path from "node:path";
import { findProgram, ownProgram } from "../../base/own-program.js";

export interface Server {
	readonly command: string;
	readonly args: readonly string[];
}

export function serverCommand(env: NodeJS.ProcessEnv, options: { home?: string; task?: string; place?: string }): Server {
	const args = [
		"mcp",
		...(options.home === undefined ? [] : ["--home", path.resolve(options.home)]),
		...(options.task === undefined ? [] : ["--task", options.task]),
		...(options.place === undefined ? [] : ["--place", options.place]),
	];
	const [command, ...first] = ownProgram(env) as [string, ...string[]];
	return { command, args: [...first, ...args] };
}

/** How a person calls us. */
export const ownName = (): string => (findProgram("holdfast", process.env) === undefined ? "npx holdfast" : "holdfast");
