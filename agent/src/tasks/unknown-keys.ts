/** Keys of a value that its schema does not have, by their paths. They are ignored, as the format says, and named. */
import * as z from "zod";

export function unknownKeys(schema: z.ZodType, value: unknown, above = ""): string[] {
	const inner = bare(schema);
	if (Array.isArray(value))
		return inner instanceof z.ZodArray ? value.flatMap((one, at) => unknownKeys(inner.element as z.ZodType, one, `${above}[${at}]`)) : [];
	if (!(inner instanceof z.ZodObject) || typeof value !== "object" || value === null) return [];
	if (inner.def.catchall !== undefined) return [];
	return Object.entries(value).flatMap(([key, one]) => {
		const path = above === "" ? key : `${above}.${key}`;
		const known = Object.hasOwn(inner.shape, key) ? (inner.shape[key] as z.ZodType) : undefined;
		return known ? unknownKeys(known, one, path) : [path];
	});
}

/** Without what only makes it optional. */
function bare(schema: z.ZodType): z.ZodType {
	let inner = schema;
	while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) inner = inner.unwrap() as z.ZodType;
	return inner;
}
