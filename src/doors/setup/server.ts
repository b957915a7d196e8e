/** How a client starts Holdfast's MCP server. */
import path from "node:path";
import { ownPath, ownProgram } from "../../base/index.js";

export interface Server {
	readonly command: string;
	readonly args: readonly string[];
}

/** Clients hand on little of their environment, so what it says of the home goes into the entry. */
export function serverCommand(
	env: NodeJS.ProcessEnv,
	options: { home?: string; task?: string; place?: string },
	{ byPath = false }: { byPath?: boolean } = {},
): Server {
	const home = options.home ?? (env.HOLDFAST_HOME || undefined);
	const args = [
		"mcp",
		...(home === undefined ? [] : ["--home", path.resolve(home)]),
		...(options.task === undefined ? [] : ["--task", options.task]),
		...(options.place === undefined ? [] : ["--place", options.place]),
	];
	const [command, ...first] = (byPath ? ownPath() : ownProgram(env)) as [string, ...string[]];
	return { command, args: [...first, ...args] };
}
