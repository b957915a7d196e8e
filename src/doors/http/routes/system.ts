/** The rest of what the command line can do: tasks, notices, approvals, audit, policy, doctor, prune. */
import * as z from "zod";
import { readAudit } from "../../../audit/index.js";
import { HoldfastError, isTaskName, soon, TASK_NAME } from "../../../base/index.js";
import { diagnose, endOf, isOver, listSandboxes, type Process, pruneSandboxes, stopSandbox } from "../../../process/index.js";
import { pruneSeats } from "../../../shell/index.js";
import { checkCommand } from "../../../tools/index.js";
import { clientFields } from "../../mcp/index.js";
import { type Route, route } from "../router.js";
import {
	answerSchema,
	approvalSchema,
	approvalsSchema,
	auditQuerySchema,
	auditSchema,
	doctorSchema,
	endedTaskSchema,
	endTaskSchema,
	noticesSchema,
	policyCheckSchema,
	prunedSchema,
	pruneSchema,
	removedSchema,
	revokedSchema,
	revokeSchema,
	sandboxesSchema,
	stoppedSchema,
	type TaskList,
	tasksSchema,
	verdictSchema,
} from "../schemas.js";
import { addUse, noUse } from "../task-use.js";
import type { ApiContext } from "./context.js";

const AUDIT_EVENTS = 500;
const taskQuery = z.strictObject({ task: z.string().refine(isTaskName, TASK_NAME).optional() });

export const systemRoutes = (api: ApiContext): Route[] => [...ofTasks(api), ...approvals(api), ...audit(api), ...housekeeping(api)];

const ofTasks = (api: ApiContext): Route[] => [
	route({ method: "get", path: "/api/tasks", who: "owner", summary: "Whose processes there are", answer: tasksSchema }, async () => {
		const found = new Map<string, TaskList["tasks"][number]>();
		for (const process of api.runtime.list({ task: null, shells: true })) {
			const item = await api.views.item(process);
			const task = found.get(item.task) ?? {
				task: item.task,
				running: 0,
				waiting: 0,
				ended: 0,
				started_at: item.started_at,
				cwd: null,
				use: noUse(),
				...clientFields(api.runtime.home, item.task),
			};
			found.set(item.task, task);
			if (item.started_at < task.started_at) task.started_at = item.started_at;
			addUse(task.use, process, item);
			if (item.kind === "sandbox") continue;
			if (item.kind === "shell") {
				if (item.status === "running" && task.cwd === null) task.cwd = await directoryOf(process, item.pid);
			} else if (item.status === "awaiting_input") {
				task.waiting++;
				task.running++;
			} else if (item.status === "running") task.running++;
			else task.ended++;
		}
		return { tasks: [...found.values()].sort((a, b) => (a.started_at < b.started_at ? 1 : -1)) };
	}),
	route(
		{
			method: "get",
			path: "/api/notices",
			who: "owner",
			summary: "Notices that wait for a task's agent; a look takes none away",
			query: taskQuery,
			answer: noticesSchema,
		},
		({ query }) => {
			const tasks = query.task === undefined ? [...new Set(api.runtime.list({ task: null }).map(({ spec }) => spec.task))] : [query.task];
			return { notices: tasks.flatMap((task) => api.runtime.notices.waiting(task)) };
		},
	),
];

const audit = (api: ApiContext): Route[] => [
	route(
		{
			method: "get",
			path: "/api/audit",
			who: "owner",
			summary: "What agents asked for, what was decided, what ran and how it ended; oldest first",
			query: auditQuerySchema,
			answer: auditSchema,
		},
		({ query }) => {
			const { task, since, limit = AUDIT_EVENTS } = query;
			const all = readAudit(api.runtime.home, { ...(task === undefined ? {} : { task }), ...(since === undefined ? {} : { since: Date.parse(since) }) }, (id) =>
				endIn(api, id),
			);
			return { events: all.slice(-limit), omitted: Math.max(0, all.length - limit) };
		},
	),
];

function endIn({ runtime }: ApiContext, id: string): ReturnType<Parameters<typeof readAudit>[2]> {
	const process = runtime.registry.matching(id)?.[0];
	if (!process) return null;
	const status = process.status();
	return isOver(status) ? endOf(process.spec, status) : undefined;
}

const approvals = (api: ApiContext): Route[] => [
	route(
		{
			method: "get",
			path: "/api/approvals",
			who: "owner",
			summary: "What agents ask: what waits for an answer, and what was settled in the last hour; oldest first",
			query: taskQuery,
			answer: approvalsSchema,
		},
		({ query }) => ({ approvals: api.runtime.approvals.list({ all: true, ...(query.task === undefined ? {} : { task: query.task }) }) }),
	),
	route(
		{
			method: "post",
			path: "/api/approvals/:approval",
			who: "owner",
			summary: "Answer one; the first answer counts",
			body: answerSchema,
			answer: approvalSchema,
		},
		({ params, body }) => api.runtime.approvals.answer(params.approval ?? "", { ...body, by: "http" }),
	),
	route(
		{
			method: "post",
			path: "/api/tasks/revoke",
			who: "owner",
			summary: "Take back what was allowed for a task, and withdraw its open questions",
			body: revokeSchema,
			answer: revokedSchema,
		},
		({ body }) => api.runtime.approvals.revoke(body.task, { by: "http" }),
	),
];

const housekeeping = (api: ApiContext): Route[] => [
	route(
		{
			method: "post",
			path: "/api/policy/check",
			who: "owner",
			summary: "What the rules would decide about a command",
			body: policyCheckSchema,
			answer: verdictSchema,
		},
		async ({ body }) => {
			const { command, cwd, place, task } = body;
			return checkCommand(command, {
				place: place ?? "local",
				...(cwd === undefined ? {} : { cwd }),
				...(task === undefined ? {} : { task }),
			});
		},
	),
	route(
		{ method: "get", path: "/api/doctor", who: "owner", summary: "What this box can do, and what crashes have left", answer: doctorSchema },
		({ context }) => diagnose(api.runtime, context.req.raw.signal),
	),
	route(
		{ method: "post", path: "/api/tasks/end", who: "owner", summary: "End a task with everything it owns", body: endTaskSchema, answer: endedTaskSchema },
		async ({ body }) => {
			if (body.if_gone && clientFields(api.runtime.home, body.task).client !== "gone")
				throw new HoldfastError("CONFLICT", "the client of this task is not gone (any more); nothing was ended");
			return { ...(await api.runtime.endTask(body.task)) };
		},
	),
	route({ method: "get", path: "/api/sandboxes", who: "owner", summary: "Sandboxes and containers of tasks", answer: sandboxesSchema }, async () => {
		const { sandboxes, notes } = await listSandboxes(api.runtime);
		return { sandboxes: [...sandboxes], notes: [...notes] };
	}),
	route(
		{ method: "post", path: "/api/sandboxes/:id/stop", who: "owner", summary: "End one with all that runs in it", answer: stoppedSchema },
		async ({ params }) => ({ stopped: [await stopSandbox(api.runtime, params.id ?? "")] }),
	),
	route({ method: "post", path: "/api/sandboxes/prune", who: "owner", summary: "Remove the orphans", answer: removedSchema }, async () => {
		const { removed, notes } = await pruneSandboxes(api.runtime);
		return { removed: [...removed], notes: [...notes] };
	}),
	route(
		{ method: "post", path: "/api/prune", who: "owner", summary: "Forget what ended long ago", body: pruneSchema, answer: prunedSchema },
		async ({ body }) => {
			const dryRun = body.dry_run ?? false;
			const age = body.older_than_seconds === undefined ? {} : { olderThanMs: body.older_than_seconds * 1000 };
			const { removed, bytes, kept } = api.runtime.prune({
				...age,
				...(body.quota_bytes === undefined ? {} : { quotaBytes: body.quota_bytes }),
				dryRun,
			});
			const places = await api.runtime.prunePlaces({ ...age, dryRun });
			return { removed, bytes, kept, places, shells: pruneSeats(api.runtime, { ...age, dryRun }), dry_run: dryRun };
		},
	),
];

async function directoryOf({ machine, unreachable }: Process, pid: number | null): Promise<string | null> {
	return pid === null || unreachable !== undefined ? null : ((await soon(machine.directoryOf(pid), undefined)) ?? null);
}
