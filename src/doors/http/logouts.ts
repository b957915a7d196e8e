/** Sessions that were ended before their time: an empty file each in the home, by the name in the cookie, until the cookie would have expired anyway. */
import fs from "node:fs";
import path from "node:path";
import { ensureDir, type Home, namesIn, unlinkIfThere } from "../../base/index.js";

export class Logouts {
	readonly #dir: string;

	constructor(home: Home) {
		this.#dir = path.join(home.root, "logouts");
	}

	/** Ends a session, at every server of this home. Its name was signed by us, so it is a name for a file. */
	add(session: string, now = Date.now()): void {
		ensureDir(this.#dir);
		for (const old of namesIn(this.#dir)) if (Number.parseInt(old, 36) <= now) unlinkIfThere(path.join(this.#dir, old));
		fs.writeFileSync(path.join(this.#dir, session), "", { mode: 0o600 });
	}

	/** Looked up for every request, so a session is of no use from its end on. */
	has(session: string): boolean {
		return fs.existsSync(path.join(this.#dir, session));
	}
}
