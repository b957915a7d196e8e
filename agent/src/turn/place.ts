import type { PlaceObject, Runtime } from "holdfast";

/** The log has a place as text: an address, a name, or an object as JSON. */
export const placeText = (place: string | { readonly kind: string }): string => (typeof place === "string" ? place : JSON.stringify(place));

export const parsePlace = (text: string): string | PlaceObject => (text.startsWith("{") ? (JSON.parse(text) as PlaceObject) : text);

/** Throws `INVALID` if there is no such place, with those that there are. Nothing is started. */
export async function checkPlace(runtime: Runtime, place: string | PlaceObject): Promise<void> {
	await runtime.task(`agent/place-${process.pid}-${++checks}`, { place }).close();
}

let checks = 0;
