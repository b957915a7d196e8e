import * as z from "zod";

/** Larger maxima are omitted from schemas: a model that exceeds one is told the limit. */
const BEYOND_REASON = 10_000;

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the schema as doors show it. A nullable field has two types, the one notation that is not a union of schemas. The result is a plain copy:
 * zod's own object has a hidden `~standard`, which makes the OpenAI Agents SDK treat it as a strict schema.
 */
export function jsonSchema(schema: z.ZodType): JsonSchema {
	const json = z.toJSONSchema(schema, {
		io: "input", // a result may have extra fields, and a strict object refuses them in both modes
		override: ({ jsonSchema: json }) => {
			for (const name of ["minLength", "maxLength", "minItems", "maxItems"] as const) delete json[name]; // schemas cost the model tokens, and the tools check these bounds
			if ((json.maximum ?? 0) >= BEYOND_REASON) delete json.maximum;
			if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
			const [some, none, ...more] = json.anyOf ?? [];
			if (some === undefined || none?.type !== "null" || more.length > 0) return;
			delete json.anyOf;
			Object.assign(json, some, { type: [some.type, "null"] });
		},
	});
	const { $schema: _, ...plain } = JSON.parse(JSON.stringify(json)) as JsonSchema;
	return plain;
}
