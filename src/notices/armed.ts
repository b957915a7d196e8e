/**
 * The wishes of a task about a process, and up to where they have been told: the file `armed.ID` in the directory of its task. It is there
 * from before the start until there is nothing more to tell, so the next owner of the task's notices continues where the last one stopped.
 */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { ensureDir, errno, fromSystem, HoldfastError, isId, namesIn, readIfThere, unlinkIfThere, writeWhole } from "../base/index.js";
import { limitSchema } from "./limits.js";

const offset = z.lazy(() => z.number().int().min(0));

const armedSchema = z.lazy(() =>
	z.object({
		v: z.literal(1),
		id: z.string().refine(isId),
		task: z.string(),
		notify: z.boolean(),
		/** Seconds; null: no reports. */
		interval: z.number().int().min(1).nullable(),
		patterns: z.array(z.string().min(1)),
		/** Up to where lines have been searched. `midline`: the line there has been reported already, though it goes on. */
		search: z.object({ offset, midline: z.boolean(), missed: offset }),
		limit: limitSchema,
		/** When progress was last reported, and up to where. */
		progress: z.object({ at: z.number(), offset }),
	}),
);
export type Armed = Readonly<z.infer<typeof armedSchema>>;

const PREFIX = "armed.";
const fileOf = (dir: string, id: string): string => path.join(dir, PREFIX + id);

/** The processes of a task for which notices are wanted. */
export const armedIn = (dir: string): string[] =>
	namesIn(dir)
		.filter((name) => name.startsWith(PREFIX))
		.map((name) => name.slice(PREFIX.length))
		.filter(isId);

export const isArmed = (dir: string, id: string): boolean => fs.existsSync(fileOf(dir, id));

export function arm(dir: string, armed: Armed): void {
	const write = () => {
		ensureDir(dir);
		writeWhole(fileOf(dir, armed.id), JSON.stringify(armed), { fresh: true });
	};
	try {
		try {
			write();
		} catch (error) {
			if (errno(error) !== "ENOENT") throw error;
			write(); // it had been empty, and was just being tidied away
		}
	} catch (error) {
		if (errno(error) === "EEXIST") throw new HoldfastError("INVALID", `notices about ${armed.id} have been asked for before; that cannot be changed`);
		throw fromSystem(error, "cannot note what is to be reported");
	}
	stir(dir);
}

/** Tells watchers of the directory of all tasks that the directory of this one has something: a change of its attributes is an event for them. */
export function stir(dir: string): void {
	try {
		const now = new Date();
		fs.utimesSync(dir, now, now);
	} catch {
		// a disk that cannot be written to, or it was just tidied away
	}
}

/** Returns undefined if it is gone. A file that cannot be read as one is put aside. */
export function readArmed(dir: string, id: string): Armed | undefined {
	const text = readIfThere(fileOf(dir, id));
	return text === undefined ? undefined : parseOrPutAside(armedSchema, text, fileOf(dir, id));
}

export const saveArmed = (dir: string, armed: Armed): void => writeWhole(fileOf(dir, armed.id), JSON.stringify(armed));

export const disarm = (dir: string, id: string): void => unlinkIfThere(fileOf(dir, id));

/** The content of one of our files; undefined when it is none, and then it is `broken.NAME` from now on. */
export function parseOrPutAside<T extends z.ZodType>(schema: T, text: string, file: string): z.infer<T> | undefined {
	try {
		return schema.parse(JSON.parse(text));
	} catch {
		try {
			fs.renameSync(file, path.join(path.dirname(file), `broken.${path.basename(file)}`));
		} catch (error) {
			if (errno(error) !== "ENOENT") throw error; // another has just put it aside
		}
		return undefined;
	}
}
