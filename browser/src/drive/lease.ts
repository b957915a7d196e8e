/** Who drives the browser of a task: a person who has taken over, for as long as their page says so. A file in the home, so that every program sees it. */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

export interface BrowserLease {
	/** Of the page of the person: only who has it may renew or end it. */
	readonly key: string;
	readonly by: string;
	/** Milliseconds since 1970. */
	readonly until: number;
}

export const LEASE_MS = 20_000;

const fileOf = (home: string, task: string): string =>
	path.join(home, "browser-leases", `${createHash("sha256").update(task).digest("hex").slice(0, 24)}.json`);

/** Returns the lease that holds now. */
export function readLease(home: string, task: string): BrowserLease | undefined {
	try {
		const { key, by, until } = JSON.parse(fs.readFileSync(fileOf(home, task), "utf8")) as Record<string, unknown>;
		if (typeof key === "string" && typeof by === "string" && typeof until === "number" && until > Date.now()) return { key, by, until };
	} catch {
		// none, or half of one that another program is writing
	}
	return undefined;
}

/** Takes the lease, or renews it with its key. Returns undefined if another page has it. */
export function takeLease(home: string, task: string, by: string, key = randomBytes(12).toString("hex")): BrowserLease | undefined {
	const held = readLease(home, task);
	if (held && held.key !== key) return undefined;
	const lease = { key, by, until: Date.now() + LEASE_MS };
	const file = fileOf(home, task);
	fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
	fs.writeFileSync(`${file}.${key}`, JSON.stringify(lease), { mode: 0o600 });
	fs.renameSync(`${file}.${key}`, file);
	return lease;
}

export function dropLease(home: string, task: string, key: string): void {
	if (readLease(home, task)?.key === key) fs.rmSync(fileOf(home, task), { force: true });
}
