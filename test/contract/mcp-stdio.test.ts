import { overStdio } from "../support/mcp.js";
import { ending } from "./places.js";
import { contractSuite } from "./suite.js";

// The older protocol here, the newer one over HTTP; between them each group passes through MCP. A case here costs the start of a program, one there does not.
contractSuite(
	"through MCP over stdio",
	async ({ home }) => ({
		...(await ending(home)),
		forTask: async (task) => {
			const { call } = await overStdio(home, ["--task", task]);
			return { call: (tool, args) => call(tool, args as Record<string, unknown>) };
		},
	}),
	{ groups: ["notices", "bad input"] },
);
