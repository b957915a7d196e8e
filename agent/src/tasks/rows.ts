/** Files with a row of JSON in each line: prompts, or SWE-bench instances. A row that cannot be used is named by its line; the others are loaded. */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { apart, digestOf, isPlainName, type LoadedTasks, type LoadOptions, PLAIN_NAME, type PromptRow, type TaskItem, type TaskProblem } from "./item.js";
import { sweSchema } from "./swe.js";
import { unknownKeys } from "./unknown-keys.js";

const promptSchema = z.object({
	prompt: z.string().min(1),
	id: z.union([z.string().min(1).refine(isPlainName, PLAIN_NAME), z.number()]).optional(),
	image: z.string().min(1).optional(),
	cwd: z.string().min(1).optional(),
	toolsets: z.array(z.string().min(1)).min(1).optional(),
	expect: z.strictObject({ file: z.string().min(1), content: z.string().min(1) }).optional(),
});

export function loadRows(file: string, options: LoadOptions): LoadedTasks {
	const text = fs.readFileSync(file);
	const items: TaskItem[] = [];
	const problems: TaskProblem[] = [];
	const unknown = new Map<string, TaskProblem>();
	let line = 0;
	for (const raw of text.toString("utf8").split("\n")) {
		line++;
		if (raw.trim() === "") continue;
		const at = `${file}:${line}`;
		const row = rowIn(raw.replace(/\r$/, ""));
		if ("text" in row) {
			problems.push({ at, text: row.text });
			continue;
		}
		const item = itemOf(row.value, line, options);
		if ("kind" in item) items.push(item);
		else problems.push(...item.map(({ path, message }) => ({ at, key: path.join("."), text: `cannot be used: ${message}` })));
		if ("instance_id" in row.value) continue; // published sets have more columns than anybody uses
		for (const key of unknownKeys(promptSchema, row.value))
			if (!unknown.has(key)) unknown.set(key, { at, key, text: "is not a column of prompts; it is ignored" });
	}
	return { items: apart(items), problems, warnings: [...unknown.values()] };
}

function rowIn(text: string): { value: object } | { text: string } {
	if (text.includes("\ufffd")) return { text: "is not UTF-8" };
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? { value } : { text: "is no object" };
	} catch (error) {
		return { text: `is no JSON: ${(error as Error).message}` };
	}
}

function itemOf(value: object, line: number, { toolsets }: LoadOptions): TaskItem | readonly z.core.$ZodIssue[] {
	if ("instance_id" in value) {
		const parsed = sweSchema.safeParse(value);
		if (!parsed.success) return parsed.error.issues;
		const { image, repo } = parsed.data;
		if (image === undefined && !path.isAbsolute(repo))
			return [{ code: "custom", path: ["image"], message: `it is missing, and the repo "${repo}" is no folder of this machine`, input: value }];
		return { kind: "swe", key: parsed.data.instance_id, digest: digestOf(parsed.data), row: parsed.data };
	}
	const parsed = promptSchema.safeParse(value);
	if (!parsed.success) return parsed.error.issues;
	const { id, ...row } = parsed.data;
	const strange = toolsets && row.toolsets?.find((name) => !toolsets.has(name));
	if (strange !== undefined)
		return [{ code: "custom", path: ["toolsets"], message: `there is no toolset "${strange}"; there are ${[...(toolsets ?? [])].join(", ")}`, input: value }];
	return { kind: "prompt", key: String(id ?? line), digest: digestOf(row), row: row satisfies PromptRow };
}
