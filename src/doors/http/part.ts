/** Serves the parts of the page that other packages bring: `part-types.ts` says what one is. */
import type { Context, Hono } from "hono";
import * as z from "zod";
import type { SitePart } from "./part-types.js";
import { Refusal } from "./refusal.js";
import { BODY_BYTES, failed, jsonBody } from "./router.js";
import { serveFileOf } from "./static.js";
import type { Visitor } from "./visitor.js";

const partSchema = z.looseObject({
	name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must be lower-case letters, digits and dashes, at most 32"),
	label: z.string().min(1).max(20),
	icon: z.string().optional(),
	files: z.string().min(1),
	script: z.string().min(1),
	style: z.string().optional(),
	fetch: z.custom<SitePart["fetch"]>((value) => typeof value === "function", "must be a function"),
	close: z.custom<SitePart["close"]>((value) => value === undefined || typeof value === "function", "must be a function").optional(),
});
/** The object itself, not a copy: it may be of a class. */
export const partsSchema = z.array(z.custom<SitePart>((value) => partSchema.safeParse(value).success, "is no part; docs/library.md says what one has"));

/** The description of a part for the page. */
export interface PartInfo {
	readonly name: string;
	readonly label: string;
	readonly icon: string | null;
	readonly script: string;
	readonly style: string | null;
}

/** Asked anew for every page: a part may have been built meanwhile. */
export const partInfos = (parts: readonly SitePart[]): PartInfo[] =>
	parts.map((part) => ({
		name: part.name,
		label: part.label,
		icon: part.icon ?? null,
		script: `/parts/${part.name}/${part.script}`,
		style: part.style === undefined ? null : `/parts/${part.name}/${part.style}`,
	}));

export interface PartsOptions {
	readonly prefix: string;
	readonly visitorOf: (context: Context) => Visitor;
	readonly isStillValid: (visitor: Visitor) => boolean;
}

export function installParts(app: Hono, parts: readonly SitePart[], { prefix, visitorOf, isStillValid }: PartsOptions): void {
	for (const part of parts) {
		const api = `/api/parts/${part.name}`;
		const below = (context: Context, path: string) => new URL(context.req.url).pathname.slice(prefix.length + path.length);
		app.all(`${api}/*`, async (context) => {
			try {
				const visitor = visitorOf(context);
				if (visitor.scope !== "owner") throw new Refusal(403, "FORBIDDEN", "this link is for looking at one terminal only");
				return await part.fetch(context.req.raw, {
					path: below(context, api),
					isStillValid: () => isStillValid(visitor),
					json: (mostBytes = BODY_BYTES) => jsonBody(context, mostBytes),
				});
			} catch (error) {
				return failed(context, error);
			}
		});
		app.get(`/parts/${part.name}/*`, (context) => serveFileOf(context, part.files, below(context, `/parts/${part.name}`)));
	}
}
