/** The transcripts of tasks: pages of entries, the output of one, exports. */
import { setImmediate as turn } from "node:timers/promises";
import { type EntryOfProcess, exportOf, matching, mustBeKnown, outputOf, recordedTasks, TaskTranscript, wordsOf } from "../../../transcript/index.js";
import { type Route, route } from "../router.js";
import {
	type TaskLog,
	taskLogExportQuerySchema,
	taskLogOutputQuerySchema,
	taskLogOutputSchema,
	taskLogQuerySchema,
	taskLogSchema,
	taskLogsSchema,
} from "../schemas.js";
import { type ApiContext, processOf } from "./context.js";
import { DOWNLOAD, stream } from "./output.js";

const TASKS = 500;
const ENTRIES = 200;
const OUTPUT_BYTES = 256 * 1024;
const TURN = 20; // entries that are read before others get their turn

export const transcriptRoutes = (api: ApiContext): Route[] => [
	route(
		{
			method: "get",
			path: "/api/tasks/logs",
			who: "owner",
			summary: "The tasks that have done something, also those with nothing that runs; the one that was active last first",
			answer: taskLogsSchema,
		},
		() => ({ tasks: recordedTasks(api.runtime, TASKS) }),
	),
	route(
		{
			method: "get",
			path: "/api/tasks/log",
			who: "owner",
			summary: "All that a task did, oldest first: the newest entries, or those before or after one",
			query: taskLogQuerySchema,
			answer: taskLogSchema,
		},
		async ({ query, context }) => {
			const { task, before, after, search, since, limit = ENTRIES } = query;
			const { signal } = context.req.raw;
			const transcript = await TaskTranscript.of(api.runtime, task, { signal, ...(since === undefined ? {} : { since: Date.parse(since) }) });
			if (transcript.length === 0) mustBeKnown(api.runtime, task);
			const [from, to] =
				after === undefined ? [0, before === undefined ? transcript.length : transcript.positionOf(before)] : [transcript.behind(after), transcript.length];
			return pageOf(transcript, { from, to, limit, search, signal, forward: after !== undefined });
		},
	),
	route(
		{
			method: "get",
			path: "/api/tasks/log/output",
			who: "owner",
			summary: "What one command has printed, as text without escape sequences, secrets masked",
			query: taskLogOutputQuerySchema,
			answer: taskLogOutputSchema,
		},
		({ query }) => {
			const process = processOf(api, { id: query.session_id });
			return { session_id: process.id, ...outputOf(process, query.limit ?? OUTPUT_BYTES) };
		},
	),
	route(
		{
			method: "get",
			path: "/api/tasks/log/export",
			who: "owner",
			summary: "All of it with output, as a file",
			query: taskLogExportQuerySchema,
			answer: "application/octet-stream",
		},
		async ({ query, context }) => {
			const { task, format } = query;
			const transcript = await TaskTranscript.of(api.runtime, task);
			if (transcript.length === 0) mustBeKnown(api.runtime, task);
			const name = `${task.replace(/[^\w.-]+/g, "-").slice(0, 100) || "task"}.${format}`;
			return context.body(stream("", pieces(exportOf({ task, at: new Date(), entries: transcript.read() }, format))), 200, {
				...DOWNLOAD,
				"Content-Disposition": `attachment; filename="${name}"`,
			});
		},
	),
];

async function* pieces(parts: Iterable<string>): AsyncGenerator<string> {
	for (const part of parts) {
		yield part;
		await turn();
	}
}

interface Page {
	readonly from: number;
	readonly to: number;
	readonly limit: number;
	readonly search: string | undefined;
	readonly signal: AbortSignal;
	/** From the first on; else the last of them. */
	readonly forward: boolean;
}

/** Goes through the entries until there are enough that fit. */
async function pageOf(transcript: TaskTranscript, { from, to, limit, search, signal, forward }: Page): Promise<TaskLog> {
	const entries: TaskLog["entries"] = [];
	let [first, end] = forward ? [from, from] : [to, to];
	while (entries.length < limit && (forward ? end < to : first > from)) {
		signal.throwIfAborted();
		const size = search === undefined ? limit - entries.length : TURN;
		const [a, b] = forward ? [end, Math.min(to, end + size)] : [Math.max(from, first - size), first];
		const found = [...transcript.read(a, b)].flatMap((told) => shown(told, search));
		if (forward) {
			entries.push(...found);
			end = b;
		} else {
			entries.unshift(...found);
			first = a;
		}
		await turn();
	}
	return { task: transcript.task, entries, earlier: first > 0, later: end < transcript.length };
}

function shown(told: EntryOfProcess, search: string | undefined): TaskLog["entries"] {
	const lines = search === undefined ? [] : matching(told, search);
	if (lines === undefined) return [];
	return [
		{
			...told.entry,
			words: wordsOf(told.entry),
			has_output: told.process !== undefined && (told.entry.bytes ?? 0) > 0,
			...(lines.length > 0 ? { lines } : {}),
		},
	];
}
