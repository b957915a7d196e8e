import path from "node:path";
import { statIfThere } from "../base/files.js";

const isDirectory = (dir: string): boolean => statIfThere(dir)?.isDirectory() ?? false;

/** The directory itself, or the nearest one above it that exists. */
export function existingParent(dir: string): string {
	let found = path.resolve(dir);
	while (found !== "/" && !isDirectory(found)) found = path.dirname(found);
	return found;
}
