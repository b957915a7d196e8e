/** HOME: our MCP server on stdio as it is, but its tool `process` does nothing. For mcp.mjs, which starts it. */
import { serveStdio } from "../dist/doors/mcp/index.js";
import { openAgentRuntime as openRuntime } from "../dist/tools/index.js";

const runtime = await openRuntime({ home: process.argv[2] });
runtime.process = async () => ({ status: "exited", output: "", exit_code: 0, error: null });
await serveStdio(runtime, { task: "bench" }).closed;
await runtime.close();
