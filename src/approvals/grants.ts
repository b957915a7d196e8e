/** What a person has allowed for the rest of a task: a line for each, in a file of the task. They are rules like those of `always`, and end with the task's file. */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { readIfThere, versionOf } from "../base/files.js";
import type { Home } from "../base/home.js";
import { taskKey } from "../base/ids.js";
import type { More } from "../policy/judge.js";
import type { Rule } from "../policy/rule.js";
import type { Question } from "./approval.js";
import { definitionsFile, readDefinitions } from "./definitions.js";

const grantSchema = z.object({ id: z.string(), task: z.string(), command: z.string(), cwd: z.string(), place: z.string(), by: z.string() });

export const grantsFile = (home: Home, task: string): string => path.join(home.approvals, `g.${taskKey(task)}`);

export function grantForTask(home: Home, { id, task, command, cwd, place }: Question, by: string): void {
	fs.appendFileSync(grantsFile(home, task), `${JSON.stringify({ id, task, command, cwd, place, by })}\n`, { mode: 0o600 });
}

export function grantsOf(home: Home, task: string): More {
	const file = grantsFile(home, task);
	const definitions = definitionsFile(home, task);
	return {
		version: `${versionOf(file)} ${versionOf(definitions)}`,
		rules: () => readGrants(file, task),
		earlier: () => readDefinitions(definitions).join("\n"),
	};
}

function readGrants(file: string, task: string): Rule[] {
	return (readIfThere(file) ?? "").split("\n").flatMap((line) => {
		const grant = grantSchema.safeParse(line === "" ? null : parsed(line));
		return grant.success && grant.data.task === task
			? [allowing(`task-${grant.data.id.slice(5)}`, grant.data, `a person allowed it for this task (${grant.data.by})`)]
			: [];
	});
}

function parsed(line: string): unknown {
	try {
		return JSON.parse(line);
	} catch {
		return null; // a line that a full disk has cut
	}
}

/** Exactly this command, there. */
export function allowing(id: string, { command, cwd, place }: Pick<Question, "command" | "cwd" | "place">, reason: string): Rule {
	return {
		id,
		decision: "allow",
		reason: reason.slice(0, 500),
		match: { text: [command], cwd: [cwd], place: [place] },
		examples: { match: [command], not: [`${command} # and anything else`] },
	};
}
