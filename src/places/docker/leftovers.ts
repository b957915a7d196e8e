/** Containers that Holdfast has made, for every home, on each known engine: the usual one, those in config.json, those that this home has used. */
import type { Leftovers, NamedPlace } from "../kind.js";
import { loadDocker } from "./load.js";

interface KnownEngine {
	/** As `openEngine` takes it; undefined: the usual one. */
	readonly engine: string | undefined;
	readonly where: string;
	/** DOCKER_HOST, and places by name or address. Empty: the usual engine, which was not asked for explicitly. */
	readonly namedBy: readonly string[];
}

const OVER = ["exited", "dead"];

export const containerLeftovers: Leftovers = {
	async wheres({ named, complete }) {
		const { engines, notes } = await knownEngines(named);
		const isNamed = ({ namedBy }: KnownEngine) => namedBy.length > 0;
		// A silent usual engine is reported only to a user who asked for it, or who asked for no other.
		const only = complete && notes.length === 0 && !engines.some(isNamed);
		return {
			notes,
			wheres: engines.map((one) => ({
				id: one.engine,
				label: isNamed(one) ? `Containers of ${one.where} (the engine of ${one.namedBy.join(", ")})` : "Containers",
				quiet: !only && !isNamed(one),
			})),
		};
	},
	async list({ id: engine }, signal) {
		const { listContainers } = await loadDocker();
		const found = await listContainers({ signal, ...(engine === undefined ? {} : { engine }) });
		return found.map((one) => ({
			id: one.id.slice(0, 12),
			name: one.image,
			task: one.task,
			home: one.home,
			state: one.state,
			started_at: one.created.toISOString(),
			...(engine === undefined ? {} : { engine }),
			orphan: one.orphan === true || (one.orphan === false && !one.keep && OVER.includes(one.state)),
		}));
	},
	async remove({ id, engine }) {
		const { removeContainer } = await loadDocker();
		return removeContainer(id, engine === undefined ? {} : { engine });
	},
};

/** Returns each engine once, however it is written and however many places name it. */
async function knownEngines(named: readonly NamedPlace[]): Promise<{ readonly engines: readonly KnownEngine[]; readonly notes: readonly string[] }> {
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
			notes.push(`${by === undefined ? "The usual engine" : `The engine of ${by}`} cannot be asked for containers: ${(error as Error).message}.`);
		}
	};
	add(undefined, process.env.DOCKER_HOST ? "DOCKER_HOST" : undefined);
	for (const { name, options, configured } of named) {
		const { engine } = options;
		if (engine === undefined || typeof engine === "string") add(engine, name);
		else if (configured)
			notes.push(
				`The engine of ${name} cannot be asked for containers: \`engine\` of places.${name} in config.json is text, such as unix:///var/run/docker.sock.`,
			);
	}
	return { engines: [...engines.values()], notes: [...new Set(notes)] };
}
