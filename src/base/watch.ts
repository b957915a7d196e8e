/**
 * Be told when something in a directory changes. All watches of a runtime share one inotify instance (Node has one per
 * event loop; a user may have only 128). Where inotify is not to be had, or gives no events, it looks every POLL_MS.
 */
import fs from "node:fs";
import path from "node:path";

export type WatchMode = "inotify" | "poll";

const POLL_MS = 50;

/** Watches directories of one home, in the way that its file system allows. */
export class DirectoryWatch {
	#mode: WatchMode = process.env.HOLDFAST_WATCH === "poll" ? "poll" : "inotify";

	get mode(): WatchMode {
		return this.#mode;
	}

	/** Calls `changed` with a file name, or null when it cannot tell which. Returns a function that ends the watch. */
	directory(dir: string, changed: (name: string | null) => void): () => void {
		if (this.#mode === "inotify") {
			try {
				const watcher = fs.watch(dir, { persistent: true }, (_event, name) => changed(name));
				watcher.on("error", () => changed(null)); // the directory is gone; the listener finds out what that means
				return () => watcher.close();
			} catch {
				// ENOSPC, EMFILE: no watches left for this user. ENOENT: it is gone, which a look will find out
			}
		}
		const timer = setInterval(() => changed(null), POLL_MS);
		return () => clearInterval(timer);
	}

	/** The same for one file that is only ever overwritten in place, so that the others in its directory cost nothing. */
	file(file: string, changed: () => void): () => void {
		return this.directory(file, changed);
	}

	/** Finds out whether the file system of the home delivers events. Some network and FUSE file systems do not; then everything in the home is polled. */
	async probe(dir: string): Promise<void> {
		if (this.#mode === "inotify") this.#mode = await deliversEvents(dir);
	}
}

function deliversEvents(dir: string): Promise<WatchMode> {
	const file = path.join(dir, `.probe-${process.pid}`);
	return new Promise<WatchMode>((resolve) => {
		let watcher: fs.FSWatcher;
		const timer = setTimeout(() => done("poll"), 500);
		const done = (found: WatchMode) => {
			clearTimeout(timer);
			watcher?.close();
			fs.rmSync(file, { force: true });
			resolve(found);
		};
		try {
			watcher = fs.watch(dir, (_event, name) => {
				if (name === path.basename(file)) done("inotify");
			});
			fs.writeFileSync(file, "", { mode: 0o600 });
		} catch {
			done("poll"); // no watches left
		}
	});
}

/** Something to await between two looks: resolves when poked, at the deadline, or when `signal` aborts. */
export class Wakeup {
	#wake: (() => void) | undefined;
	#poked = false;
	/** Something other than output has changed, or may have, since this was last set to false. */
	more = true;

	readonly poke = (name?: string | null): void => {
		this.#poked = true;
		if (!name?.startsWith("out.") && name !== "times") this.more = true;
		this.#wake?.();
	};

	/** Not an async function, and woken where it is poked: each turn of the microtask queue would be on the way of every key's echo. */
	next(ms: number | undefined, signal?: AbortSignal): Promise<void> {
		return new Promise((resolve) => {
			const wake = () => {
				clearTimeout(timer);
				signal?.removeEventListener("abort", stop);
				this.#wake = undefined;
				this.#poked = false;
				resolve();
			};
			const stop = () => {
				this.more = true;
				wake();
			};
			let timer: NodeJS.Timeout | undefined;
			if (this.#poked || signal?.aborted) return wake();
			this.#wake = wake;
			if (ms !== undefined) timer = setTimeout(stop, Math.max(0, Math.min(ms, 2 ** 31 - 1)));
			signal?.addEventListener("abort", stop, { once: true });
		});
	}
}
