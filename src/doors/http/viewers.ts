/** Links for one who may only look at one terminal: a file each in the home, by a digest of the link's secret. To remove it is to withdraw the link. */
import { createHash, randomBytes } from "node:crypto";
import path from "node:path";
import * as z from "zod";
import { HoldfastError } from "../../base/errors.js";
import { ensureDir, namesIn, readIfThere, unlinkIfThere, writeWhole } from "../../base/files.js";
import type { Home } from "../../base/home.js";
import type { Viewer } from "./schemas.js";

const MOST = 1_000;
export const VIEWER_SECRET = /^view_[\w-]{32}$/;

const storedSchema = z.object({ session_id: z.string(), created: z.number(), expires: z.number() });

export class Viewers {
	readonly #dir: string;

	constructor(home: Home) {
		this.#dir = path.join(home.root, "viewers");
	}

	create(session_id: string, seconds: number, now = Date.now()): { viewer: Viewer; secret: string } {
		const there = this.list(now);
		if (there.length >= MOST) throw new HoldfastError("LIMIT", `there are ${MOST} links already; withdraw some`);
		const secret = `view_${randomBytes(24).toString("base64url")}`;
		const id = idOf(secret);
		ensureDir(this.#dir);
		const stored = { session_id, created: now, expires: now + seconds * 1000 };
		writeWhole(path.join(this.#dir, id), JSON.stringify(stored));
		return { viewer: shown(id, stored), secret };
	}

	/** Looked up for every request, so a link that was withdrawn is of no use from then on. */
	find(secret: string, now = Date.now()): Viewer | undefined {
		return VIEWER_SECRET.test(secret) ? this.#read(idOf(secret), now) : undefined;
	}

	isValid(id: string, now = Date.now()): boolean {
		return this.#read(id, now) !== undefined;
	}

	list(now = Date.now()): Viewer[] {
		return namesIn(this.#dir)
			.map((id) => this.#read(id, now))
			.filter((viewer) => viewer !== undefined)
			.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
	}

	remove(id: string): void {
		if (!/^[0-9a-f]{16}$/.test(id) || !this.isValid(id)) throw new HoldfastError("NOT_FOUND", "there is no such link (any more)");
		unlinkIfThere(path.join(this.#dir, id));
	}

	#read(id: string, now: number): Viewer | undefined {
		const file = path.join(this.#dir, id);
		try {
			const stored = storedSchema.parse(JSON.parse(readIfThere(file) ?? ""));
			if (stored.expires > now) return shown(id, stored);
			unlinkIfThere(file);
		} catch {
			// none, or not one of ours
		}
		return undefined;
	}
}

const idOf = (secret: string): string => createHash("sha256").update(secret).digest("hex").slice(0, 16);

const shown = (id: string, { session_id, created, expires }: z.infer<typeof storedSchema>): Viewer => ({
	id,
	session_id,
	created_at: new Date(created).toISOString(),
	expires_at: new Date(expires).toISOString(),
});
