/** CallTarget a call of a task goes, as a query says it. */
import type * as z from "zod";
import { HoldfastError } from "../../../base/index.js";
import type { PlaceGiven } from "../../../places/index.js";
import type { whereSchema } from "../schemas.js";

export type CallTarget = z.infer<typeof whereSchema>;

/** Returns the place of a query: an address or a name as it is, an object from its JSON. Its kind and settings are checked where it is used. */
export function placeOf(place: string | undefined): PlaceGiven | undefined {
	if (place === undefined || !place.trimStart().startsWith("{")) return place;
	try {
		return JSON.parse(place) as PlaceGiven;
	} catch {
		throw new HoldfastError("INVALID", "place begins with { but is not valid JSON; give a place object as JSON, or an address such as docker://debian:12");
	}
}
