/** `places/KEY.json` in the home: the remote places that processes run in, so that any program can reach them. */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { ensureDir, HoldfastError, type Home, namesIn, readIfThere, statIfThere, writeWhole } from "../base/index.js";
import { isPlaceKey, isRemote, type PlaceWish, placeKey } from "./address.js";
import { kindNamed } from "./kinds.js";

type Root = Pick<Home, "root">;

export interface Remembered {
	readonly key: string;
	readonly wish: PlaceWish;
	/** The task that owns the container; for a shared machine, the first task. */
	readonly task: string;
}

const rememberedSchema = z.lazy(() =>
	z.object({
		v: z.literal(1),
		task: z.string().min(1),
		wish: z.object({ kind: z.string(), name: z.string(), options: z.record(z.string(), z.unknown()), user: z.string().exactOptional() }),
	}),
);

/** Records a place before its first process. Returns its key; a local place needs no record. */
export function rememberPlace(home: Root, wish: PlaceWish, task: string): string {
	const key = placeKey(wish, task);
	if (!isRemote(wish)) return key;
	const { user, ...machine } = wish;
	if (user !== undefined) rememberPlace(home, machine, task); // facts about its life are kept under the machine's own key
	const text = `${JSON.stringify({ v: 1, task, wish })}\n`;
	const file = fileOf(home, key);
	if (mark(file) && readIfThere(file) === text) return key;
	ensureDir(path.dirname(file));
	writeWhole(file, text);
	return key;
}

/** Marks a record as used: unused ones are forgotten (forget.ts). Returns false if it does not exist. */
function mark(file: string): boolean {
	const now = Date.now();
	const then = statIfThere(file)?.mtimeMs;
	if (then !== undefined && now - then < MARK_MS) return true;
	try {
		fs.utimesSync(file, now / 1000, now / 1000);
		return true;
	} catch {
		return false; // missing; or a full disk, which the writer reports
	}
}

const MARK_MS = 3_600_000;

export const isRemembered = (home: Root, key: string): boolean => fs.existsSync(fileOf(home, key));

/** Returns undefined if there is no such record. Throws, naming the file, if it cannot be read. */
export function recallPlace(home: Root, key: string): Remembered | undefined {
	if (!isPlaceKey(key)) throw new HoldfastError("INVALID", `${JSON.stringify(key.slice(0, 100))} is not the key of a place`);
	const text = readIfThere(fileOf(home, key));
	if (text === undefined) return undefined;
	try {
		const { task, wish } = rememberedSchema.parse(JSON.parse(text));
		kindNamed(wish.kind).settings(wish.options); // throws if it was damaged, or written by a newer version
		return { key, task, wish };
	} catch (error) {
		throw new HoldfastError("INTERNAL", `${fileOf(home, key)} cannot be read, so what runs there cannot be reached; move it away`, { cause: error });
	}
}

/** Returns the places of one task, or of all. One whose file cannot be read is left out: no program can reach it. */
export function rememberedPlaces(home: Root, task?: string): Remembered[] {
	const found: Remembered[] = [];
	for (const name of namesIn(path.join(home.root, "places"))) {
		const key = name.replace(/\.json$/, "");
		if (key === name || !isPlaceKey(key)) continue;
		try {
			const one = recallPlace(home, key);
			if (one && (task === undefined || one.task === task)) found.push(one);
		} catch {
			// not for `doctor`; the caller that needs this place gets the error
		}
	}
	return found;
}

const fileOf = (home: Root, key: string): string => path.join(home.root, "places", `${key}.json`);
