/** Looks at /proc where being refused is an answer like "not there": other people's processes are none of our business. */
import fs from "node:fs";

export function entries(dir: string): string[] {
	try {
		return fs.readdirSync(dir);
	} catch {
		return [];
	}
}

export function statOf(path: string): fs.Stats | undefined {
	try {
		return fs.statSync(path);
	} catch {
		return undefined;
	}
}
