/** The Docker engines that containers of ours may be on: the usual one, those that config.json names, those that containers of this home were made on. */
import { fromSystem } from "../base/errors.js";
import { loadDocker } from "../places/hosts.js";
import { rememberedPlaces } from "../places/remember.js";
import type { Runtime } from "./runtime.js";

export interface KnownEngine {
	/** As `openEngine` takes it; undefined: the usual one. */
	readonly engine: string | undefined;
	readonly where: string;
	/** DOCKER_HOST, and places by name or address. Nothing: the usual one, which nobody has asked for. */
	readonly namedBy: readonly string[];
}

export interface KnownEngines {
	readonly engines: readonly KnownEngine[];
	/** What keeps one from being known. */
	readonly notes: readonly string[];
}

/** Each once, however it is written and by however many it is named. */
export async function knownEngines(runtime: Runtime): Promise<KnownEngines> {
	const { whereEngine } = await loadDocker();
	const engines = new Map<string, { engine: string | undefined; where: string; namedBy: string[] }>();
	const notes: string[] = [];
	const add = (engine: string | undefined, by?: string) => {
		try {
			const where = whereEngine(engine);
			const known = engines.get(where) ?? { engine, where, namedBy: [] };
			engines.set(where, known);
			if (by !== undefined && !known.namedBy.includes(by)) known.namedBy.push(by);
		} catch (error) {
			notes.push(`The engine of ${by ?? "DOCKER_HOST"} cannot be asked for containers: ${(error as Error).message}.`);
		}
	};
	add(undefined, process.env.DOCKER_HOST ? "DOCKER_HOST" : undefined);
	try {
		for (const [name, entry] of Object.entries(runtime.config.places)) {
			if (entry.type !== "docker") continue;
			const { engine } = entry;
			if (engine === undefined || typeof engine === "string") add(engine, name);
			else
				notes.push(
					`The engine of ${name} cannot be asked for containers: \`engine\` of places.${name} in config.json is text, such as unix:///var/run/docker.sock.`,
				);
		}
	} catch (error) {
		notes.push(`Engines that config.json names are not known: ${fromSystem(error, "reading it").message}.`);
	}
	for (const { wish } of rememberedPlaces(runtime.home)) if (wish.kind === "docker") add(wish.options.engine, wish.name);
	return { engines: [...engines.values()], notes: [...new Set(notes)] };
}
