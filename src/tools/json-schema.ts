import * as z from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * As a door shows it. A field that can be null has two types, said in the one way that is not a union of schemas. A plain copy:
 * zod's own has a hidden `~standard`, by which the OpenAI Agents SDK takes it for a schema that it has to be strict about.
 */
export function jsonSchema(schema: z.ZodType): JsonSchema {
	const json = z.toJSONSchema(schema, {
		io: "input", // extra fields are welcome in a result, and a strict object refuses them either way
		override: ({ jsonSchema: json }) => {
			if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
			if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
			const [some, none, ...more] = json.anyOf ?? [];
			if (some === undefined || none?.type !== "null" || more.length > 0) return;
			delete json.anyOf;
			Object.assign(json, some, { type: [some.type, "null"] });
		},
	});
	return JSON.parse(JSON.stringify(json)) as JsonSchema;
}
