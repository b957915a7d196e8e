/** The least that an MCP server on stdio can be: the same SDK, one tool, one file. For mcp.mjs, which starts it. */
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const server = new McpServer({ name: "bare", version: "1" });
const input = z.object({ text: z.string() });
server.registerTool("echo", { description: "Says it again.", inputSchema: input }, async ({ text }) => ({ content: [{ type: "text", text }] }));
await server.connect(new StdioServerTransport());
