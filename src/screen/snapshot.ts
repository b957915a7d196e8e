/** `screen.json` in a process directory: a screen at one offset of the log, so that the log before it need not be replayed. */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { readIfThere } from "../base/index.js";

const schema = z.object({
	v: z.literal(1),
	offset: z.number().int().min(0),
	/** How many of the sizes in `times` it includes: more may be recorded for the same offset later. */
	resized: z.number().int().min(0),
	cols: z.number().int().min(1).max(10_000),
	rows: z.number().int().min(1).max(10_000),
	/** Text that brings a fresh terminal of that size to the state at `offset`. */
	state: z.string(),
	/** The modes included in `state`, for people. */
	modes: z.record(z.string(), z.union([z.boolean(), z.string()])),
	title: z.string(),
});

export type Snapshot = z.infer<typeof schema>;

const fileOf = (dir: string): string => path.join(dir, "screen.json");

/** Returns undefined if there is no usable snapshot: it only saves time, so nothing depends on it. */
export function loadSnapshot(dir: string): Snapshot | undefined {
	try {
		return schema.parse(JSON.parse(readIfThere(fileOf(dir)) ?? ""));
	} catch {
		return undefined;
	}
}

/** Saves a snapshot atomically, since other programs may be reading it. */
export function saveSnapshot(dir: string, snapshot: Snapshot): void {
	const temp = `${fileOf(dir)}.${randomBytes(4).toString("hex")}`;
	try {
		fs.writeFileSync(temp, JSON.stringify(snapshot), { mode: 0o600 });
		fs.renameSync(temp, fileOf(dir));
	} catch {
		// the disk is full, or the directory was pruned meanwhile: the next reader replays, with the same screen
		fs.rmSync(temp, { force: true });
	}
}
