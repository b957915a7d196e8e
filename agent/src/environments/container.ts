/** The container of an item that has an image: made by the engine of the run's place, or by this machine's where that place is this machine. */
import type { PlaceObject } from "holdfast";
import { EpisodeError } from "../episode/index.js";

export type ContainerPlace = PlaceObject & { readonly kind: "docker" };

/** Throws `place/unavailable` for a place that makes no containers: nothing is played somewhere else than the run says. */
export function containerOf(image: string, place: string | PlaceObject): ContainerPlace {
	return { pull: "missing", ...engineOf(place), image } as ContainerPlace;
}

function engineOf(place: string | PlaceObject): { readonly kind: "docker" } {
	if (typeof place === "object" && place.kind === "docker") return { ...place, kind: "docker" };
	const kind = typeof place === "string" ? place : place.kind;
	if (/^(local|sandbox)([+:]|$)/.test(kind)) return { kind: "docker" };
	throw new EpisodeError(
		"place",
		"unavailable",
		`this task needs a container of its image, and ${kind} makes none; give the run a place of containers, docker://`,
	);
}
