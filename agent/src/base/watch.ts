/** Calls `changed` when something happens to a file of a directory, and now and then in any case: some file systems tell nothing. Returns a function that ends it. */
import fs from "node:fs";
import path from "node:path";

const LOOK_MS = 1_000;
const BLIND_MS = 100; // where nothing is told, because no watch is left for this user

export function watchFile(file: string, changed: () => void): () => void {
	let watcher: fs.FSWatcher | undefined;
	const name = path.basename(file);
	try {
		watcher = fs.watch(path.dirname(file), (_event, which) => {
			if (which === null || which === name) changed();
		});
		watcher.on("error", changed); // the directory is gone; the caller's next look says so
	} catch {
		watcher = undefined; // ENOSPC, EMFILE: the timer below is all there is
	}
	const timer = setInterval(changed, watcher ? LOOK_MS : BLIND_MS);
	if (watcher) timer.unref(); // the watcher keeps the program running; without one this has to
	return () => {
		watcher?.close();
		clearInterval(timer);
	};
}
