/** Ids of events: which home, when, and which event of which watcher, so that one can be gone on from exactly, or else by its time. */
import { createHash } from "node:crypto";
import { HoldfastError, type Home } from "../base/index.js";

export interface EventId {
	/** Milliseconds. All that this home had on disk a moment before has been told. */
	readonly time: number;
	/** The watcher that told the event; "disk" for an event that was read back. */
	readonly epoch: string;
	readonly number: number;
}

const PATTERN = /^([0-9a-f]{8})-([0-9a-z]{1,10})-([0-9a-z]{1,8})-([0-9a-z]{1,10})$/;

const homeTag = (home: Home): string => createHash("sha256").update(home.root).digest("hex").slice(0, 8);

export const idText = (home: Home, { time, epoch, number }: EventId): string =>
	`${homeTag(home)}-${Math.max(0, Math.floor(time)).toString(36)}-${epoch}-${number.toString(36)}`;

/** Throws INVALID if it is no id of an event of this home. */
export function parseId(home: Home, text: unknown): EventId {
	const [, tag, time = "", epoch = "", number = ""] = (typeof text === "string" && PATTERN.exec(text)) || [];
	if (tag === undefined)
		throw new HoldfastError("INVALID", "events: `after` is not the id of an event; give the `id` of the last one that you had, or leave it out");
	if (tag !== homeTag(home))
		throw new HoldfastError(
			"INVALID",
			`events: \`after\` is the id of an event of another home, not of ${home.root}; leave it out to begin with what happens now`,
		);
	return { time: Number.parseInt(time, 36), epoch, number: Number.parseInt(number, 36) };
}
