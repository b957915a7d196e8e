/** All containers that Holdfast has made, for any home: to list them, and to remove orphans. */
import { HoldfastError } from "../../base/index.js";
import { homeIsGone } from "../owner.js";
import { containers } from "./api.js";
import { LABEL, OURS } from "./body.js";
import { inspect, isOurs, remove } from "./container.js";
import { openEngine } from "./engine.js";

export interface ContainerSummary {
	readonly id: string;
	readonly name: string;
	readonly image: string;
	readonly task: string;
	readonly home: string;
	/** The machine of the home. */
	readonly host: string;
	/** The engine's state: created, running, paused, exited, dead, removing. */
	readonly state: string;
	/** The engine's text for people: "Up 2 hours". */
	readonly status: string;
	readonly created: Date;
	readonly keep: boolean;
	/** The home of the container is gone, so no runtime will use it again; null: the home is on another machine, or is not a path. */
	readonly orphan: boolean | null;
}

export interface ContainerFilter {
	readonly home?: string;
	readonly task?: string;
	/** Instead of DOCKER_HOST. */
	readonly engine?: string;
	readonly signal?: AbortSignal;
}

export async function listContainers({ home, task, engine: address, signal }: ContainerFilter = {}): Promise<ContainerSummary[]> {
	const engine = openEngine(address);
	const label = [`${LABEL.owner}=${OURS}`, ...(home === undefined ? [] : [`${LABEL.home}=${home}`]), ...(task === undefined ? [] : [`${LABEL.task}=${task}`])];
	const found = await engine.call("docker", containers.list({ label }), { signal });
	return found.map(({ Id, Names, Image, Labels, State, Status, Created }) => {
		const own = { home: Labels[LABEL.home] ?? "", host: Labels[LABEL.host] ?? "" };
		return {
			id: Id,
			name: (Names[0] ?? "").replace(/^\//, ""),
			image: Image,
			task: Labels[LABEL.task] ?? "",
			...own,
			state: State,
			status: Status,
			created: new Date(Created * 1000),
			keep: Labels[LABEL.keep] === "true",
			orphan: homeIsGone(own),
		};
	});
}

/** Removes one of our containers by its id, a prefix of it, or its name. Returns true if this call removed it. */
export async function removeContainer(id: string, options: { engine?: string; signal?: AbortSignal } = {}): Promise<boolean> {
	if (!/^[\w.-]{1,200}$/.test(id)) throw new HoldfastError("INVALID", `${JSON.stringify(id.slice(0, 100))} is not an id or a name of a container`);
	const engine = openEngine(options.engine);
	const info = await inspect(engine, id, options.signal);
	if (info === undefined) throw new HoldfastError("NOT_FOUND", `there is no container ${id}`);
	if (!isOurs(info)) throw new HoldfastError("FORBIDDEN", `the container ${id} was not made by Holdfast, and is left alone`);
	return await remove(engine, info.Id, options.signal);
}
