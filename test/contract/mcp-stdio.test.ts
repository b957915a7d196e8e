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
	{
		groups: ["notices", "bad input"],
		cases: [
			"a completion comes once, with the next result, also when a poll has seen the end",
			"a caller that has waited for the end, read its log, or killed it is not told again",
			"other tasks do not get them",
			"terminal: a result that says what is wrong, and nothing runs",
			"an unknown parameter is ignored and named, whatever added it",
			"null is the same as not given, 0 is not",
		],
	},
);
