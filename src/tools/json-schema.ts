import * as z from "zod";

/** A model that asks for so much is told what the limit is. */
const BEYOND_REASON = 10_000;

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * As a door shows it. A field that can be null has two types, said in the one way that is not a union of schemas. A plain copy:
 * zod's own has a hidden `~standard`, by which the OpenAI Agents SDK takes it for a schema that it has to be strict about.
 */
export function jsonSchema(schema: z.ZodType): JsonSchema {
	const json = z.toJSONSchema(schema, {
		io: "input", // extra fields are welcome in a result, and a strict object refuses them either way
		override: ({ jsonSchema: json }) => {
			for (const name of ["minLength", "maxLength", "minItems", "maxItems"] as const) delete json[name]; // what a model reads costs, and these are checked here
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
