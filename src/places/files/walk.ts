/** All that is in a folder. Links are not followed. */
import path from "node:path";
import { type Files, isTemporary, stopIf } from "./files.js";

export interface Found {
	/** Below the folder, with slashes. */
	readonly name: string;
	readonly size: number;
	readonly mode: number;
}

export interface Tree {
	/** A directory before what is in it. */
	readonly directories: Found[];
	readonly files: Found[];
	readonly links: { readonly name: string; readonly target: string }[];
	readonly skipped: string[];
}

export async function walk(files: Files, root: string, signal?: AbortSignal): Promise<Tree> {
	const tree: Tree = { directories: [], files: [], links: [], skipped: [] };
	const waiting = [""];
	for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
		stopIf(signal, root);
		const entries = await files.list(path.posix.join(root, dir));
		entries.sort((a, b) => (a.name < b.name ? -1 : 1));
		for (const { name: last, kind, size, mode } of entries) {
			const name = path.posix.join(dir, last);
			if (last === "." || last === ".." || isTemporary(last)) continue;
			if (last.includes("\ufffd")) tree.skipped.push(`${name} (its name is not UTF-8)`);
			else if (kind === "directory") {
				tree.directories.push({ name, size: 0, mode });
				waiting.push(name);
			} else if (kind === "file") tree.files.push({ name, size, mode });
			else if (kind === "link") tree.links.push({ name, target: await files.readLink(path.posix.join(root, name)) });
			else tree.skipped.push(`${name} (a device, a pipe or a socket)`);
		}
	}
	return tree;
}
