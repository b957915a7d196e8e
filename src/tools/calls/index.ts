/** Calls that survive their caller: the caller gives an id, and can ask afterwards what happened. */
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, type Home, isTaskName, TASK_NAME } from "../../base/index.js";
import { CallRecord, isOver, type Runtime, readCall, settleCall, tasksWith } from "../../process/index.js";
import { type FoundCall, findCall } from "./find.js";

export type { FoundCall };

export const LONGEST_ID = 200;
const RETRY_MS = 5;

export class CallRecords {
	readonly #runtime: Runtime;

	constructor(runtime: Runtime) {
		this.#runtime = runtime;
	}

	get #home(): Home {
		return this.#runtime.home;
	}

	/** Returns what happened to a call of a task. */
	async find(task: string, id: string): Promise<FoundCall> {
		check("calls.find", task, id);
		return findCall(this.#runtime, task, id);
	}

	/** Drops the kept result of a call, and the output of its command. Throws NOT_FOUND for an unknown call, CONFLICT while it runs. */
	async settle(task: string, id: string): Promise<void>;
	/** Settles a call whose id only one task has used. */
	async settle(id: string): Promise<void>;
	async settle(first: string, second?: string): Promise<void> {
		const id = second === undefined ? first : second;
		const task = second === undefined ? this.#taskOf(id) : first;
		check("calls.settle", task, id);
		const call = readCall(this.#home, task, id);
		if (!call) throw notFound(id);
		if (call.settled) return;
		const found = await this.find(task, id);
		if (found.state === "running" && !call.end)
			throw new HoldfastError("CONFLICT", `the call "${id}" of the task "${task}" is under way; settle it when it has answered`);
		settleCall(call);
		if (call.effect && "session" in call.effect) this.#forget(call.effect.session, id);
	}

	/** Removes the output of a foreground command, which was kept only for the call. Background processes and older ones stay, as without an id. */
	#forget(session: string, id: string): void {
		try {
			const process = this.#runtime.get(session);
			if (process.spec.within && process.spec.call === id && isOver(process.status())) this.#runtime.registry.forget(session);
		} catch (error) {
			if (!(error instanceof HoldfastError) || error.code !== "NOT_FOUND") throw error; // pruned, or never kept because it printed nothing
		}
	}

	#taskOf(id: string): string {
		check("calls.settle", "any", id);
		const tasks = tasksWith(this.#home, id);
		if (tasks.length > 1) throw new HoldfastError("INVALID", `calls.settle: ${tasks.length} tasks have a call "${id}"; name the task: settle(task, id)`);
		const [task] = tasks;
		if (task === undefined) throw notFound(id);
		return task;
	}

	/** Records a call before it does anything. Throws CONFLICT if an earlier call with this id did something, or may have. */
	async begin(call: { id: string; task: string; tool: string; keep: boolean }): Promise<CallRecord> {
		for (;;) {
			const before = readCall(this.#home, call.task, call.id);
			const found = before && (await findCall(this.#runtime, call.task, call.id));
			if (found && found.state !== "never")
				throw new HoldfastError(
					"CONFLICT",
					`nothing was done: the id "${call.id}" was used before in this task, by a call that ${WORDS[found.state]}; calls.find says what became of it, and a new call takes an id of its own`,
				);
			const record = CallRecord.begin(this.#home, call, before);
			if (record) return record;
			await sleep(RETRY_MS); // another call with the same id was faster
		}
	}
}

const WORDS = { running: "is under way", ended: "has ended", unknown: "may have been done" } as const;

const notFound = (id: string): HoldfastError => new HoldfastError("NOT_FOUND", `there is no call "${id}" on record`);

export const isCallId = (id: unknown): boolean => typeof id === "string" && id !== "" && id.length <= LONGEST_ID && !/\p{Cc}/u.test(id);

function check(what: string, task: unknown, id: unknown): void {
	if (!isTaskName(task)) throw new HoldfastError("INVALID", `${what}: ${TASK_NAME}`);
	if (!isCallId(id)) throw new HoldfastError("INVALID", `${what}: the id is a text of 1 to ${LONGEST_ID} characters, without control characters`);
}
