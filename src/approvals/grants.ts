/** Permissions of a person for the rest of a task: a line each, in a file of the task. They are rules like those of `always`, and end with the task's file. */
import fs from "node:fs";
import path from "node:path";
import * as z from "zod";
import { type Home, readIfThere, taskKey, versionOf } from "../base/index.js";
import type { More, Rule } from "../policy/index.js";
import type { Answer, Question } from "./approval.js";
import { definitionsFile, readDefinitions } from "./definitions.js";

/** `at`: when it was answered. Earlier versions had none. */
const grantSchema = z.lazy(() =>
	z.object({
		id: z.string(),
		task: z.string(),
		command: z.string(),
		cwd: z.string(),
		place: z.string(),
		by: z.string(),
		at: z.number().optional(),
	}),
);
/** All that was answered until then is taken back. */
const revokedSchema = z.lazy(() => z.object({ task: z.string(), revoked: z.number() }));
type Grant = z.infer<typeof grantSchema>;

export const grantsFile = (home: Home, task: string): string => path.join(home.approvals, `g.${taskKey(task)}`);

export function grantForTask(home: Home, { id, task, command, cwd, place }: Question, { by, at }: Answer): void {
	append(home, task, { id, task, command, cwd, place, by, at });
}

/** Takes back all that was allowed for a task. Returns what that was. A line of its own, so that a grant that is just being written is taken back too. */
export function revokeGrants(home: Home, task: string): Grant[] {
	const before = readGrants(grantsFile(home, task), task);
	if (fs.existsSync(grantsFile(home, task))) append(home, task, { task, revoked: Date.now() });
	return before;
}

const append = (home: Home, task: string, line: object): void => fs.appendFileSync(grantsFile(home, task), `${JSON.stringify(line)}\n`, { mode: 0o600 });

export function grantsOf(home: Home, task: string): More {
	const file = grantsFile(home, task);
	const definitions = definitionsFile(home, task);
	return {
		version: `${versionOf(file)} ${versionOf(definitions)}`,
		rules: () => readGrants(file, task).map((grant) => allowing(`task-${grant.id.slice(5)}`, grant, `a person allowed it for this task (${grant.by})`)),
		earlier: () => readDefinitions(definitions).join("\n"),
	};
}

function readGrants(file: string, task: string): Grant[] {
	let grants: Grant[] = [];
	let revoked = 0;
	for (const line of (readIfThere(file) ?? "").split("\n")) {
		const value = line === "" ? null : parsed(line);
		const [grant, end] = [grantSchema.safeParse(value).data, revokedSchema.safeParse(value).data];
		if (end?.task === task) {
			grants = [];
			revoked = Math.max(revoked, end.revoked);
		} else if (grant?.task === task && (grant.at ?? Number.POSITIVE_INFINITY) > revoked) grants.push(grant);
	}
	return grants;
}

function parsed(line: string): unknown {
	try {
		return JSON.parse(line);
	} catch {
		return null; // a line that a full disk has cut
	}
}

/** Returns a rule for exactly this command in this directory. */
export function allowing(id: string, { command, cwd, place }: Pick<Question, "command" | "cwd" | "place">, reason: string): Rule {
	return {
		id,
		decision: "allow",
		reason: reason.slice(0, 500),
		match: { text: [command], cwd: [cwd], place: [place] },
		examples: { match: [command], not: [`${command} # and anything else`] },
	};
}
