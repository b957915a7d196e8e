/** The lines of a conversation as some program appends them: for the page, and for a second program that shows it. */
import { AgentError, type AgentHome, conversationFile, watchFile } from "../base/index.js";
import type { Entry } from "./entry.js";
import { Log } from "./log.js";

export interface FollowOptions {
	/** The first line that is wanted; default 0. */
	readonly from?: number;
	readonly signal?: AbortSignal;
}

/** Yields each line once, in order, and then waits for the next; ends when `signal` aborts. A line that is still being written is not seen. */
export async function* follow(home: AgentHome, id: string, options: FollowOptions = {}): AsyncGenerator<Entry, void> {
	const { signal } = options;
	let wake = () => {};
	let poked = false;
	const poke = () => {
		poked = true;
		wake();
	};
	const unwatch = watchFile(conversationFile(home, id), poke); // before the first look, or a line between the two would be missed
	signal?.addEventListener("abort", poke);
	try {
		let log = Log.read(home, id);
		for (let next = options.from ?? 0; !signal?.aborted; ) {
			for (const entry of log.entries.slice(next)) {
				yield entry;
				next = entry.n + 1;
				if (signal?.aborted) return;
			}
			if (!poked) await new Promise<void>((resolve) => (wake = resolve));
			poked = false;
			log = look(home, log);
		}
	} finally {
		signal?.removeEventListener("abort", poke);
		unwatch();
	}
}

/** A line whose sync failed is taken back by its writer: then the file is shorter than what was read, and is read anew. */
function look(home: AgentHome, log: Log): Log {
	try {
		log.refresh();
		return log;
	} catch (error) {
		if (error instanceof AgentError && error.code === "BROKEN") return Log.read(home, log.id);
		throw error;
	}
}
