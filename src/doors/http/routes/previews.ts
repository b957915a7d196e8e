/** The ports that processes listen on, each with the link that opens its preview. */
import { portsOf } from "../../../process/index.js";
import { previewLink } from "../previews/access.js";
import { labelOf, NO_NAME, previewOrigin } from "../previews/names.js";
import { type Route, route } from "../router.js";
import { portsSchema } from "../schemas.js";
import { type ApiContext, freshOf } from "./context.js";

export const previewRoutes = (api: ApiContext): Route[] => [
	route(
		{
			method: "get",
			path: "/api/processes/:id/ports",
			who: "owner",
			summary: "The TCP ports that it listens on, each with a link to its preview",
			answer: portsSchema,
		},
		async ({ params, context, visitor }) => {
			const process = await freshOf(api, params);
			const session = visitor?.scope === "owner" ? visitor.session : undefined;
			const ports = (await portsOf(process)).map(({ port }) => {
				const label = labelOf(process.id, port);
				const origin = api.previews && previewOrigin(label, api.reached(context), api.previews);
				return { port, url: origin === undefined ? null : previewLink(api.token, { origin, label, session }) };
			});
			return { session_id: process.id, ports, note: ports.some(({ url }) => url === null) ? NO_NAME : null };
		},
	),
];
