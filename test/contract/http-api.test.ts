import { atEnd } from "../support/home.js";
import { overApi } from "../support/http.js";
import { openRuntime } from "../support/internal.js";
import { ending } from "./places.js";
import { contractSuite } from "./suite.js";

// The tools are the same functions as for the library; what this door adds is how a call gets to them and back.
contractSuite(
	"through the HTTP API",
	async ({ home }) => ({
		...(await ending(home)),
		forTask: async (task) => {
			const runtime = await openRuntime({ home, warm: 0 });
			atEnd(() => runtime.close());
			const api = await overApi(runtime);
			return {
				call: async (tool, args) => (await api.request("POST", `/api/tools/${tool}?task=${encodeURIComponent(task)}`, { body: JSON.stringify(args) })).json(),
			};
		},
	}),
	{ groups: ["the shell keeps its state", "bad input"] },
);
