import { describe, expect, test } from "vitest";
import { TOOLS } from "../support/internal.js";

/** Every object in a JSON schema, with its path. */
function* parts(schema: unknown, at = "$"): Generator<[string, Record<string, unknown>]> {
	if (Array.isArray(schema)) for (const [index, item] of schema.entries()) yield* parts(item, `${at}.${index}`);
	else if (typeof schema === "object" && schema !== null) {
		yield [at, schema as Record<string, unknown>];
		for (const [name, value] of Object.entries(schema)) yield* parts(value, `${at}.${name}`);
	}
}

const unions = (schema: unknown): string[] =>
	[...parts(schema)].filter(([, part]) => ["anyOf", "oneOf", "allOf", "not", "$ref"].some((word) => word in part)).map(([at]) => at);
const severalTypes = (schema: unknown): string[] => [...parts(schema)].filter(([, { type }]) => Array.isArray(type)).map(([at]) => at);

test("all that a client loads without output schemas has less than 12 KB", () => {
	const loaded = TOOLS.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
	expect(Buffer.byteLength(JSON.stringify(loaded))).toBeLessThan(12_000);
});

describe.each(TOOLS.map((tool) => [tool.name, tool] as const))("%s", (_name, tool) => {
	test("its input schema has no unions of any kind, and refuses what it does not name", () => {
		expect(unions(tool.inputSchema)).toEqual([]);
		expect(severalTypes(tool.inputSchema)).toEqual([]);
		for (const [at, part] of parts(tool.inputSchema)) if (part.type === "object") expect([at, part.additionalProperties]).toEqual([at, false]);
	});

	test("its output schema has none either, but for what may be null", () => {
		expect(unions(tool.outputSchema)).toEqual([]);
		const nullable = severalTypes(tool.outputSchema);
		expect(nullable.length).toBeGreaterThan(0);
		for (const [at, { type }] of parts(tool.outputSchema)) if (nullable.includes(at)) expect(type).toEqual([expect.any(String), "null"]);
	});

	test("its schemas are plain JSON, without hidden properties", () => {
		for (const schema of [tool.inputSchema, tool.outputSchema])
			for (const [at, part] of parts(schema)) expect([at, Reflect.ownKeys(part)]).toEqual([at, Object.keys(part)]);
	});

	test("every parameter is described, and nothing is longer than a model will read", () => {
		for (const [name, field] of Object.entries(tool.input.shape))
			expect([name, (field as { description?: string }).description]).toEqual([name, expect.any(String)]);
		expect(tool.description.length).toBeLessThan(2_000);
		expect(JSON.stringify(tool.inputSchema).length).toBeLessThan(4_000);
	});
});
