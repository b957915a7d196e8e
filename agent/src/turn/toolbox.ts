/** Puts together the tools of a conversation: the core's, our own, and those of MCP servers, as far as the chosen sets have them. */
import fs from "node:fs";
import path from "node:path";
import type { PlaceObject, Runtime, Task } from "holdfast";
import type { AgentConfig, KeyRing } from "../base/index.js";
import {
	type AgentTool,
	type Availability,
	askUserTool,
	type ChosenTools,
	chooseTools,
	coreTools,
	findOffered,
	McpServers,
	type QuestionDoor,
	recallTool,
	registryOf,
	type ToolRegistry,
	todoTool,
	toolsetsWith,
} from "../tools/index.js";
import type { ConversationState } from "./state.js";

export interface ToolboxOptions {
	readonly config: AgentConfig;
	/** Sets that were named for this conversation; else those of the configuration. */
	readonly toolsets?: readonly string[] | undefined;
	/** The door's own tools: they belong to no set. */
	readonly tools?: readonly AgentTool[] | undefined;
	readonly kind: "chat" | "run";
	readonly runtime: Runtime;
	readonly task: Task;
	readonly place: () => string | PlaceObject | undefined;
	readonly user?: string | undefined;
	readonly keys: Pick<KeyRing, "read">;
	readonly questions: QuestionDoor;
	readonly state: ConversationState;
	readonly recall: (call: string) => string | undefined;
	readonly scope: () => string;
}

export interface Toolbox extends ChosenTools {
	readonly registry: ToolRegistry;
	close(): Promise<void>;
}

/** Throws `ToolsetError` for sets that there are not. A server that cannot be started is a set that is off. */
export async function openToolbox(options: ToolboxOptions): Promise<Toolbox> {
	const { config, runtime, task, place, state, questions } = options;
	const names = options.toolsets ?? config.toolsets;
	const servers = new McpServers({ servers: config.mcpServers, keys: options.keys });
	const offered = await findOffered(Object.keys(config.mcpServers));
	const close = async (): Promise<void> => {
		await offered.close();
		await servers.close();
	};
	try {
		const sets = toolsetsWith({
			place: () => placeAvailable(place()),
			ask: () => asks(questions),
			servers: servers.sets,
			offered: offered.sets,
			own: config.sets,
		});
		const wanted = chooseTools(names, sets, options.kind).sets.filter(({ availability }) => availability.ok);
		const loaded = await servers.load(wanted.map(({ name }) => name));
		const others = await offered.load(
			wanted.map(({ name }) => name),
			{ runtime, task, place },
		);
		const chosen = chooseTools(names, sets, options.kind); // now it is known which servers there are
		const tools = [
			...coreTools({ runtime, task, place, user: options.user, scope: options.scope, keepRecords: options.kind === "run" }),
			todoTool(() => state.todo),
			askUserTool(() => state.answers, questions),
			...loaded,
			...others,
			recallTool(options.recall),
			...(options.tools ?? []),
		];
		const off = sets.flatMap(({ name, description, tools: own, available }) => {
			const availability = available();
			return availability.ok ? [] : [{ name, description, availability, tools: own }];
		});
		const registry = registryOf(
			tools,
			[...chosen.tools, ...(chosen.tools.length > 0 ? ["recall"] : []), ...(options.tools ?? []).map(({ name }) => name)],
			off,
		);
		return { ...chosen, registry, close };
	} catch (error) {
		await close();
		throw error;
	}
}

function asks(questions: QuestionDoor): Availability {
	const nobody = questions.nobody();
	return nobody === undefined ? { ok: true } : { ok: false, why: nobody, fix: "run `holdfast-agent` in a terminal" };
}

/** The programs without which nothing runs there. Whether a remote place answers is found out by the first call. */
function placeAvailable(place: string | PlaceObject | undefined): Availability {
	const kind = typeof place === "object" ? place.kind : (place ?? "local");
	if (/^ssh(:|$)/.test(kind) && !onPath("ssh")) return { ok: false, why: "ssh is not installed", fix: "apt-get install openssh-client" };
	if (/^(local|sandbox)\b/.test(kind) && !onPath("bash")) return { ok: false, why: "bash is not installed", fix: "apt-get install bash" };
	return { ok: true };
}

/** The directories to search for programs without a PATH, as execvp(3) does. */
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

const onPath = (program: string): boolean => (process.env.PATH ?? DEFAULT_PATH).split(":").some((dir) => fs.existsSync(path.join(dir || ".", program)));
