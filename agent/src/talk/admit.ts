/**
 * The way of a message from the inbox to the log: first it is in the log, on the disk; then it leaves the inbox. A crash between the two leaves it in both, and
 * its id keeps it from being said twice.
 */
import type { Entry, EntryBody } from "./entry.js";
import type { Inbox, InboxItem } from "./inbox.js";
import type { Log } from "./log.js";

/** Moves what waits to the log, in the order it came; `which` says what of it. Returns the new lines. While a call is open nothing can be said: nothing is moved. */
export async function admit(inbox: Inbox, log: Log, which: (item: InboxItem) => boolean = () => true): Promise<Entry[]> {
	if (log.openCalls.length > 0) return [];
	const lines: Entry[] = [];
	await inbox.move(which, async (item) => {
		const known = log.hasMessage(item.id);
		const entry = await log.append(bodyOf(item));
		if (!known) lines.push(entry);
	});
	return lines;
}

function bodyOf(item: InboxItem): EntryBody {
	const { id, text } = item;
	if (item.kind === "notice") return { t: "notice", id, text };
	return { t: "user", id, text, by: item.by, ...(item.files?.length ? { files: item.files } : {}) };
}
