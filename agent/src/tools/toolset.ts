/** Which tools a conversation has: sets by name, with includes, and a reason and a remedy where one cannot be used. */
import { nearNames } from "../base/index.js";
import type { Availability, Toolset } from "./tool.js";

/** A set of the person's own, as the configuration has it. */
export interface OwnToolset {
	readonly description?: string | undefined;
	readonly tools?: readonly string[] | undefined;
	readonly includes?: readonly string[] | undefined;
}

export interface ChosenTools {
	/** The names of the tools, in a stable order. */
	readonly tools: readonly string[];
	/** Each set that was asked for, by itself or by an include, and how it stands. */
	readonly sets: readonly ToolsetState[];
	/** A warning for the person before the first message. */
	readonly warning?: string;
}

export interface ToolsetState {
	readonly name: string;
	readonly description: string;
	readonly availability: Availability;
}

export class ToolsetError extends Error {
	override readonly name = "ToolsetError";
}

const ON: Availability = { ok: true };

/**
 * Chooses sets by name. Throws `ToolsetError` for a name that there is not, and in a `run` that names none: a script must not get more tools because a
 * later version brings more. In a `chat` none means all, with a warning.
 */
export function chooseTools(names: readonly string[] | undefined, sets: readonly Toolset[], door: "chat" | "run"): ChosenTools {
	const known = new Map(sets.map((set) => [set.name, set]));
	if (names === undefined || names.length === 0) {
		if (door === "run")
			throw new ToolsetError(`no toolset is named, so nothing was run; name those that it needs: --toolsets terminal,file (there are ${listed(known)})`);
		const all = chooseTools(["all"], sets, door);
		const on = all.sets.filter(({ availability }) => availability.ok).map(({ name }) => name);
		return {
			...all,
			warning: `No toolset is named, so all are loaded: ${on.join(", ")} (${all.tools.length} tools). Name those you want: --toolsets terminal,file`,
		};
	}
	for (const name of names) if (!known.has(name)) throw unknownSet(name, [...known.keys()]);
	const tools = new Set<string>();
	const states = new Map<string, ToolsetState>();
	const add = (set: Toolset): void => {
		if (states.has(set.name)) return; // sets may include each other
		const availability = set.available();
		states.set(set.name, { name: set.name, description: set.description, availability });
		if (!availability.ok) return;
		for (const tool of set.tools) tools.add(tool);
		for (const name of set.includes ?? []) {
			const included = known.get(name);
			if (!included) throw unknownSet(name, [...known.keys()], ` in the toolset "${set.name}"`);
			add(included);
		}
	};
	for (const name of names) add(known.get(name) as Toolset);
	// A set that only stands for others is not shown beside them.
	const standsForOthers = (name: string): boolean => known.get(name)?.tools.length === 0 && (known.get(name)?.includes ?? []).length > 0;
	const shown = [...states.values()].filter(({ name, availability }) => !availability.ok || !standsForOthers(name));
	return { tools: [...tools], sets: shown };
}

/** Returns the sets that there are: ours, one for each MCP server, and those of the configuration. Throws `ToolsetError` for one that cannot be. */
export function toolsetsWith(options: {
	/** The programs that the place of the conversation needs, and whether they are there. */
	readonly place?: () => Availability;
	/** Whether a person can answer questions. */
	readonly ask?: () => Availability;
	readonly servers?: readonly Toolset[];
	/** Sets of other packages. They are used where they are named: `all` has none of them. */
	readonly offered?: readonly Toolset[];
	readonly own?: Readonly<Record<string, OwnToolset>>;
}): Toolset[] {
	const place = options.place ?? (() => ON);
	const on = () => ON;
	const ours: Toolset[] = [
		{ name: "terminal", description: "commands in a shell that lasts, and processes", tools: ["terminal", "process"], available: place },
		{ name: "file", description: "read, write, change and search files", tools: ["read_file", "write_file", "patch", "search_files"], available: place },
		{ name: "transfer", description: "copy files between this machine and the place", tools: ["upload", "download"], available: place },
		{ name: "safe", description: "read and search files, change nothing", tools: ["read_file", "search_files"], available: place },
		{ name: "todo", description: "a list of steps that you can see", tools: ["todo"], available: on },
		{ name: "ask", description: "questions to you", tools: ["ask_user"], available: options.ask ?? on },
	];
	const servers = options.servers ?? [];
	const all: Toolset = {
		name: "all",
		description: "everything but what only repeats it",
		tools: [],
		includes: [...ours.map(({ name }) => name).filter((name) => name !== "safe"), ...servers.map(({ name }) => name)],
		available: on,
	};
	const taken = new Set([...ours, all].map(({ name }) => name));
	for (const { name } of servers) {
		if (taken.has(name)) throw new ToolsetError(`an MCP server cannot be named "${name}", which is a toolset of our own; give it another name`);
		taken.add(name);
	}
	const offered = options.offered ?? [];
	for (const { name } of offered) taken.add(name);
	const own = Object.entries(options.own ?? {}).map(([name, set]): Toolset => {
		if (taken.has(name)) throw new ToolsetError(`a toolset cannot be named "${name}", since there is one of that name; give yours another name`);
		return { name, description: set.description ?? "of your own", tools: set.tools ?? [], includes: set.includes ?? [], available: on };
	});
	const sets = [...ours, ...servers, ...offered, ...own, all];
	const names = sets.map(({ name }) => name);
	const tools = new Set([...ours, ...offered].flatMap((set) => set.tools));
	for (const { name, includes = [], tools: wanted } of own) {
		for (const one of includes) if (!names.includes(one)) throw unknownSet(one, names, ` in the toolset "${name}"`);
		// Which tools an MCP server has is known only when it runs.
		for (const one of wanted) if (!tools.has(one) && !one.includes("__")) throw unknownName("tool", one, [...tools], ` in the toolset "${name}"`);
	}
	return sets;
}

/** As the banner and `toolsets` have it: "terminal, file on · browser off: it is not installed (npm i -g browser)". */
export function describeToolsets(states: readonly ToolsetState[]): string {
	const on = states.filter(({ availability }) => availability.ok).map(({ name }) => name);
	const off = states.flatMap(({ name, availability }) => (availability.ok ? [] : [`${name} ${offWords(availability)}`]));
	return [...(on.length > 0 ? [`${on.join(", ")} on`] : []), ...off].join(" · ") || "no tools";
}

export const offWords = ({ why, fix }: Extract<Availability, { ok: false }>): string => `off: ${why} (${fix})`;

const listed = (known: ReadonlyMap<string, Toolset>): string => [...known.keys()].join(", ");

const unknownSet = (name: string, known: readonly string[], where = ""): ToolsetError => unknownName("toolset", name, known, where);

function unknownName(what: string, name: string, known: readonly string[], where: string): ToolsetError {
	const near = nearNames(name, known);
	const meant = near.length > 0 ? `Perhaps you mean ${near.join(" or ")}. ` : "";
	return new ToolsetError(`there is no ${what} "${name.slice(0, 80)}"${where}. ${meant}There are ${known.join(", ")}`);
}
