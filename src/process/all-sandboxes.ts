/** Every sandbox there is: those of this home, and the containers of all homes that the engines know. */
import { fromSystem, HoldfastError } from "../base/errors.js";
import { idPrefix } from "../base/ids.js";
import { loadDocker } from "../places/hosts.js";
import { type KnownEngine, knownEngines } from "./engines.js";
import type { Runtime } from "./runtime.js";
import { Sandboxes } from "./sandboxes.js";

export interface SandboxItem {
	readonly id: string;
	readonly kind: "bubblewrap" | "docker";
	readonly name: string;
	readonly task: string;
	readonly home: string;
	/** `running`, or what the engine says. */
	readonly state: string;
	readonly started_at: string;
	/** How many processes of the task run in it; null where nobody here can tell. */
	readonly processes: number | null;
	/** Where the container is, if not at the usual engine. */
	readonly engine?: string;
	/** Nobody will come back to it: its home is gone, or its time is over and it was not to be kept. */
	readonly orphan: boolean;
}

export interface SandboxList {
	readonly sandboxes: readonly SandboxItem[];
	/** What could not be looked at. */
	readonly notes: readonly string[];
}

const OVER = ["exited", "dead"];
const LIST_MS = 15_000;

export async function listSandboxes(runtime: Runtime): Promise<SandboxList> {
	const own = new Sandboxes(runtime, undefined).list().map(
		(one): SandboxItem => ({
			id: one.id,
			kind: "bubblewrap",
			name: one.directory,
			task: one.task,
			home: runtime.home.root,
			state: "running",
			started_at: new Date(one.startedAt).toISOString(),
			processes: one.processes,
			orphan: one.orphan,
		}),
	);
	const { engines, notes } = await knownEngines(runtime);
	const listed = await Promise.all(engines.map(containers));
	// That the usual engine does not answer is news only to who has asked for it, or for no other.
	const isNamed = ({ namedBy }: KnownEngine) => namedBy.length > 0;
	const said = notes.length === 0 && !engines.some(isNamed) ? listed : listed.filter((_, at) => isNamed(engines[at] as KnownEngine));
	return { sandboxes: [...own, ...once(listed.flatMap(({ items }) => items))], notes: [...notes, ...said.flatMap((one) => one.notes)] };
}

/** One engine may have several addresses. */
const once = (items: readonly SandboxItem[]): SandboxItem[] => [...new Map(items.map((item) => [item.id, item])).values()];

async function containers({ engine, where, namedBy }: KnownEngine): Promise<{ items: SandboxItem[]; notes: string[] }> {
	try {
		const { listContainers } = await loadDocker();
		const found = await listContainers({ ms: LIST_MS, ...(engine === undefined ? {} : { engine }) });
		return {
			notes: [],
			items: found.map((one) => ({
				id: one.id.slice(0, 12),
				kind: "docker",
				name: one.image,
				task: one.task,
				home: one.home,
				state: one.state,
				started_at: one.created.toISOString(),
				processes: null,
				...(engine === undefined ? {} : { engine }),
				orphan: one.orphan === true || (one.orphan === false && !one.keep && OVER.includes(one.state)),
			})),
		};
	} catch (error) {
		const whose = namedBy.length === 0 ? "" : ` of ${where} (the engine of ${namedBy.join(", ")})`;
		return { items: [], notes: [`Containers${whose} could not be listed: ${fromSystem(error, "docker").message}.`] };
	}
}

/** By id or a beginning of it. Resolves with a sentence; throws when there is no such sandbox. */
export async function stopSandbox(runtime: Runtime, wanted: string): Promise<string> {
	const { sandboxes, notes } = await listSandboxes(runtime);
	const digits = idPrefix(wanted);
	const found = sandboxes.filter(({ id, kind }) =>
		kind === "bubblewrap" ? digits !== undefined && id.slice(5).startsWith(digits) : wanted.length >= 4 && id.startsWith(wanted),
	);
	if (found.length > 1) throw new HoldfastError("NOT_FOUND", `"${wanted}" fits ${found.map(({ id }) => id).join(" and ")}; give more of it`);
	const [one] = found;
	if (!one) throw new HoldfastError("NOT_FOUND", [`there is no sandbox "${wanted}"; \`holdfast sandboxes\` lists them`, ...notes].join(". "));
	return endOne(runtime, one);
}

/** Those that nobody will come back to. A sentence each. */
export async function pruneSandboxes(runtime: Runtime): Promise<{ readonly removed: readonly string[]; readonly notes: readonly string[] }> {
	const { sandboxes, notes } = await listSandboxes(runtime);
	const removed: string[] = [];
	const failed: string[] = [];
	for (const one of sandboxes.filter(({ orphan }) => orphan)) {
		try {
			removed.push(await endOne(runtime, one));
		} catch (error) {
			failed.push(`${one.id} could not be removed: ${fromSystem(error, "removing it").message}.`);
		}
	}
	return { removed, notes: [...notes, ...failed] };
}

async function endOne(runtime: Runtime, { id, kind, task, engine }: SandboxItem): Promise<string> {
	if (kind === "bubblewrap")
		return (await new Sandboxes(runtime, undefined).stop(id)) ? `${id} of task ${task} has ended, with all that ran in it` : `${id} had ended already`;
	const { removeContainer } = await loadDocker();
	return (await removeContainer(id, engine === undefined ? {} : { engine }))
		? `${id} of task ${task} was removed, with all that was in it`
		: `${id} was gone already`;
}
