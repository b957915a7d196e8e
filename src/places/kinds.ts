/** The table of the kinds of places. A new kind is a folder and a line in this table: kind.ts defines its interface. */
import { HoldfastError } from "../base/index.js";
import { apptainer } from "./apptainer/kind.js";
import { docker } from "./docker/kind.js";
import type { Kind } from "./kind.js";
import { kubernetes } from "./kubernetes/kind.js";
import { local } from "./local/kind.js";
import { modal } from "./modal/kind.js";
import { morph } from "./morph/kind.js";
import { sandbox } from "./sandbox/kind.js";
import { slurm } from "./slurm/kind.js";
import { ssh } from "./ssh/kind.js";

/** In the order in which help, errors and the table of docs/places.md name them. */
const TABLE = [local, sandbox, ssh, docker, apptainer, slurm, kubernetes, modal, morph] as const;

type ObjectOf<One> = One extends Kind<infer Name, infer Options, infer _Settings> ? { readonly kind: Name } & Readonly<Options> : never;
/** A place as an object: its kind and settings. */
export type PlaceObject = ObjectOf<(typeof TABLE)[number]>;

const known: Kind[] = [...TABLE];

export const kinds = (): readonly Kind[] => known;

/** Returns a kind. Throws INVALID, listing all kinds, for an unknown name. */
export function kindNamed(name: string): Kind {
	const kind = known.find((one) => one.name === name);
	if (kind) return kind;
	throw new HoldfastError(
		"INVALID",
		`there is no kind of place ${JSON.stringify(String(name).slice(0, 100))}; there are ${known.map((one) => one.name).join(", ")}`,
	);
}

/** Adds a kind to the table of this program; returns a function that removes it. Not exported from the package: so far only tests add kinds. */
export function registerKind(kind: Kind): () => void {
	if (!/^[a-z][a-z0-9]*$/.test(kind.name) || known.some(({ name }) => name === kind.name))
		throw new HoldfastError("INTERNAL", `a kind of place cannot be called ${JSON.stringify(kind.name)}: it is taken, or not lower case letters and digits`);
	known.push(kind);
	return () => {
		known.splice(known.indexOf(kind), 1);
	};
}
