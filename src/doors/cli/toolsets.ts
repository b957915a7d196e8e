/** Tools of other packages behind `holdfast mcp --toolsets`: those of `holdfast-browser`, where it is installed. This package imports nothing of it otherwise. */
import { HoldfastError } from "../../base/index.js";
import type { ToolResult } from "../../tools/index.js";
import type { ServedTool } from "../mcp/index.js";

const PACKAGE = "holdfast-browser";

/** The exports of its module `holdfast-browser/toolsets`. It has a runtime of its own on the same home. */
interface ToolsetsModule {
	readonly serveToolsets?: (options: { names: readonly string[]; home: string; place?: string; task?: string }) => Promise<Loaded>;
}

interface Loaded {
	readonly tools: readonly (Omit<ServedTool, "run" | "input" | "output"> & { run(args: unknown, call: object): Promise<ToolResult> })[];
	readonly notes: readonly string[];
	close(): Promise<void>;
}

export interface LoadedToolsets {
	readonly tools?: readonly ServedTool[];
	readonly notes: readonly string[];
	close(): Promise<void>;
}

/** Throws UNSUPPORTED if the package is not installed or a set cannot be used, in words. */
export async function loadToolsets(names: readonly string[], at: { home: string; place?: string; task?: string }): Promise<LoadedToolsets> {
	if (names.length === 0) return { notes: [], close: async () => {} };
	let module: ToolsetsModule;
	try {
		module = (await import(`${PACKAGE}/toolsets`)) as ToolsetsModule;
	} catch (error) {
		const absent = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
		const why = absent
			? "is not installed; npm install -g it beside holdfast"
			: `cannot be loaded (${(error as Error).message.split("\n", 1)[0]}); install it again`;
		throw new HoldfastError("UNSUPPORTED", `--toolsets: the package ${PACKAGE}, which has ${names.join(", ")}, ${why}`, { cause: error });
	}
	if (typeof module.serveToolsets !== "function")
		throw new HoldfastError("UNSUPPORTED", `--toolsets: this ${PACKAGE} has no toolsets for this version; update both`);
	try {
		const { tools, notes, close } = await module.serveToolsets({ names, ...at });
		return { tools: tools.map((tool) => ({ ...tool, run: (_runtime, args, call = {}) => tool.run(args, call) }) as ServedTool), notes, close };
	} catch (error) {
		throw new HoldfastError("UNSUPPORTED", `--toolsets: ${(error as Error).message}`, { cause: error });
	}
}
