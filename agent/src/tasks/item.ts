/** One thing to do: what an episode is about. Items come from a folder of tasks or a file of prompts, and are frozen when a run begins. */
import { createHash } from "node:crypto";
import type { HarborTask } from "./harbor.js";
import type { SweRow } from "./swe.js";

export type TaskItem =
	| { readonly kind: "harbor"; readonly key: string; readonly digest: string; readonly task: HarborTask }
	| { readonly kind: "prompt"; readonly key: string; readonly digest: string; readonly row: PromptRow }
	| { readonly kind: "swe"; readonly key: string; readonly digest: string; readonly row: SweRow };

/** A line of a file of prompts. */
export interface PromptRow {
	readonly prompt: string;
	/** An image of a container; default: the place of the run. */
	readonly image?: string | undefined;
	readonly cwd?: string | undefined;
	readonly toolsets?: readonly string[] | undefined;
	/** The scoring of the episode: 1 if the file has exactly this content, 0.5 if it contains it, else 0. Without it there is no score. */
	readonly expect?: { readonly file: string; readonly content: string } | undefined;
}

/** Something that cannot be used, by where it is and in words. */
export interface TaskProblem {
	/** The task's folder, or FILE:LINE. */
	readonly at: string;
	/** The key of a setting, `environment.gpus`; the column of a row. */
	readonly key?: string | undefined;
	readonly text: string;
}

export interface LoadOptions {
	/** Those that there are: rows that name another one are refused. Default: not looked at. */
	readonly toolsets?: ReadonlySet<string>;
}

/** The result of a load: items that can be run, problems of the others, and remarks. */
export interface LoadedTasks {
	readonly items: readonly TaskItem[];
	readonly problems: readonly TaskProblem[];
	readonly warnings: readonly TaskProblem[];
}

/** A name is shown in lines and tables: it has no line breaks, and nothing that a terminal acts on. */
export const isPlainName = (name: string): boolean => !/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/.test(name);
export const PLAIN_NAME = "must have no line breaks and control characters";

/** A digest of a value that does not depend on the order of keys. */
export const digestOf = (value: unknown): string => createHash("sha256").update(canonical(value)).digest("hex");

function canonical(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
	if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
	const entries = Object.entries(value)
		.filter(([, inner]) => inner !== undefined)
		.sort(([a], [b]) => (a < b ? -1 : 1));
	return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}

/** Keys stay apart: the second of the same name is `NAME~2`. */
export function apart(items: readonly TaskItem[]): TaskItem[] {
	const seen = new Map<string, number>();
	return items.map((item) => {
		const times = (seen.get(item.key) ?? 0) + 1;
		seen.set(item.key, times);
		return times === 1 ? item : { ...item, key: `${item.key}~${times}` };
	});
}
