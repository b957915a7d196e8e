/**
 * Links to one terminal: a file each in the home, by a digest of the link's secret. To remove it is to withdraw the link.
 * A read-only link lets any number of viewers look. A keyboard link lets one browser type, for a limited time: the browser that opens it first gets a secret of its
 * own for it (`ID.hand`, made once, holds its digest), and the link is of no use any more. Handing the keyboard back ends that, too.
 */
import { createHash, randomBytes } from "node:crypto";
import path from "node:path";
import * as z from "zod";
import { ensureDir, errno, HoldfastError, type Home, namesIn, readIfThere, unlinkIfThere, writeWhole } from "../base/index.js";

const MOST = 1_000;
export const VIEWER_SECRET = /^(?:view|keys|hand)_[\w-]{32,60}$/;
const HAND_SECRET = /^hand_([0-9a-f]{16})[\w-]{32}$/;
const ID = /^[0-9a-f]{16}$/;

const storedSchema = z.lazy(() => z.object({ session_id: z.string(), created: z.number(), expires: z.number(), keyboard: z.boolean().optional() }));
/** Who has opened a keyboard link. `over`: the keyboard was handed back. */
const handSchema = z.lazy(() => z.object({ digest: z.string(), at: z.number(), over: z.boolean().optional() }));

/** A link to one terminal. */
export interface Viewer {
	readonly id: string;
	readonly session_id: string;
	readonly created_at: string;
	readonly expires_at: string;
	/** The link may take the keyboard, once. */
	readonly keyboard: boolean;
}

export class Viewers {
	readonly #dir: string;

	constructor(home: Home) {
		this.#dir = path.join(home.root, "viewers");
	}

	create(session_id: string, seconds: number, { keyboard = false, now = Date.now() } = {}): { viewer: Viewer; secret: string } {
		const there = this.list(now);
		if (there.length >= MOST) throw new HoldfastError("LIMIT", `there are ${MOST} links already; withdraw some`);
		const secret = `${keyboard ? "keys" : "view"}_${randomBytes(24).toString("base64url")}`;
		const id = digestOf(secret);
		ensureDir(this.#dir);
		const stored = { session_id, created: now, expires: now + seconds * 1000, ...(keyboard ? { keyboard } : {}) };
		writeWhole(this.#file(id), JSON.stringify(stored));
		return { viewer: shown(id, stored), secret };
	}

	/** Looked up for every request, so a link that was withdrawn is of no use from then on. Of a keyboard link only the browser that opened it is known. */
	find(secret: string, now = Date.now()): Viewer | undefined {
		const id = HAND_SECRET.exec(secret)?.[1];
		if (id !== undefined) return this.#hand(id)?.digest === digestOf(secret) ? this.#read(id, now) : undefined;
		return secret.startsWith("view_") && VIEWER_SECRET.test(secret) ? this.#read(digestOf(secret), now) : undefined;
	}

	/** Opens a keyboard link, once. Throws in words if that cannot be. */
	open(secret: string, now = Date.now()): { viewer: Viewer; secret: string } {
		const id = digestOf(secret);
		const viewer = secret.startsWith("keys_") ? this.#read(id, now) : undefined;
		if (!viewer) throw new HoldfastError("NOT_FOUND", "this link has expired or was withdrawn; ask for a new one");
		const hand = `hand_${id}${randomBytes(24).toString("base64url")}`;
		try {
			writeWhole(this.#handFile(id), JSON.stringify({ digest: digestOf(hand), at: now }), { fresh: true });
		} catch (error) {
			if (errno(error) !== "EEXIST") throw error;
			const at = this.#hand(id)?.at;
			throw new HoldfastError(
				"FORBIDDEN",
				`this link works once, in one browser, and was opened before${at === undefined ? "" : ` (${new Date(at).toISOString()})`}; ask for a new one`,
			);
		}
		return { viewer, secret: hand };
	}

	/** Whether a browser that has opened a keyboard link may (still) type. */
	mayType(id: string, now = Date.now()): boolean {
		return this.#read(id, now)?.keyboard === true && this.#hand(id)?.over !== true;
	}

	/** The keyboard was handed back: from now on this is a read-only link. */
	handedBack(id: string): void {
		const hand = this.#hand(id);
		if (hand) writeWhole(this.#handFile(id), JSON.stringify({ ...hand, over: true }));
	}

	isValid(id: string, now = Date.now()): boolean {
		return this.#read(id, now) !== undefined;
	}

	list(now = Date.now()): Viewer[] {
		return namesIn(this.#dir)
			.filter((name) => ID.test(name))
			.map((id) => this.#read(id, now))
			.filter((viewer) => viewer !== undefined)
			.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
	}

	remove(id: string): void {
		if (typeof id !== "string" || !ID.test(id) || !this.isValid(id)) throw new HoldfastError("NOT_FOUND", "there is no such link (any more)");
		this.#forget(id);
	}

	#read(id: string, now: number): Viewer | undefined {
		try {
			const stored = storedSchema.parse(JSON.parse(readIfThere(this.#file(id)) ?? ""));
			if (stored.expires > now) return shown(id, stored);
			this.#forget(id);
		} catch {
			// none, or not one of ours
		}
		return undefined;
	}

	#hand(id: string): z.infer<typeof handSchema> | undefined {
		try {
			return handSchema.parse(JSON.parse(readIfThere(this.#handFile(id)) ?? ""));
		} catch {
			return undefined; // no browser has opened it
		}
	}

	/** The link first: what is left of it then opens nothing. */
	#forget(id: string): void {
		unlinkIfThere(this.#file(id));
		unlinkIfThere(this.#handFile(id));
	}

	#file(id: string): string {
		return path.join(this.#dir, id);
	}

	#handFile(id: string): string {
		return path.join(this.#dir, `${id}.hand`);
	}
}

const digestOf = (secret: string): string => createHash("sha256").update(secret).digest("hex").slice(0, 16);

const shown = (id: string, { session_id, created, expires, keyboard = false }: z.infer<typeof storedSchema>): Viewer => ({
	id,
	session_id,
	created_at: new Date(created).toISOString(),
	expires_at: new Date(expires).toISOString(),
	keyboard,
});
