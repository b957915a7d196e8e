/** How a client starts Holdfast's MCP server. */
import fs from "node:fs";
import path from "node:path";
import { asset } from "../../base/asset.js";

export interface Server {
	readonly command: string;
	readonly args: readonly string[];
}

const MAIN = asset("../dist/bin/holdfast.js");

/** By name where the name means this installation, else by path. */
export function serverCommand(env: NodeJS.ProcessEnv, options: { home?: string; task?: string; place?: string }): Server {
	const args = [
		"mcp",
		...(options.home === undefined ? [] : ["--home", path.resolve(options.home)]),
		...(options.task === undefined ? [] : ["--task", options.task]),
		...(options.place === undefined ? [] : ["--place", options.place]),
	];
	const named = findProgram("holdfast", env);
	if (named !== undefined && fs.realpathSync(named) === fs.realpathSync(MAIN)) return { command: "holdfast", args };
	return { command: process.execPath, args: [MAIN, ...args] };
}

/** How a person calls us. */
export const ownName = (): string => (findProgram("holdfast", process.env) === undefined ? "npx holdfast" : "holdfast");

/** What a shell would run by this name. Directories that npx and npm put in front are not there for anybody else. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
	for (const dir of (env.PATH ?? "").split(path.delimiter)) {
		if (!path.isAbsolute(dir) || /\/node_modules\/\.bin\/?$/.test(dir)) continue;
		const file = path.join(dir, name);
		try {
			fs.accessSync(file, fs.constants.X_OK);
			if (fs.statSync(file).isFile()) return file;
		} catch {
			// not in this one
		}
	}
	return undefined;
}
