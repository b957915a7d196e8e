/** Tasks that have something, with what a person wants to know of each. */
import path from "node:path";
import { Audit } from "../../audit/index.js";
import { statIfThere, taskKey } from "../../base/index.js";
import { segmentName, segmentStarts } from "../../keeper/index.js";
import type { Process, Runtime } from "../../process/index.js";
import { type ClientFields, clientFields } from "../mcp/index.js";
import { isAsking, listed } from "./waits.js";

export interface TaskLine extends ClientFields {
	readonly task: string;
	readonly running: number;
	/** Programs that wait for a line or a password, and questions that wait for a person. */
	readonly waiting: number;
	readonly shells: number;
	readonly last_activity: string;
}

/** The one that was active last comes first. */
export async function taskList(runtime: Runtime): Promise<TaskLine[]> {
	const { Approvals } = await import("../../approvals/index.js");
	const questions = new Approvals(runtime.home, new Audit(runtime.home)).list();
	const all = runtime.list({ task: null, shells: true, ended: false });
	const tasks = new Set([...all.map(({ spec }) => spec.task), ...questions.map(({ task }) => task)]);
	const items = await Promise.all(
		[...tasks].map(async (task) => {
			const own = all.filter(({ spec }) => spec.task === task);
			const running = await listed(own.filter(({ spec }) => spec.kind === undefined));
			const asked = questions.filter((question) => question.task === task);
			return {
				task,
				...clientFields(runtime.home, task),
				running: running.length,
				waiting: running.filter(isAsking).length + asked.length,
				shells: own.filter(({ spec }) => spec.kind === "shell").length,
				last_activity: new Date(
					Math.max(0, recordedAt(runtime, task), ...own.map(activeAt), ...asked.map(({ created_at }) => Date.parse(created_at))),
				).toISOString(),
			};
		}),
	);
	return items.sort((a, b) => (a.last_activity < b.last_activity ? 1 : -1));
}

/** Tasks whose client is gone, for `ms` or longer. */
export const abandoned = (tasks: readonly TaskLine[], ms = 0): TaskLine[] =>
	tasks.filter(({ gone_since }) => gone_since !== null && Date.now() - Date.parse(gone_since) >= ms);

/** When it was started, or has last printed something. */
function activeAt({ dir, spec }: Process): number {
	const last = segmentStarts(dir).at(-1);
	const printed = last === undefined ? undefined : statIfThere(path.join(dir, segmentName(last)));
	return Math.max(spec.startedAt, printed && printed.size > 0 ? printed.mtimeMs : 0);
}

/** The last call that is on record. */
const recordedAt = ({ home }: Runtime, task: string): number => statIfThere(path.join(home.audit, `${taskKey(task)}.jsonl`))?.mtimeMs ?? 0;
