/** Turns an MCP server's answer into text for a model. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import { SHOWN_CHARS } from "./limits.js";
import { recallCall } from "./recall.js";
import { shorten } from "./shorten.js";
import type { ToolOutcome } from "./tool.js";

type Block = CallToolResult["content"][number];

/** A long answer is shortened; `recall` shows the rest of it. */
export function textOf(result: CallToolResult, call: string): ToolOutcome {
	const failed = result.isError === true;
	const blocks = Array.isArray(result.content) ? result.content.map(blockText) : [];
	const said = blocks.filter((text) => text !== "").join("\n");
	const whole = said !== "" ? said : result.structuredContent === undefined ? "(the tool answered nothing)" : JSON.stringify(result.structuredContent);
	const { text, cut } = shorten([{ line: 0, text: whole }], {
		most: SHOWN_CHARS,
		where: ({ line, lines }) => recallCall(call, { offset: line, limit: lines }),
	});
	return { text: failed ? `Error: ${text}` : text, failed, ...(cut ? { whole } : {}) };
}

function blockText(block: Block): string {
	switch (block.type) {
		case "text":
			return block.text;
		case "image":
		case "audio":
			return `[${block.type} ${block.mimeType}, ${Math.floor((block.data.length * 3) / 4)} bytes, not shown]`;
		case "resource_link":
			return `[resource ${block.name}: ${block.uri}]`;
		case "resource":
			return "text" in block.resource ? block.resource.text : `[resource ${block.resource.uri}, not text]`;
		default:
			return "[content of an unknown kind, not shown]";
	}
}
