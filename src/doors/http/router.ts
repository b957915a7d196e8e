/** The API as a table: each route with its schemas, which check what comes in and become the OpenAPI document. */
import { Readable } from "node:stream";
import type { Context, Hono } from "hono";
import type * as z from "zod";
import { checked, HoldfastError } from "../../base/index.js";
import { problemOf, Refusal } from "./refusal.js";
import { refusalPage, wantsPage } from "./refusal-page.js";
import type { Visitor } from "./visitor.js";

export const BODY_BYTES = 2 * 1024 * 1024;
const DISCARDED_BYTES = 64 * 1024 * 1024;

export interface RouteSpec<B extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType> {
	readonly method: "get" | "post" | "put" | "delete";
	/** A path in Hono's form: `:id` is a parameter. */
	readonly path: string;
	readonly summary: string;
	/** The visitors it is for: all, also the viewer of a read-only link (to the process `:id`), or only the owner. */
	readonly who: "everyone" | "viewer" | "owner";
	readonly query?: Q;
	readonly body?: B;
	/** The answer: JSON of this schema, or bytes of a media type. */
	readonly answer: z.ZodType | string;
	readonly status?: 200 | 201;
	/** The schema is for the document only: the handler checks the body itself. */
	readonly unchecked?: true;
	/** The body is not JSON: the handler reads it. */
	readonly raw?: string;
}

export interface Asked<B, Q> {
	readonly context: Context;
	readonly params: Readonly<Record<string, string>>;
	readonly query: Q;
	readonly body: B;
	readonly visitor: Visitor | undefined;
}

type Handler<B, Q> = (asked: Asked<B, Q>) => unknown;

export interface Route {
	readonly spec: RouteSpec;
	readonly handle: Handler<never, never>;
}

/** Returns an entry of the table. The result of its handler is sent as JSON, unless it is a Response. */
export const route = <B extends z.ZodType = z.ZodUndefined, Q extends z.ZodType = z.ZodUndefined>(
	spec: RouteSpec<B, Q>,
	handle: Handler<z.infer<B>, z.infer<Q>>,
): Route => ({ spec: spec as RouteSpec, handle: handle as Handler<never, never> });

/** `mayLook` is asked whether a viewer's process is the one in the path. */
export function install(app: Hono, routes: readonly Route[], visitorOf: (context: Context) => Visitor, mayLook: (visitor: Visitor, id: string) => void): void {
	for (const { spec, handle } of routes) {
		app.on(spec.method.toUpperCase(), spec.path, async (context) => {
			try {
				const visitor = spec.who === "everyone" ? undefined : visitorOf(context);
				if (visitor && spec.who === "owner" && visitor.scope !== "owner") throw new Refusal(403, "FORBIDDEN", "this link is for looking at one terminal only");
				const params = context.req.param() as Record<string, string>;
				if (visitor?.scope === "viewer" && params.id !== undefined) mayLook(visitor, params.id);
				const query = spec.query ? check(spec.query, queryOf(context), "the query") : undefined;
				const json = spec.body ? await jsonBody(context) : undefined;
				const body = spec.body && !spec.unchecked ? check(spec.body, json, "the body") : json;
				const answer = await (handle as Handler<unknown, unknown>)({ context, params, query, body, visitor });
				if (answer instanceof Response) {
					if (context.req.method === "HEAD") await answer.body?.cancel(); // it is never read, so what is open for it would stay open
					return answer;
				}
				context.header("Cache-Control", "no-store");
				return context.json(answer as object, spec.status ?? 200);
			} catch (error) {
				return failed(context, error);
			}
		});
	}
}

export function failed(context: Context, error: unknown): Response {
	const { status, body } = problemOf(error);
	if (status === 429) context.header("Retry-After", "60");
	context.header("Cache-Control", "no-store");
	if (wantsPage(context)) return refusalPage(context, status, body.error.message);
	return context.json(body, status as 400);
}

function queryOf(context: Context): Record<string, string> {
	const { ticket: _, ...query } = context.req.query();
	return query;
}

/** Another content type than JSON could come from a form of another site. */
export async function jsonBody(context: Context, most = BODY_BYTES): Promise<unknown> {
	const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
	const text = Buffer.from(await readBody(context, most)).toString("utf8");
	if (text === "" && type === undefined) return {};
	if (type !== "application/json") throw new Refusal(415, "INVALID", "the Content-Type must be application/json");
	try {
		return text === "" ? {} : JSON.parse(text);
	} catch {
		throw new HoldfastError("INVALID", "the body is not valid JSON");
	}
}

/** Never more than allowed in memory, whatever Content-Length says. */
const readBody = (context: Context, most: number): Promise<Uint8Array> =>
	withBody(context, async (body) => {
		const parts: Uint8Array[] = [];
		let size = 0;
		for await (const part of body) {
			size += part.length;
			if (size > most) throw new Refusal(413, "TOO_BIG", `a request may have ${most} bytes at most`);
			parts.push(part);
		}
		return Buffer.concat(parts);
	});

/**
 * Gives `act` the body of the request, piece by piece. The rest that `act` does not read is drained, up to a bound: a client that is still sending would find
 * the connection cut, and not the answer that says why.
 */
export async function withBody<T>(context: Context, act: (body: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
	const body = context.req.raw.body;
	if (!body) return act(Readable.from([]));
	const pieces = () => body.values({ preventCancel: true });
	try {
		return await act(pieces());
	} finally {
		await discard(pieces).catch(() => {}); // the client has gone
	}
}

async function discard(pieces: () => AsyncIterable<Uint8Array>): Promise<void> {
	let size = 0;
	for await (const part of pieces()) {
		size += part.length;
		if (size > DISCARDED_BYTES) return;
	}
}

export function check<T extends z.ZodType>(schema: T, value: unknown, what: string): z.infer<T> {
	const result = checked(schema, value);
	if ("problems" in result) throw new HoldfastError("INVALID", `${what} cannot be used: ${result.problems}`);
	return result.data;
}
