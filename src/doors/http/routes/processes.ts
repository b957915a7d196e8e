/** Processes: list, look, start, steer, end. */
import { constants } from "node:os";
import { HoldfastError } from "../../../base/index.js";
import { redactScreen } from "../../../base/secrets/index.js";
import { isOver, killSummary, maskedMatch, mustBeFree, type Process, rename, type Until } from "../../../process/index.js";
import { encodeKeys, readScreen } from "../../../screen/index.js";
import { type Route, route } from "../router.js";
import {
	inputSchema,
	keysSchema,
	killedSchema,
	listQuerySchema,
	okSchema,
	processDetailSchema,
	processListSchema,
	processSchema,
	renameSchema,
	resizeSchema,
	screenSchema,
	signalSchema,
	spawnSchema,
	startedSchema,
	waitedSchema,
	waitSchema,
	writtenSchema,
} from "../schemas.js";
import { type ApiContext, fresh, freshOf, processOf } from "./context.js";

const WAIT_SECONDS = 30;
const WRITE_MS = 10_000;

export const processRoutes = (api: ApiContext): Route[] => [...looking(api), ...steering(api)];

const looking = (api: ApiContext): Route[] => [
	route(
		{
			method: "get",
			path: "/api/processes",
			who: "owner",
			summary: "What runs, and what ended in the last half hour; newest first",
			query: listQuerySchema,
			answer: processListSchema,
		},
		async ({ query }) => {
			const list = await fresh(api.runtime.list({ task: query.task ?? null, ended: query.ended !== "false", shells: query.shells === "true" }));
			return { processes: await Promise.all(list.map((process) => api.views.item(process))) };
		},
	),
	route(
		{ method: "get", path: "/api/processes/:id", who: "viewer", summary: "One process, with all there is to know", answer: processDetailSchema },
		async ({ params, visitor }) => api.views.detail(await freshOf(api, params), visitor?.scope === "owner"),
	),
	route(
		{ method: "get", path: "/api/processes/:id/screen", who: "viewer", summary: "Its rendered screen as text", answer: screenSchema },
		async ({ params }) => {
			const process = await freshOf(api, params);
			const { screen, cursor, alt_screen, title, cols, rows, offset } = await readScreen(process);
			const waiting = isOver(process.status()) ? { waiting: false as const } : await api.views.waiting(process);
			return {
				session_id: process.id,
				screen: redactScreen(process.secrets, screen, cols),
				cursor,
				alt_screen,
				title,
				cols,
				rows,
				byte_offset: offset,
				waiting_for: waiting.waiting ? waiting.waiting_for : null,
				waiting_evidence: waiting.waiting ? waiting.waiting_evidence : null,
			};
		},
	),
	route(
		{
			method: "post",
			path: "/api/processes/:id/wait",
			who: "owner",
			summary: "Until it ends, or something else holds",
			body: waitSchema,
			answer: waitedSchema,
		},
		async ({ params, body, context }) => {
			const process = processOf(api, params);
			const result = await process.wait({
				until: (body.until ?? { exit: true }) as Until,
				timeout: (body.timeout ?? WAIT_SECONDS) * 1000,
				signal: context.req.raw.signal,
				...(body.byte_offset === undefined ? {} : { from: body.byte_offset }),
			});
			return {
				process: await api.views.item(process),
				matched: result.matched,
				timed_out: result.timedOut,
				byte_offset: result.offset,
				...(result.match === undefined ? {} : { match: maskedMatch(process, result.match, result.offset) }),
			};
		},
	),
];

const steering = (api: ApiContext): Route[] => [
	route(
		{ method: "post", path: "/api/processes", who: "owner", summary: "Start something", body: spawnSchema, answer: startedSchema, status: 201 },
		async ({ body }) => {
			const { command, pty = true, cols = api.runtime.limits.cols, rows = api.runtime.limits.rows, place, ...rest } = body;
			const runtime = api.runtime.at(place);
			const process = await runtime.spawn({ command, ...rest, ...(pty ? { terminal: { cols, rows } } : {}) });
			if (pty) runtime.answerFor(process, { from: 0 });
			return { ...(await api.views.item(process)), notes: runtime.takeNotes(process.spec.task) };
		},
	),
	route(
		{ method: "post", path: "/api/processes/:id/rename", who: "owner", summary: "Another name", body: renameSchema, answer: processSchema },
		async ({ params, body }) => {
			const process = processOf(api, params);
			rename(api.runtime, process, body.name.trim());
			await api.events.look(process);
			return api.views.item(process);
		},
	),
	route(
		{
			method: "post",
			path: "/api/processes/:id/kill",
			who: "owner",
			summary: "End it with everything it started, and look whether that worked",
			answer: killedSchema,
		},
		async ({ params }) => {
			const process = processOf(api, params);
			const result = await process.kill();
			api.runtime.audit.note(process.spec.task, { event: "killed", session_id: process.id, status: result.status, by: "http" });
			return killSummary(process, result);
		},
	),
	route(
		{ method: "post", path: "/api/processes/:id/signal", who: "owner", summary: "One signal", body: signalSchema, answer: okSchema },
		async ({ params, body }) => {
			const name = `SIG${body.signal.trim().toUpperCase().replace(/^SIG/, "")}`;
			if (!Object.hasOwn(constants.signals, name)) throw new HoldfastError("INVALID", `there is no signal "${body.signal}"`);
			const process = processOf(api, params);
			await process.signal(name as NodeJS.Signals);
			api.runtime.audit.note(process.spec.task, { event: "signalled", session_id: process.id, signal: name, by: "http" });
			return { ok: true };
		},
	),
	route(
		{ method: "post", path: "/api/processes/:id/input", who: "owner", summary: "Write to its input", body: inputSchema, answer: writtenSchema },
		async ({ params, body }) => {
			const process = processOf(api, params);
			mustBeFree(process);
			const data = Buffer.from(body.data, body.base64 ? "base64" : "utf8");
			const end = body.submit ? Buffer.from(process.spec.terminal ? "\r" : "\n") : Buffer.alloc(0);
			return { session_id: process.id, bytes_written: await written(api, process, Buffer.concat([data, end])) };
		},
	),
	route(
		{ method: "post", path: "/api/processes/:id/keys", who: "owner", summary: "Type keys", body: keysSchema, answer: writtenSchema },
		async ({ params, body }) => {
			const process = processOf(api, params);
			mustBeFree(process);
			const bytes = encodeKeys(body.keys, (await readScreen(await freshOf(api, params))).modes);
			return { session_id: process.id, bytes_written: await written(api, process, bytes) };
		},
	),
	route({ method: "post", path: "/api/processes/:id/close", who: "owner", summary: "End of input", answer: okSchema }, async ({ params }) => {
		const process = processOf(api, params);
		mustBeFree(process);
		await process.closeStdin();
		return { ok: true };
	}),
	route(
		{ method: "post", path: "/api/processes/:id/resize", who: "owner", summary: "The size of its terminal", body: resizeSchema, answer: okSchema },
		async ({ params, body }) => {
			const process = processOf(api, params);
			mustBeFree(process);
			await process.resize(body.cols, body.rows);
			return { ok: true };
		},
	),
];

async function written(api: ApiContext, process: Process, data: Uint8Array): Promise<number> {
	const bytes = await process.write(data, { signal: AbortSignal.timeout(WRITE_MS) });
	api.runtime.audit.note(process.spec.task, { event: "wrote", session_id: process.id, bytes, by: "http" });
	return bytes;
}
