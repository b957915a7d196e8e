import { openRuntime } from "../../src/index.js";
import { atEnd } from "../support/home.js";
import { GENERATIONS, overHttp } from "../support/mcp.js";
import { contractSuite } from "./suite.js";

for (const generation of GENERATIONS)
	contractSuite(`through MCP over HTTP, protocol ${generation}`, async ({ home, task }) => {
		const runtime = await openRuntime({ home, warm: 0 });
		atEnd(() => runtime.close());
		const { call } = await (await overHttp(runtime)).connect({ generation, query: `?task=${encodeURIComponent(task)}` });
		return { call: (tool, args) => call(tool, args as Record<string, unknown>) };
	});
