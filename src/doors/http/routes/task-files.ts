/** Files of a task's place for the program that runs the task: any size, byte for byte, not masked. The page has its own routes in files.ts. */
import { Readable } from "node:stream";
import { filesFor, type TaskFiles } from "../../../api/index.js";
import { type Route, route, withBody } from "../router.js";
import { taskFileListQuerySchema, taskFileListSchema, taskFileQuerySchema, taskFileWriteQuerySchema, taskFileWrittenSchema } from "../schemas.js";
import type { ApiContext } from "./context.js";
import { DOWNLOAD } from "./output.js";
import { type CallTarget, placeOf } from "./where.js";

export const taskFileRoutes = (api: ApiContext): Route[] => [
	route(
		{
			method: "get",
			path: "/api/tasks/files",
			who: "owner",
			summary: "The bytes of a file of a task's place",
			query: taskFileQuerySchema,
			answer: "application/octet-stream",
		},
		async ({ context, query }) => {
			const pieces = filesOf(api, query).stream(query.path, { signal: context.req.raw.signal });
			const first = await pieces.next(); // what is wrong with the path is an answer; what goes wrong later cuts the line
			return context.body(Readable.toWeb(Readable.from(joined(first, pieces))) as ReadableStream<Uint8Array>, 200, DOWNLOAD);
		},
	),
	route(
		{
			method: "put",
			path: "/api/tasks/files",
			who: "owner",
			summary: "The body becomes a file of a task's place, whole or not at all",
			query: taskFileWriteQuerySchema,
			raw: "application/octet-stream",
			answer: taskFileWrittenSchema,
			status: 201,
		},
		({ context, query }) => {
			const mode = query.mode === undefined ? {} : { mode: Number.parseInt(query.mode, 8) };
			return withBody(context, (body) => filesOf(api, query).write(query.path, body, { signal: context.req.raw.signal, ...mode }));
		},
	),
	route(
		{
			method: "get",
			path: "/api/tasks/files/list",
			who: "owner",
			summary: "What is in a directory of a task's place, hidden names and links included",
			query: taskFileListQuerySchema,
			answer: taskFileListSchema,
		},
		async ({ context, query }) => ({
			entries: await filesOf(api, query).list(query.path, { signal: context.req.raw.signal, recursive: query.recursive === "true" }),
		}),
	),
];

const filesOf = ({ runtime }: ApiContext, { task = runtime.task, place, user }: CallTarget): TaskFiles =>
	filesFor({ name: task, door: "http", runtime: () => runtime.at(placeOf(place), user) });

async function* joined(first: IteratorResult<Buffer, void>, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
	try {
		if (first.done) return;
		yield first.value;
		yield* rest;
	} finally {
		await rest.return();
	}
}
