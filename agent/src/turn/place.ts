import type { PlaceObject } from "holdfast";

/** The log has a place as text: an address, a name, or an object as JSON. */
export const placeText = (place: string | { readonly kind: string }): string => (typeof place === "string" ? place : JSON.stringify(place));

export const parsePlace = (text: string): string | PlaceObject => (text.startsWith("{") ? (JSON.parse(text) as PlaceObject) : text);
