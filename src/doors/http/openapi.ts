/** The OpenAPI 3.1 document of the API, made from its table of routes. */
import * as z from "zod";
import { packageVersion } from "../../base/index.js";
import type { Route, RouteSpec } from "./router.js";
import { problemSchema } from "./schemas.js";

type Json = Record<string, unknown>;

export function openApi(routes: readonly Route[]): Json {
	const paths: Record<string, Json> = {};
	for (const { spec } of routes) {
		const path = spec.path.replaceAll(/:(\w+)/g, "{$1}");
		paths[path] = { ...paths[path], [spec.method]: operation(spec) };
	}
	return {
		openapi: "3.1.0",
		info: {
			title: "Holdfast",
			version: packageVersion(),
			description: "Terminals that hold. Errors are {error: {code, message}}. WebSocket and events: docs/http.md.",
		},
		paths,
		components: {
			securitySchemes: {
				token: { type: "http", scheme: "bearer" },
				key: { type: "apiKey", in: "header", name: "X-Holdfast-Key", description: "With the cookie that login sets." },
			},
			schemas: { Problem: jsonSchema(problemSchema, "output") },
		},
	};
}

function operation(spec: RouteSpec): Json {
	const names = [...spec.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
	const parameters = [
		...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
		...(spec.query ? queryParameters(spec.query) : []),
	];
	return {
		summary: spec.summary,
		operationId: operationId(spec),
		...(spec.who === "everyone" ? { security: [] } : { security: [{ token: [] }, { key: [] }] }),
		...(parameters.length > 0 ? { parameters } : {}),
		...(spec.body ? { requestBody: { required: true, content: { "application/json": { schema: jsonSchema(spec.body, "input") } } } } : {}),
		...(spec.raw ? { requestBody: { required: true, content: { [spec.raw]: {} } } } : {}),
		responses: {
			[String(spec.status ?? 200)]: {
				description: "It worked.",
				content: typeof spec.answer === "string" ? { [spec.answer]: {} } : { "application/json": { schema: jsonSchema(spec.answer, "output") } },
			},
			default: { description: "It did not.", content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } } },
		},
	};
}

function queryParameters(query: z.ZodType): Json[] {
	const { properties = {}, required = [] } = jsonSchema(query, "input") as { properties?: Record<string, Json>; required?: string[] };
	return Object.entries(properties).map(([name, { description, ...schema }]) => ({
		name,
		in: "query",
		required: required.includes(name),
		...(description === undefined ? {} : { description }),
		schema,
	}));
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
	const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }) as Json;
	return rest;
}

const operationId = ({ method, path }: RouteSpec): string => `${method}_${path.replace(/^\/api\//, "").replaceAll(/[^\w]+/g, "_")}`;
