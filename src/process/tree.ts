/** Which processes belong to a kept one, found by looking at all there are. */
import { isThere, type Kernel, type Table } from "../base/kernel.js";
import { nearKernel, nearTable } from "../base/near.js";
import type { Identity, Stat } from "../base/proc.js";

/** One look at all processes of a machine. Kills that happen at the same time share it: a look costs the same for one or a thousand. */
export class Snapshot {
	readonly table: Table;
	readonly stats: ReadonlyMap<number, Stat>;
	readonly #children = new Map<number, number[]>();
	readonly #sessions = new Map<number, number[]>();
	readonly #groups = new Map<number, number[]>();
	#owners: Map<string, number[]> | undefined;

	constructor(table: Table = nearTable()) {
		this.table = table;
		this.stats = table.stats;
		for (const stat of table.stats.values()) {
			push(this.#children, stat.ppid, stat.pid);
			push(this.#sessions, stat.session, stat.pid);
			push(this.#groups, stat.pgrp, stat.pid);
		}
	}

	childrenOf = (pid: number): readonly number[] => this.#children.get(pid) ?? [];
	/** These and all below them. */
	familyOf(pids: readonly number[]): number[] {
		const found = new Set(pids);
		for (const pid of found) for (const child of this.childrenOf(pid)) found.add(child);
		return [...found];
	}
	sessionOf = (pid: number): readonly number[] => this.#sessions.get(pid) ?? [];
	groupOf = (pgrp: number): readonly number[] => this.#groups.get(pgrp) ?? [];
	/** As things are now, where that can be seen at once. */
	isAlive = (id: Identity): boolean => isThere(this.table.statOf(id.pid), id);

	/** Processes that carry the marker of `id` in their environment, or still hold its output or input open. */
	marked(id: string): readonly number[] {
		this.#owners ??= this.#findOwners();
		return this.#owners.get(id) ?? [];
	}

	/** Processes in a namespace of a sandbox. Never those that are in ours, whatever is written down. */
	inNamespace(namespace: string | undefined): number[] {
		return namespace ? [...this.stats.keys()].filter((pid) => this.table.namespaceOf(pid) === namespace) : [];
	}

	#findOwners(): Map<string, number[]> {
		const owners = new Map<string, number[]>();
		for (const pid of this.stats.keys()) {
			if (pid <= 2 || pid === this.table.self) continue;
			const found = new Set<string>();
			const marker = this.table.markerOf(pid);
			if (marker) found.add(marker);
			for (const link of this.table.standardOf(pid)) {
				const holds = /\/(proc_[0-9a-f]{12})\/(?:pipe|in)$/.exec(link);
				if (holds?.[1]) found.add(holds[1]);
			}
			for (const id of found) push(owners, id, pid);
		}
		return owners;
	}
}

function push<K>(map: Map<K, number[]>, key: K, value: number): void {
	const list = map.get(key);
	if (list) list.push(value);
	else map.set(key, [value]);
}

const pending = new Map<Kernel, Promise<Snapshot>>();

/** A snapshot taken after this call; everybody who asks within one turn of the event loop gets the same. */
export function snapshot(kernel: Kernel = nearKernel): Promise<Snapshot> {
	const known = pending.get(kernel);
	if (known) return known;
	const taken = new Promise<Snapshot>((resolve) => {
		setImmediate(() => {
			pending.delete(kernel);
			resolve(kernel.processes().then((table) => new Snapshot(table)));
		});
	});
	pending.set(kernel, taken);
	return taken;
}
