/** The servers of a home: one file `serve/WHO.json` for each running `holdfast serve`. */
import fs from "node:fs";
import path from "node:path";
import { ensureDir, here, isGone, me, namesIn, readIfThere, unlinkIfThere, writeWhole } from "../base/index.js";

interface ServerRecord {
	readonly origin: string;
	/** URLs for browsers, the best for links first. Missing in records of older versions. */
	readonly urls?: readonly string[];
	/** URLs under which previews get their names, besides `localhost`. */
	readonly preview_urls?: readonly string[];
	readonly token_file: string;
}

/** Records this program as a server of the home. Returns a function that removes the record. */
export function recordServer(root: string, about: ServerRecord): () => void {
	const dir = path.join(root, "serve");
	ensureDir(dir);
	for (const { file, who } of recordsIn(dir)) if (isGone(who, file)) unlinkIfThere(file);
	const file = path.join(dir, `${me()}.json`);
	writeWhole(file, JSON.stringify(about));
	return () => unlinkIfThere(file);
}

/** Returns the newest live server on this machine. */
export function runningServer(root: string): ServerRecord | undefined {
	const alive = recordsIn(path.join(root, "serve")).filter(({ file, who }) => who.startsWith(`${here()}.`) && !isGone(who, file));
	const since = ({ file }: { file: string }) => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
	const text = alive
		.sort((a, b) => since(b) - since(a))
		.map(({ file }) => readIfThere(file))
		.find((text) => text !== undefined);
	return text === undefined ? undefined : (JSON.parse(text) as ServerRecord);
}

/** Returns the URLs for browsers; the first is for links that are shared. */
export const urlsOf = ({ urls, origin }: ServerRecord): readonly string[] => (urls && urls.length > 0 ? urls : [origin]);

const recordsIn = (dir: string): { file: string; who: string }[] =>
	namesIn(dir)
		.filter((name) => /^\w.*\.json$/.test(name)) // skips files that are still being written
		.map((name) => ({ file: path.join(dir, name), who: name.slice(0, -".json".length) }));
