/** The tools of a conversation by name. Their order is that of the toolsets and stays the same, since a changed list makes a model read all of it anew. */

import { nearNames } from "../base/index.js";
import type { ToolShown } from "../model/index.js";
import type { AgentTool, ToolOutcome } from "./tool.js";
import { offWords, type ToolsetState } from "./toolset.js";

export interface ToolRegistry {
	/** As the model is shown them. */
	readonly shown: readonly ToolShown[];
	readonly names: readonly string[];
	get(name: string): AgentTool | undefined;
	/** The result of a call to a tool that there is not: why, and which there are. */
	unknown(name: string): ToolOutcome;
}

/** `order`: the names that were chosen. `off`: sets that cannot be used, so that a call to one of their tools is told why. */
export function registryOf(
	tools: readonly AgentTool[],
	order: readonly string[],
	off: readonly (ToolsetState & { readonly tools?: readonly string[] })[] = [],
): ToolRegistry {
	const known = new Map(tools.map((tool) => [tool.name, tool]));
	const chosen = [...new Set(order)].flatMap((name) => known.get(name) ?? []);
	const byName = new Map(chosen.map((tool) => [tool.name, tool]));
	const names = chosen.map(({ name }) => name);
	const shown = chosen.map(({ name, description, schema }) => ({ name, description, schema }));
	return {
		shown,
		names,
		get: (name) => byName.get(name),
		unknown: (name) => ({ text: unknownText(name, names, off), failed: true }),
	};
}

function unknownText(name: string, names: readonly string[], off: readonly (ToolsetState & { readonly tools?: readonly string[] })[]): string {
	const asked = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
	const set = off.find((one) => one.name === name || name.startsWith(`${one.name}__`) || one.tools?.includes(name));
	if (set && !set.availability.ok)
		return `Error: the tool ${asked} cannot be used, nothing was done. ${set.name} ${offWords(set.availability)}. There are ${names.join(", ") || "no tools"}.`;
	const near = nearNames(name, names);
	const meant = near.length > 0 ? ` Perhaps you mean ${near[0]}.` : "";
	return `Error: there is no tool ${asked}, nothing was done.${meant} There are ${names.join(", ") || "no tools"}.`;
}
