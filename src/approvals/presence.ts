/** Whether somebody is there to answer: programs that show approvals to a person say so with a file, and one that was killed counts no more. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { namesIn, unlinkIfThere } from "../base/files.js";
import type { Home } from "../base/home.js";
import { isGone, me } from "../base/who.js";

const PREFIX = "h.";

/** Returns what ends it. */
export function beThere(home: Home): () => void {
	const file = path.join(home.approvals, `${PREFIX}${me()}.${randomBytes(3).toString("hex")}`);
	fs.writeFileSync(file, "", { mode: 0o600 });
	return () => unlinkIfThere(file);
}

export function isSomebodyThere(home: Home): boolean {
	return namesIn(home.approvals).some((name) => {
		if (!name.startsWith(PREFIX)) return false;
		const file = path.join(home.approvals, name);
		if (!isGone(name.slice(PREFIX.length), file)) return true;
		unlinkIfThere(file);
		return false;
	});
}
