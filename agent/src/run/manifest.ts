/** A run on disk, as it was begun: settings in `run.json`, items in `items.jsonl`. Neither changes afterwards, so the data may. */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { AgentError, Claim, ensureDir, errno, fromSystem, readLines, writeWhole } from "../base/index.js";
import { loadTasks, type TaskItem } from "../tasks/index.js";
import type { RunPlace } from "./places.js";

const placeSchema = z.custom<RunPlace>((value) => z.union([z.string(), z.looseObject({ kind: z.string() })]).safeParse(value).success);

const manifestSchema = z.strictObject({
	v: z.literal(1),
	id: z.string(),
	created_at: z.string(),
	source: z.string(),
	/** The actor: `model`, `oracle`, `nop`, or a command of the place. */
	agent: z.string().default("model"),
	endpoint: z.string(),
	model: z.string(),
	/** The place of episodes; the first of a pool. */
	place: placeSchema,
	/** Several places, or one with slots. */
	pool: z
		.array(z.strictObject({ place: placeSchema, slots: z.number().int().min(1).optional() }))
		.min(1)
		.optional(),
	/** Episodes at a time, until a person sets another number. */
	concurrency: z.number().int().min(1).default(4),
	toolsets: z.array(z.string()),
	steps: z.number().int(),
	/** The time of an episode. */
	seconds: z.number(),
	repeats: z.number().int(),
});
export type RunManifest = z.infer<typeof manifestSchema>;

const [MANIFEST, ITEMS] = ["run.json", "items.jsonl"];

/** The claim of the program that may write to a run. */
export const claimOf = (dir: string): string => path.join(dir, "claim");

const there = (dir: string): AgentError =>
	new AgentError("INVALID", `there is a run in ${dir} already; go on with it by \`holdfast-agent resume ${dir}\`, or choose another --output`);

/** One episode that is to have one result. */
export type RunItem = TaskItem & { readonly index: number; readonly repeat: number };

/** Writes a new run. Throws `INVALID` if there is one already. */
export function beginRun(dir: string, manifest: RunManifest, items: readonly TaskItem[]): RunItem[] {
	const frozen: RunItem[] = items
		.flatMap((item) => Array.from({ length: manifest.repeats }, (_, repeat) => ({ item, repeat })))
		.map(({ item, repeat }, index) => ({ ...item, index, repeat }));
	try {
		ensureDir(dir);
		const claim = Claim.take(claimOf(dir), "run");
		if (!(claim instanceof Claim)) throw there(dir);
		try {
			if (fs.existsSync(path.join(dir, MANIFEST))) throw there(dir);
			writeWhole(path.join(dir, ITEMS), frozen.map((item) => `${JSON.stringify(item)}\n`).join(""), { sync: true });
			writeWhole(path.join(dir, MANIFEST), `${JSON.stringify(manifest, null, "\t")}\n`, { sync: true }); // last: with it there is a run
		} finally {
			claim.release();
		}
	} catch (error) {
		throw fromSystem(error, `cannot begin a run in ${dir}`);
	}
	return frozen;
}

export function readRun(dir: string): { manifest: RunManifest; items: RunItem[] } {
	let text: string;
	try {
		text = fs.readFileSync(path.join(dir, MANIFEST), "utf8");
	} catch (error) {
		if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR")
			throw new AgentError("NOT_FOUND", `there is no run in ${dir}; \`holdfast-agent run\` begins one`);
		throw fromSystem(error, `cannot read the run in ${dir}`);
	}
	const parsed = manifestSchema.safeParse(jsonIn(text));
	if (!parsed.success) throw new AgentError("BROKEN", `run.json in ${dir} is damaged, or of another version; it was left as it is`);
	return { manifest: parsed.data, items: readLines(path.join(dir, ITEMS)).values as RunItem[] };
}

/** Returns the keys of tasks whose folders are not what they were when the run began. Rows are in the run itself, and cannot change. */
export function changedTasks(items: readonly RunItem[]): string[] {
	const now = new Map<string, string | undefined>();
	const digestNow = (folder: string): string | undefined => {
		if (!now.has(folder)) now.set(folder, digestIn(folder));
		return now.get(folder);
	};
	const changed = items.filter((item) => item.kind === "harbor" && digestNow(item.task.folder) !== item.digest);
	return [...new Set(changed.map(({ key }) => key))];
}

/** Undefined: there is no such task any more, or it cannot be run. */
function digestIn(folder: string): string | undefined {
	try {
		return loadTasks(folder).items[0]?.digest;
	} catch (error) {
		if (error instanceof AgentError) return undefined;
		throw error;
	}
}

export const label = (index: number): string => String(index).padStart(6, "0");

function jsonIn(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
