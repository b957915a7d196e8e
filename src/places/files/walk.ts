/** Lists the content of a folder as a tree. */
import path from "node:path";
import { type Entry, type Files, stopIf, type Tree } from "./interface.js";
import { isTemporary } from "./temporary.js";

/** Builds a tree. `entries`: names relative to the folder, a directory before its content. */
export async function treeOf(entries: Iterable<Entry>, readLinks: (names: string[]) => Promise<string[]>): Promise<Tree> {
	const tree: Tree = { directories: [], files: [], links: [], skipped: [] };
	const links: string[] = [];
	const left: string[] = [];
	for (const { name, kind, size, mode } of entries) {
		if (left.some((above) => name.startsWith(above))) continue;
		if (!isBelow(name)) {
			tree.skipped.push({ name, why: "not a name in the folder" });
			continue;
		}
		if (isTemporary(path.posix.basename(name)) || name.includes("\ufffd")) {
			if (name.includes("\ufffd")) tree.skipped.push({ name, why: "its name is not UTF-8" });
			left.push(`${name}/`);
		} else if (kind === "directory") tree.directories.push({ name, size: 0, mode });
		else if (kind === "file") tree.files.push({ name, size, mode });
		else if (kind === "link") links.push(name);
		else tree.skipped.push({ name, why: "a device, a pipe or a socket" });
	}
	const targets = links.length === 0 ? [] : await readLinks(links);
	for (const [at, name] of links.entries()) tree.links.push({ name, target: targets[at] as string });
	return tree;
}

/** Guards against a malicious remote end: a copy to this machine must stay below the folder. */
const isBelow = (name: string): boolean => !name.includes("\0") && name.split("/").every((part) => part !== "" && part !== "." && part !== "..");

/** Walks directory by directory. */
export async function walk(files: Pick<Files, "list" | "readLink">, root: string, signal?: AbortSignal): Promise<Tree> {
	const found: Entry[] = [];
	const waiting = [""];
	for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
		stopIf(signal, root);
		const entries = await files.list(path.posix.join(root, dir));
		for (const entry of entries) {
			if (entry.name === "." || entry.name === "..") continue;
			const name = path.posix.join(dir, entry.name);
			found.push({ ...entry, name });
			if (entry.kind === "directory" && !name.includes("\ufffd")) waiting.push(name);
		}
	}
	found.sort((a, b) => (a.name < b.name ? -1 : 1)); // a directory before its content
	return treeOf(found, async (names) => {
		const targets: string[] = [];
		for (const name of names) targets.push(await files.readLink(path.posix.join(root, name)));
		return targets;
	});
}
