/** Lists, stops and prunes every sandbox: those of this home, and those of all homes that a kind of place knows (containers of the engines). */
import { fromSystem, HoldfastError, idPrefix } from "../base/index.js";
import { type KnownPlaces, kinds, type Leftover, type LeftoverSource, leftoversOf, type NamedPlace, rememberedPlaces } from "../places/index.js";
import type { Runtime } from "./runtime.js";
import { Sandboxes } from "./sandboxes.js";

/** Kind of a `local+sandbox` sandbox, which is a process of this home. */
const OWN = "bubblewrap";

export interface SandboxItem extends Leftover {
	/** `bubblewrap`, or the kind of place. */
	readonly kind: string;
	/** Running processes of the task; null if they cannot be seen from this machine. */
	readonly processes: number | null;
}

export interface SandboxList {
	readonly sandboxes: readonly SandboxItem[];
	/** One sentence for each source that could not be listed. */
	readonly notes: readonly string[];
}

/** Lists all sandboxes. `ms`: time limit for each engine, account or cluster. */
export async function listSandboxes(runtime: Runtime, { ms = LIST_MS }: { readonly ms?: number } = {}): Promise<SandboxList> {
	const own = new Sandboxes(runtime).list().map(
		(one): SandboxItem => ({
			id: one.id,
			kind: OWN,
			name: one.directory,
			task: one.task,
			home: runtime.home.root,
			state: "running",
			started_at: new Date(one.startedAt).toISOString(),
			processes: one.processes,
			orphan: one.orphan,
		}),
	);
	const { named, notes } = namedPlaces({ config: () => runtime.config, home: runtime.home });
	const listed = await Promise.all(
		kinds().map(async ({ name: kind }) => leftoversIn(kind, { named: named.get(kind) ?? [], complete: notes.length === 0 }, ms)),
	);
	return { sandboxes: [...own, ...listed.flatMap(({ items }) => items)], notes: [...notes, ...listed.flatMap((one) => one.notes)] };
}

const LIST_MS = 15_000;

/** Lists the leftovers of one kind. Asks all sources in parallel; a source that does not answer does not delay the others. */
async function leftoversIn(
	kind: string,
	known: KnownPlaces,
	ms: number,
): Promise<{ readonly items: readonly SandboxItem[]; readonly notes: readonly string[] }> {
	const leftovers = leftoversOf(kind);
	if (!leftovers) return { items: [], notes: [] };
	const notes: string[] = [];
	const items = new Map<string, SandboxItem>(); // one engine may have several addresses
	const { wheres, notes: unusable } = await leftovers.wheres(known);
	const ask = async (where: LeftoverSource) => {
		const time = AbortSignal.timeout(ms);
		const late = new Promise<never>((_, reject) => time.addEventListener("abort", () => reject(time.reason), { once: true }));
		try {
			for (const item of await Promise.race([leftovers.list(where, time), late])) items.set(item.id, { ...item, kind, processes: null });
		} catch (error) {
			const why = time.aborted ? `no answer within ${ms / 1000} s` : fromSystem(error, kind).message;
			if (!where.quiet) notes.push(`${where.label} could not be listed: ${why}.`);
		}
	};
	await Promise.all(wheres.map(ask));
	return { items: [...items.values()], notes: [...unusable, ...notes] };
}

/** Returns the places of each kind that config.json names or that this home has used. */
function namedPlaces({ config, home }: { readonly config: () => Runtime["config"]; readonly home: Runtime["home"] }): {
	readonly named: ReadonlyMap<string, readonly NamedPlace[]>;
	readonly notes: readonly string[];
} {
	const named = new Map<string, NamedPlace[]>();
	const notes: string[] = [];
	const add = (kind: string | undefined, place: NamedPlace) => named.set(kind ?? "", [...(named.get(kind ?? "") ?? []), place]);
	try {
		for (const [name, { type, kind = type, ...options }] of Object.entries(config().places)) add(kind, { name, options, configured: true });
	} catch (error) {
		notes.push(`Engines that config.json names are not known: ${fromSystem(error, "reading it").message}.`);
	}
	for (const { wish } of rememberedPlaces(home)) add(wish.kind, { name: wish.name, options: wish.options, configured: false });
	return { named, notes };
}

/** Stops a sandbox, given its id or a prefix of it. The number of a job may be short, or the prefix of another. Resolves with a sentence. Throws if there is no such sandbox. */
export async function stopSandbox(runtime: Runtime, wanted: string): Promise<string> {
	const { sandboxes, notes } = await listSandboxes(runtime);
	const digits = idPrefix(wanted);
	const exact = sandboxes.filter(({ id }) => id === wanted);
	const fits = ({ id, kind }: SandboxItem) =>
		kind === OWN ? digits !== undefined && id.slice(5).startsWith(digits) : wanted.length >= 4 && id.startsWith(wanted);
	const found = exact.length > 0 ? exact : sandboxes.filter(fits);
	if (found.length > 1) throw new HoldfastError("NOT_FOUND", `"${wanted}" fits ${found.map(({ id }) => id).join(" and ")}; give more of it`);
	const [one] = found;
	if (!one) throw new HoldfastError("NOT_FOUND", [`there is no sandbox "${wanted}"; \`holdfast sandboxes\` lists them`, ...notes].join(". "));
	return endOne(runtime, one);
}

/** Removes orphans; with `allHomes` also the sandboxes of homes on other hosts. Returns a sentence for each. */
export async function pruneSandboxes(
	runtime: Runtime,
	{ allHomes = false }: { readonly allHomes?: boolean } = {},
): Promise<{ readonly removed: readonly string[]; readonly notes: readonly string[] }> {
	const { sandboxes, notes } = await listSandboxes(runtime);
	const removed: string[] = [];
	const failed: string[] = [];
	for (const one of sandboxes.filter(({ orphan, elsewhere }) => orphan || (allHomes && elsewhere))) {
		try {
			removed.push(await endOne(runtime, one));
		} catch (error) {
			failed.push(`${one.id} could not be removed: ${fromSystem(error, "removing it").message}.`);
		}
	}
	return { removed, notes: [...notes, ...failed] };
}

async function endOne(runtime: Runtime, { id, kind, task, engine }: SandboxItem): Promise<string> {
	if (kind === OWN) return (await new Sandboxes(runtime).stop(id)) ? `${id} of task ${task} has ended, with all that ran in it` : `${id} had ended already`;
	const removed = await leftoversOf(kind)?.remove({ id, ...(engine === undefined ? {} : { engine }) });
	return removed ? `${id} of task ${task} was removed, with all that was in it` : `${id} was gone already`;
}
