/**
 * The task of a client that named none. Over stdio it is made of the client and the directory, so that a server that is started again
 * finds what the one before has left. Two servers that live at the same time have two: a lease says which is whose.
 */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { ensureDir, ownDirectory } from "../../base/files.js";
import { taskKey } from "../../base/ids.js";
import { Lease } from "../../base/lease.js";
import { counted } from "../../base/quantity.js";
import { seatsOf } from "../../shell/seat.js";
import type { AgentRuntime } from "../../tools/index.js";

const LONGEST = 900;
/** So many servers of one client in one directory; more have tasks that nobody comes back to. */
const MOST = 20;
const SHOWN = 5;

/** A task of its own, and nobody's after it. */
export const newTask = (): string => `mcp-${randomBytes(6).toString("hex")}`;

export interface OwnTask {
	readonly task: string;
	/** Says what is in it from before, and what servers beside it have; a sentence each. */
	left(): string[];
	/** Another may have it from now on. */
	release(): void;
}

/** Takes the task of this client and directory. Where that fails (a full disk, a directory that is gone) it is a new one, and the model is told. */
export async function ownTask(runtime: AgentRuntime, client = "mcp"): Promise<OwnTask> {
	try {
		return await firstFree(runtime, client, ownDirectory());
	} catch (error) {
		const why = (error as Error).message;
		return { task: newTask(), left: () => [`Nothing of an earlier server is here, and a later one finds nothing of this one: ${why}.`], release: () => {} };
	}
}

/** Takes the first that no living server has. */
async function firstFree(runtime: AgentRuntime, client: string, dir: string): Promise<OwnTask> {
	const place = runtime.placeName === "local" ? "" : ` on ${runtime.placeName}`;
	const base = `${client} in ${dir}${place}`.replaceAll("\0", "").slice(0, LONGEST);
	const names = Array.from({ length: MOST }, (_, at) => (at === 0 ? base : `${base} (${at + 1})`));
	const leases = path.join(runtime.home.root, "mcp");
	const fileOf = (task: string): string => path.join(leases, taskKey(task));
	ensureDir(leases);
	for (const task of names) {
		const lease = await Lease.take(fileOf(task));
		if (!lease) continue;
		const others = names.filter((name) => name !== task);
		return {
			task,
			left: () => [...new Set([...here(runtime, task), ...others.flatMap((other) => beside(runtime, other, !Lease.isFree(fileOf(other))))])],
			release: () => lease.release(),
		};
	}
	return { task: newTask(), left: () => [], release: () => {} };
}

function here(runtime: AgentRuntime, task: string): string[] {
	const running = idsIn(runtime, task);
	if (running === "" && seatsOf(runtime, task).length === 0) return [];
	const shell = "your shell goes on with its directory and variables";
	return [`An earlier server of this client was at work in this directory: ${shell}${running === "" ? "" : `, and ${running} (process(action="list"))`}.`];
}

function beside(runtime: AgentRuntime, task: string, held: boolean): string[] {
	const running = idsIn(runtime, task);
	if (held) return [`Another server of this client is at work in this directory, in a task of its own${running === "" ? "" : `: there ${running}`}.`];
	if (running === "") return [];
	return [
		`An earlier server of this client has left something in the task "${task}", which is not yours: there ${running}. Your user finds it with \`holdfast ps --all\`.`,
	];
}

function idsIn(runtime: AgentRuntime, task: string): string {
	const ids = runtime.list({ task, ended: false }).map(({ id }) => id);
	if (ids.length === 0) return "";
	const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : "";
	return `${counted(ids.length, "process runs", "processes run")}: ${ids.slice(0, SHOWN).join(", ")}${more}`;
}
