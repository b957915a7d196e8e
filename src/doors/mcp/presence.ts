/** Whether the client of a task is connected: its server holds a lease as long as it lives. Beside it is what the client said of itself. */
import path from "node:path";
import * as z from "zod";
import { ensureDir, type Home, Lease, namesIn, readIfThere, taskKey, unlinkIfThere, writeWhole } from "../../base/index.js";
import type { ClientInfo } from "./client.js";

const dirOf = (home: Home): string => path.join(home.root, "mcp");
const leaseOf = (home: Home, task: string): string => path.join(dirOf(home), taskKey(task));
const aboutOf = (home: Home, task: string): string => `${leaseOf(home, task)}.client`;

/** After so long without a request a client over HTTP is gone; the older protocol ends its session then. */
export const HTTP_IDLE_MS = 24 * 3_600_000;
/** A client over HTTP that has nothing open counts as connected for so long. */
const QUIET_MS = 60_000;
const KEPT_MS = 7 * 24 * 3_600_000;

export interface Presence {
	/** `silent`: over HTTP, with nothing open; it may come back at any time. */
	readonly state: "connected" | "silent" | "gone";
	/** When its server was last alive; over HTTP, when something was last heard of it, or its session ended. */
	readonly seenAt: number;
	/** The client's description of itself when it last connected. */
	readonly client: ClientInfo;
}

/** Takes the lease of a task for its client; undefined while another server has it. One over HTTP is renewed by its taker, when something is heard of the client. */
export function present(home: Home, task: string, client: ClientInfo & { readonly http?: true }): Lease | undefined {
	ensureDir(dirOf(home));
	const lease = Lease.take(leaseOf(home, task), client.http ? { freshMs: HTTP_IDLE_MS } : {});
	if (lease) writeWhole(aboutOf(home, task), JSON.stringify(client));
	return lease;
}

/** Forgets clients that are gone for as long as logs are kept. Each session over HTTP has a task of its own, so they would become many. */
export function prunePresence(home: Home, now = Date.now()): void {
	for (const name of namesIn(dirOf(home))) {
		const key = name.endsWith(".client") ? name.slice(0, -".client".length) : undefined;
		const lease = key === undefined ? undefined : path.join(dirOf(home), key);
		if (lease === undefined || now - (Lease.lastSign(lease) ?? 0) < KEPT_MS || !Lease.isAbandoned(lease, HTTP_IDLE_MS)) continue;
		for (const file of namesIn(dirOf(home))) if (file === key || file.startsWith(`${key}.`)) unlinkIfThere(path.join(dirOf(home), file));
	}
}

/** No server has the task. */
export const isFree = (home: Home, task: string): boolean => Lease.isFree(leaseOf(home, task));

/** Undefined: it is no task of a client. */
export function clientOf(home: Home, task: string): Presence | undefined {
	const key = taskKey(task);
	if (!namesIn(dirOf(home)).some((name) => name === key || name.startsWith(`${key}.`))) return undefined;
	const { http, ...client } = readAbout(home, task);
	const seenAt = Lease.lastSign(leaseOf(home, task)) ?? 0;
	const isGone = Lease.isAbandoned(leaseOf(home, task), http ? HTTP_IDLE_MS : undefined);
	return { state: isGone ? "gone" : http && Date.now() - seenAt > QUIET_MS ? "silent" : "connected", seenAt, client };
}

/** The client of a task as lists show it. */
export interface ClientFields {
	/** Null: of none, or it cannot be told. */
	readonly client: Presence["state"] | null;
	/** Its name for itself; null if it gave none, or if an earlier version of Holdfast served it. */
	readonly client_name: string | null;
	readonly client_version: string | null;
	/** When a client that is silent was last heard. */
	readonly silent_since: string | null;
	/** When a client that is gone, or its server, was last alive. */
	readonly gone_since: string | null;
}

export function clientFields(home: Home, task: string): ClientFields {
	const found = clientOf(home, task);
	const since = (state: Presence["state"]) => (found?.state === state ? new Date(found.seenAt).toISOString() : null);
	return {
		client: found?.state ?? null,
		client_name: found?.client.name ?? null,
		client_version: found?.client.version ?? null,
		silent_since: since("silent"),
		gone_since: since("gone"),
	};
}

const aboutSchema = z.object({ name: z.string().optional(), version: z.string().optional(), http: z.literal(true).optional() });

/** Empty of one that an earlier version has served. */
function readAbout(home: Home, task: string): ClientInfo & { readonly http?: true } {
	try {
		const { name, version, http } = aboutSchema.parse(JSON.parse(readIfThere(aboutOf(home, task)) ?? "{}"));
		return { ...(name === undefined ? {} : { name }), ...(version === undefined ? {} : { version }), ...(http ? { http } : {}) };
	} catch {
		return {}; // not something that we write
	}
}
