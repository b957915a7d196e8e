/** Tools that another program lists, as ours. Their names, texts and schemas are data of that program: bounded, and made into what every model takes. */
import { createHash } from "node:crypto";
import { failedWith } from "./arguments.js";
import type { ListedTool } from "./mcp-connection.js";
import type { AgentTool, ToolCallContext, ToolOutcome } from "./tool.js";

const LONGEST_NAME = 64; // of all endpoints
const MOST_TOOLS = 200;
const DESCRIPTION_CHARS = 4_000;
const SCHEMA_CHARS = 40_000;

export type RunListed = (tool: ListedTool, args: Record<string, unknown>, context: ToolCallContext) => Promise<ToolOutcome>;

export function mcpTools(server: string, listed: readonly ListedTool[], run: RunListed): AgentTool[] {
	const taken = new Set<string>();
	return listed.slice(0, MOST_TOOLS).flatMap((tool): AgentTool[] => {
		const name = nameOf(server, tool.name, taken);
		if (name === undefined) return [];
		taken.add(name);
		return [
			{
				name,
				description: cleaned(tool.description ?? tool.title ?? `${tool.name} of ${server}`),
				schema: schemaOf(tool.inputSchema),
				changes: tool.annotations?.readOnlyHint !== true,
				async run(args, context) {
					if (typeof args !== "object" || args === null || Array.isArray(args)) return failedWith("the arguments must be an object; nothing was done");
					return run(tool, args as Record<string, unknown>, context);
				},
			},
		];
	});
}

/** `server__tool` in the characters that every model takes. A name that had to be changed ends with a hash of the real one, so that no two become one. */
function nameOf(server: string, tool: string, taken: ReadonlySet<string>): string | undefined {
	const plain = `${server}__${tool}`;
	const safe = plain.replaceAll(/[^A-Za-z0-9_-]/g, "_");
	if (safe === plain && safe.length <= LONGEST_NAME) return taken.has(safe) ? undefined : safe; // a server that lists a tool twice means the first
	const hashed = `${safe.slice(0, LONGEST_NAME - 9)}_${createHash("sha256").update(plain).digest("hex").slice(0, 8)}`;
	return taken.has(hashed) ? undefined : hashed;
}

/** Without control characters, which a terminal would obey and a model cannot read. */
function cleaned(text: string): string {
	const clean = text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "").trim();
	return clean.length > DESCRIPTION_CHARS ? `${clean.slice(0, DESCRIPTION_CHARS)}…` : clean;
}

/** Models want an object at the top. A schema that is none, or is longer than a whole conversation should carry, becomes an open object. */
function schemaOf(schema: unknown): Record<string, unknown> {
	const open = { type: "object", properties: {}, additionalProperties: true };
	if (typeof schema !== "object" || schema === null || (schema as { type?: unknown }).type !== "object") return open;
	const { $schema: _, ...rest } = schema as Record<string, unknown>;
	return JSON.stringify(rest).length > SCHEMA_CHARS ? open : { ...rest, properties: rest.properties ?? {} };
}
