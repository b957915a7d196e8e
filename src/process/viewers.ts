/**
 * Links to one terminal: one file each in the home, named after a digest of the link's secret. Removing the file withdraws the link. A read-only link
 * lets any number of viewers watch. A keyboard link lets one browser type, for a limited time: the browser that opens it first gets a secret of its
 * own (`ID.hand`, created once, holds the digest), and the link cannot be opened again. Handing back the keyboard also ends the right to type.
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
/** The browser that has opened a keyboard link. `over`: the keyboard was handed back. */
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

	/**
	 * Returns the link for a secret. Called for every request, so withdrawing a link takes effect at once. A keyboard link is valid only for the browser
	 * that opened it.
	 */
	find(secret: string, now = Date.now()): Viewer | undefined {
		const id = HAND_SECRET.exec(secret)?.[1];
		if (id !== undefined) return this.#hand(id)?.digest === digestOf(secret) ? this.#read(id, now) : undefined;
		return secret.startsWith("view_") && VIEWER_SECRET.test(secret) ? this.#read(digestOf(secret), now) : undefined;
	}

	/** Opens a keyboard link, once. Throws if it has expired, was withdrawn or was opened before. */
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

	/** Returns true if the browser that has opened a keyboard link may (still) type. */
	mayType(id: string, now = Date.now()): boolean {
		return this.#read(id, now)?.keyboard === true && this.#hand(id)?.over !== true;
	}

	/** Records that the keyboard was handed back: from now on the link is read-only. */
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
			// missing, or a foreign file
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

	/** Removes a link. Its main file goes first: the rest opens nothing. */
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
