import { overStdio } from "../support/mcp.js";
import { contractSuite } from "./suite.js";

contractSuite("through MCP over stdio", async ({ home, task }) => {
	const { call } = await overStdio(home, ["--task", task]);
	return { call: (tool, args) => call(tool, args as Record<string, unknown>) };
});
