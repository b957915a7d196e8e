/** Finds the processes that belong to a kept one, among all processes of a machine. */
import { type Identity, isThere, type Kernel, localKernel, localTable, type Stat, type Table } from "../base/index.js";

/** Processes by the id in their environment, and by the id of the directory whose output or input they hold open. */
interface Owners {
	readonly markers: ReadonlyMap<string, number[]>;
	readonly holders: ReadonlyMap<string, number[]>;
}

/** A snapshot of all processes of a machine. Concurrent kills share it: it costs the same for one or a thousand. */
export class ProcessSnapshot {
	readonly table: Table;
	readonly stats: ReadonlyMap<number, Stat>;
	readonly #children = new Map<number, number[]>();
	readonly #sessions = new Map<number, number[]>();
	readonly #groups = new Map<number, number[]>();
	#owners: Owners | undefined;

	constructor(table: Table = localTable()) {
		this.table = table;
		this.stats = table.stats;
		for (const stat of table.stats.values()) {
			push(this.#children, stat.ppid, stat.pid);
			push(this.#sessions, stat.session, stat.pid);
			push(this.#groups, stat.pgrp, stat.pid);
		}
	}

	childrenOf = (pid: number): readonly number[] => this.#children.get(pid) ?? [];
	/** Returns these processes and all their descendants. */
	familyOf(pids: readonly number[]): number[] {
		const found = new Set(pids);
		for (const pid of found) for (const child of this.childrenOf(pid)) found.add(child);
		return [...found];
	}
	sessionOf = (pid: number): readonly number[] => this.#sessions.get(pid) ?? [];
	groupOf = (pgrp: number): readonly number[] => this.#groups.get(pgrp) ?? [];
	/** Returns whether a process is alive now, where that can be seen at once; otherwise at the snapshot. */
	isAlive = (id: Identity): boolean => isThere(this.table.statOf(id.pid), id);

	/** Returns processes that carry the marker `id` in their environment, or hold the output or input of the directory `owner` open. */
	marked(id: string, owner = id): readonly number[] {
		this.#owners ??= this.#findOwners();
		return [...new Set([...(this.#owners.markers.get(id) ?? []), ...(this.#owners.holders.get(owner) ?? [])])];
	}

	/** Returns the processes in the namespace of a sandbox. Never returns processes of Holdfast's own namespace, whatever the record says. */
	inNamespace(namespace: string | undefined): number[] {
		return namespace ? [...this.stats.keys()].filter((pid) => this.table.namespaceOf(pid) === namespace) : [];
	}

	#findOwners(): Owners {
		const owners = { markers: new Map<string, number[]>(), holders: new Map<string, number[]>() };
		for (const pid of this.stats.keys()) {
			if (pid <= 2 || pid === this.table.self) continue;
			const marker = this.table.markerOf(pid);
			if (marker) push(owners.markers, marker, pid);
			const found = new Set<string>();
			for (const link of this.table.standardOf(pid)) {
				const holds = /\/(proc_[0-9a-f]{12})\/(?:pipe|in)$/.exec(link);
				if (holds?.[1]) found.add(holds[1]);
			}
			for (const id of found) push(owners.holders, id, pid);
		}
		return owners;
	}
}

function push<K>(map: Map<K, number[]>, key: K, value: number): void {
	const list = map.get(key);
	if (list) list.push(value);
	else map.set(key, [value]);
}

const pending = new Map<Kernel, Promise<ProcessSnapshot>>();

/** Takes a snapshot after this call; all callers within one turn of the event loop get the same. */
export function snapshot(kernel: Kernel = localKernel): Promise<ProcessSnapshot> {
	const known = pending.get(kernel);
	if (known) return known;
	const taken = new Promise<ProcessSnapshot>((resolve) => {
		setImmediate(() => {
			pending.delete(kernel);
			resolve(kernel.processes().then((table) => new ProcessSnapshot(table)));
		});
	});
	pending.set(kernel, taken);
	return taken;
}
