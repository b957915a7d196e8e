/** Which processes belong to a kept one, found by looking at all there are. */
import fs from "node:fs";
import { linkOf, parseStat, readProc, type Stat } from "../base/proc.js";

/** One look at /proc. Kills that happen at the same time share it: a look costs the same for one or a thousand. */
export class Snapshot {
	readonly stats = new Map<number, Stat>();
	readonly #children = new Map<number, number[]>();
	readonly #sessions = new Map<number, number[]>();
	#owners: Map<string, number[]> | undefined;

	constructor() {
		for (const name of fs.readdirSync("/proc")) {
			if (name < "0" || name > "9z") continue;
			const text = readProc(`/proc/${name}/stat`);
			const stat = text === undefined ? undefined : parseStat(text);
			if (!stat || stat.state === "Z" || stat.state === "X") continue;
			this.stats.set(stat.pid, stat);
			push(this.#children, stat.ppid, stat.pid);
			push(this.#sessions, stat.session, stat.pid);
		}
	}

	childrenOf = (pid: number): readonly number[] => this.#children.get(pid) ?? [];
	sessionOf = (pid: number): readonly number[] => this.#sessions.get(pid) ?? [];

	/** Processes that carry the marker of `id` in their environment, or still hold its output or input open. */
	marked(id: string): readonly number[] {
		this.#owners ??= this.#findOwners();
		return this.#owners.get(id) ?? [];
	}

	/** Processes in a namespace of a sandbox. Never those that are in ours, whatever is written down. */
	inNamespace(namespace: string | undefined): number[] {
		if (!namespace || namespace === linkOf("/proc/self/ns/uts")) return [];
		return [...this.stats.keys()].filter((pid) => linkOf(`/proc/${pid}/ns/uts`) === namespace);
	}

	/** Which kept process's environment it was started with. */
	markerOf = (pid: number): string | undefined => /(?:^|\0)HOLDFAST_ID=(proc_[0-9a-f]{12})(?:\0|$)/.exec(readProc(`/proc/${pid}/environ`) ?? "")?.[1];

	#findOwners(): Map<string, number[]> {
		const owners = new Map<string, number[]>();
		for (const pid of this.stats.keys()) {
			if (pid <= 2 || pid === process.pid) continue;
			const found = new Set<string>();
			const marker = this.markerOf(pid);
			if (marker) found.add(marker);
			for (const fd of [0, 1, 2]) {
				const holds = /\/(proc_[0-9a-f]{12})\/(?:pipe|in)$/.exec(linkOf(`/proc/${pid}/fd/${fd}`) ?? "");
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

let pending: Promise<Snapshot> | undefined;

/** A snapshot taken after this call; everybody who asks within one turn of the event loop gets the same. */
export function snapshot(): Promise<Snapshot> {
	pending ??= new Promise((resolve) => {
		setImmediate(() => {
			pending = undefined;
			resolve(new Snapshot());
		});
	});
	return pending;
}
