/** Forgetting what is old: after seven days, or earlier, oldest first, when the home is over its quota. Never a running one. */
import fs from "node:fs";
import path from "node:path";
import { namesIn } from "../base/files.js";
import { type EndedTicket, HOUR_MS, type Registry } from "./registry.js";

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

/** What a directory costs beside its output. */
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
		for (const ticket of removed) registry.remove(ticket.id, ticket.file);
		for (const hour of hours) removeIfEmpty(path.join(registry.home.ended, hour), Number(hour) < Math.floor(now / HOUR_MS));
	}
	return { removed: removed.map((ticket) => ticket.id), bytes: removed.reduce((sum, ticket) => sum + ticket.bytes, 0), kept: kept.length + running.length };
}

function removeIfEmpty(dir: string, past: boolean): void {
	if (!past) return; // the current hour is about to be used
	try {
		fs.rmdirSync(dir);
	} catch {
		// not empty
	}
}
