/** The tools of an agent, and what became of calls that were given an id. */
import { type Call, toolsWith } from "../../../tools/index.js";
import { type Route, route } from "../router.js";
import { callIdSchema, callQuerySchema, foundCallSchema, okSchema } from "../schemas.js";
import type { ApiContext } from "./context.js";
import { placeOf } from "./where.js";

export const callRoutes = (api: ApiContext): Route[] => [
	...tools(api),
	route(
		{
			method: "get",
			path: "/api/calls",
			who: "owner",
			summary: "What became of a call that was given an id, after any crash",
			query: callIdSchema,
			answer: foundCallSchema,
		},
		({ query }) => api.runtime.calls.find(query.task, query.id),
	),
	route(
		{ method: "post", path: "/api/calls/settle", who: "owner", summary: "Forget the result that was kept of a call", body: callIdSchema, answer: okSchema },
		async ({ body }) => {
			await api.runtime.calls.settle(body.task, body.id);
			return { ok: true };
		},
	),
];

/** Returns routes for the tools of agents. A broken connection cancels nothing, as in MCP: the command goes on. */
const tools = (api: ApiContext): Route[] =>
	toolsWith(api.runtime.limits).map((tool) =>
		route(
			{
				method: "post",
				path: `/api/tools/${tool.name}`,
				who: "owner",
				summary: `The tool ${tool.name}; what is wrong with the arguments is said in the result`,
				query: callQuerySchema,
				body: tool.input.loose(),
				unchecked: true,
				answer: tool.output,
			},
			({ context, query, body }) => {
				const { place, keep, ...given } = query;
				const where = place === undefined ? {} : { place: placeOf(place) };
				const call: Call = { door: "http", gone: () => context.req.raw.signal.aborted, ...given, ...where, ...(keep === "true" ? { keep: true } : {}) };
				return tool.run(api.runtime, body, call);
			},
		),
	);
