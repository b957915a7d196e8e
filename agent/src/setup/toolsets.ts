/** The sets of tools that there are for these settings, and how each stands. */
import type { AgentConfig, KeyRing } from "../base/index.js";
import { chooseTools, findOffered, McpServers, type ToolsetState, toolsetsWith } from "../tools/index.js";

/** Every set; MCP servers are started only with `load`. Throws `ToolsetError` if the settings name what there is not. */
export async function toolsetStates(config: AgentConfig, keys: KeyRing, { load = false }: { readonly load?: boolean } = {}): Promise<ToolsetState[]> {
	await using servers = new McpServers({ servers: config.mcpServers, keys });
	await using offered = await findOffered(Object.keys(config.mcpServers));
	const sets = toolsetsWith({ servers: servers.sets, offered: offered.sets, own: config.sets });
	if (config.toolsets) chooseTools(config.toolsets, sets, "chat");
	if (load) await servers.load(Object.keys(config.mcpServers));
	return sets.map((set) => ({ name: set.name, description: set.description, availability: set.available() }));
}
