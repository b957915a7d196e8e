/**
 * A module that is loaded when it is first needed, by a program that runs for long. Node never reads a module again that it once could not read, nor
 * one that imports it: a moment without descriptors would break all that needs it for good. So it is loaded only while enough of them are free.
 */
import fs from "node:fs";
import { fromSystem } from "./errors.js";

const DESCRIPTORS = 64; // modules are read side by side: 24 at once were seen

/** Returns what loads it. Rejects with NO_FILES if that cannot be done now; the next call tries again. */
export function lazy<T>(load: () => Promise<T>): () => Promise<T> {
	let loaded: Promise<T> | undefined;
	return async () => {
		if (!loaded) {
			needDescriptors();
			loaded = load();
		}
		return loaded;
	};
}

function needDescriptors(): void {
	const open: number[] = [];
	try {
		while (open.length < DESCRIPTORS) open.push(fs.openSync("/dev/null", "r"));
	} catch (error) {
		throw fromSystem(error, "loading a part of Holdfast");
	} finally {
		for (const fd of open) fs.closeSync(fd);
	}
}
