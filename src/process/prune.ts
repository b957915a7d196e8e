/** Removes old processes: after seven days, or earlier, oldest first, if the home is over its quota. Never removes a running one. */
import fs from "node:fs";
import path from "node:path";
import { type Home, namesIn, readIfThere, writeWhole } from "../base/index.js";
import { HOUR_MS, procDir } from "../keeper/index.js";
import type { EndedTicket, Registry } from "./registry.js";
import { noteRemoved } from "./removed.js";

export interface PruneOptions {
	readonly olderThanMs: number;
	readonly quotaBytes: number;
	readonly now?: number;
	readonly dryRun?: boolean;
}

export interface PruneResult {
	readonly removed: string[];
	readonly bytes: number;
	readonly kept: number;
}

/** Disk use of a directory besides its output. */
const OVERHEAD = 16 * 1024;

export function prune(registry: Registry, options: PruneOptions): PruneResult {
	const now = options.now ?? Date.now();
	const running = registry.running();
	let used = running.reduce((sum, process) => sum + registry.diskUse(process.id) + OVERHEAD, 0);
	const removed: EndedTicket[] = [];
	const kept: EndedTicket[] = [];
	const hours = namesIn(registry.home.ended).filter((name) => /^\d+$/.test(name));
	for (const hour of hours.sort((a, b) => Number(a) - Number(b))) {
		for (const ticket of registry.ended(hour)) (now - ticket.endedAt > options.olderThanMs ? removed : kept).push(ticket);
	}
	used += kept.reduce((sum, ticket) => sum + ticket.bytes + OVERHEAD, 0);
	while (used > options.quotaBytes) {
		const oldest = kept.shift();
		if (!oldest) break;
		removed.push(oldest);
		used -= oldest.bytes + OVERHEAD;
	}
	if (!options.dryRun) {
		const processes = removed.filter(({ ranges }) => !ranges);
		if (processes.length > 0)
			markPruned(
				registry.home,
				processes.reduce((last, { endedAt }) => Math.max(last, endedAt), 0),
			);
		// A command that keeps its slot also keeps the earlier commands of the slot: they are found by the directory's own id.
		const names = new Set(removed.flatMap(({ id }) => [id, path.basename(procDir(registry.home, id))]));
		for (const ticket of removed) registry.remove(ticket.id, ticket.file);
		noteRemoved(registry.home, [...names], now);
		for (const hour of hours) removeIfEmpty(path.join(registry.home.ended, hour), Number(hour) < Math.floor(now / HOUR_MS));
	}
	return { removed: removed.map((ticket) => ticket.id), bytes: removed.reduce((sum, ticket) => sum + ticket.bytes, 0), kept: kept.length + running.length };
}

/** Returns the time until which the record of ends is incomplete. A caller that asks about an earlier time is told so. */
export function prunedUntil(home: Home): number | undefined {
	const time = Number(readIfThere(path.join(home.root, "pruned")) ?? Number.NaN);
	return Number.isFinite(time) ? time : undefined;
}

function markPruned(home: Home, until: number): void {
	try {
		if (until > (prunedUntil(home) ?? 0)) writeWhole(path.join(home.root, "pruned"), String(until));
	} catch {
		// the disk is full: pruning must go on
	}
}

function removeIfEmpty(dir: string, past: boolean): void {
	if (!past) return; // the current hour will be used
	try {
		fs.rmdirSync(dir);
	} catch {
		// not empty
	}
}
