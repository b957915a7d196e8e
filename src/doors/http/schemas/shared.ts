/** Parts of several schemas. */
import * as z from "zod";

export const count = z.number().int().min(0);
export const time = z.iso.datetime("must be a time such as 2026-01-31T12:00:00Z");
/** The kind of an object, and its settings, are checked where it is used: src/places/kinds.ts. */
export const place = z.union(
	[z.string().min(1).max(8_192), z.looseObject({ kind: z.string().max(100) })],
	"must be an address, a name from config.json, or an object with a kind and its settings",
);
export const side = z.number().int().min(1).max(10_000);
/** A task name, checked as by `isTaskName` of base. */
export const task = z
	.string()
	.min(1)
	.max(1_000)
	.refine((name) => !/\0|[\ud800-\udfff]/u.test(name), "has whole characters only, and no NUL");
export const noNul = (text: z.ZodString) => text.refine((value) => !value.includes("\0"), "cannot contain a NUL byte");
