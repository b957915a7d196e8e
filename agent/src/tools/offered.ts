/**
 * Toolsets of other packages: `web` and `browser` of `holdfast-browser`, where it is installed beside this package. Their tools are tools of the core's
 * `defineTool`, so their calls are on record and found again after a crash as the core's own are.
 */
import { type DefinedTool, HoldfastError, type PlaceObject, type Runtime, type Task } from "holdfast";
import { attemptId, becameOf, type Recovery } from "./became.js";
import { DOOR } from "./limits.js";
import { outcomeOf } from "./outcome.js";
import type { AgentTool, Availability, Toolset } from "./tool.js";

const PACKAGE = "holdfast-browser";

/** The exports of its module `holdfast-browser/toolsets`. */
interface ToolsetsModule {
	readonly offeredToolsets: () => readonly OfferedToolset[];
}

interface OfferedToolset {
	readonly name: string;
	readonly description: string;
	readonly tools: readonly string[];
	available(): Availability;
	open(runtime: Runtime): Promise<{ readonly tools: readonly DefinedTool[]; readonly note?: string; close(): Promise<void> }>;
}

export interface OfferedToolsets extends AsyncDisposable {
	readonly sets: readonly Toolset[];
	/** Opens the sets of these names. Others cost nothing. */
	load(
		names: readonly string[],
		options: { readonly runtime: Runtime; readonly task: Task; readonly place?: () => string | PlaceObject | undefined },
	): Promise<AgentTool[]>;
	close(): Promise<void>;
}

/** Shown where the package is missing. */
const MISSING = [
	{ name: "web", description: "search the web and read pages" },
	{ name: "browser", description: "drive a browser that outlives this program" },
];

/** Never rejects: what cannot be loaded is a set that is off. `taken`: names of MCP servers, which come first. */
export async function findOffered(taken: readonly string[] = []): Promise<OfferedToolsets> {
	const offered = (await found()).filter(({ name }) => !taken.includes(name));
	const closing: (() => Promise<void>)[] = [];
	const close = async (): Promise<void> => {
		for (const one of closing.splice(0)) await one();
	};
	return {
		sets: offered.map(({ name, description, tools, available }) => ({ name, description, tools, available })),
		async load(names, { runtime, task, place = () => undefined }) {
			const recovery: Recovery = { runtime, task, now: Date.now, attempts: new Map() };
			const tools: AgentTool[] = [];
			for (const set of offered) {
				if (!names.includes(set.name) || !set.available().ok) continue;
				const opened = await set.open(runtime);
				closing.push(() => opened.close());
				tools.push(...opened.tools.map((tool) => agentTool(tool, recovery, place)));
			}
			return tools;
		},
		close,
		[Symbol.asyncDispose]: close,
	};
}

async function found(): Promise<readonly OfferedToolset[]> {
	try {
		return ((await import(`${PACKAGE}/toolsets`)) as ToolsetsModule).offeredToolsets();
	} catch (error) {
		const absent = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" && (error as Error).message.includes(`'${PACKAGE}'`);
		const why = absent ? `${PACKAGE} is not installed` : `${PACKAGE} cannot be loaded: ${(error as Error).message.split("\n", 1)[0]}`;
		const off: Availability = { ok: false, why, fix: `npm install -g ${PACKAGE}` };
		const open = () => Promise.reject(new Error(why));
		return MISSING.map((set) => ({ ...set, tools: [], available: () => off, open }));
	}
}

function agentTool(tool: DefinedTool, recovery: Recovery, place: () => string | PlaceObject | undefined): AgentTool {
	const { task, attempts } = recovery;
	return {
		name: tool.name,
		description: tool.description,
		schema: tool.inputSchema,
		changes: !tool.annotations.readOnlyHint,
		async run(args, { id, signal, progress }) {
			try {
				const where = place();
				const options = {
					id: attemptId(id, attempts.get(id)),
					keep: true,
					signal,
					door: DOOR,
					...(progress ? { progress } : {}),
					...(where === undefined ? {} : { place: where }),
				};
				return await outcomeOf(task, tool.name, args, await task.call(tool, args, options));
			} catch (error) {
				if (!(error instanceof HoldfastError)) throw error;
				return { text: `Error: ${error.message}`, failed: true };
			}
		},
		became: (args, context) => becameOf(recovery, tool.name, args, context),
		async settle(id) {
			const attempt = attempts.get(id);
			attempts.delete(id);
			await task.settleCall(attemptId(id, attempt)).catch(() => {}); // it goes by itself after 30 days
		},
	};
}
