import { atEnd } from "../support/home.js";
import { openRuntime } from "../support/internal.js";
import { overHttp } from "../support/mcp.js";
import { ending } from "./places.js";
import { contractSuite, ITS_OWN } from "./suite.js";

// The newer protocol here, the older one over stdio; between them each group passes through MCP.
contractSuite(
	"through MCP over HTTP",
	async ({ home }) => ({
		...(await ending(home)),
		forTask: async (task) => {
			const runtime = await openRuntime({ home, warm: 0 });
			atEnd(() => runtime.close());
			const { call } = await (await overHttp(runtime)).connect({ generation: "2026-07-28", query: `?task=${encodeURIComponent(task)}` });
			return { call: (tool, args) => call(tool, args as Record<string, unknown>) };
		},
	}),
	ITS_OWN,
);
