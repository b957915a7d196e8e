/**
 * The task of a client that named none. Over stdio it is made of the client and the directory, so that a server that is started again
 * finds what the one before has left. Two servers that live at the same time have two: a lease says which is whose.
 */
import { randomBytes } from "node:crypto";
import { counted, ownDirectory } from "../../base/index.js";
import { seatsOf } from "../../shell/index.js";
import type { AgentRuntime } from "../../tools/index.js";
import type { ClientInfo } from "./client.js";
import { isFree, present } from "./presence.js";

const LONGEST = 900;
/** So many servers of one client in one directory; the tasks of more are not used again. */
const MOST = 20;
const SHOWN = 5;

/** A task of its own, which is not used again. */
export const newTask = (): string => `mcp-${randomBytes(6).toString("hex")}`;

export interface OwnTask {
	readonly task: string;
	/** Says what is in it from before, and what servers beside it have; a sentence each. */
	left(): string[];
	/** Another may have it from now on. */
	release(): void;
}

/** Takes the task of this client and directory. Where that fails (a full disk, a directory that is gone) it is a new one, and the model is told. */
export async function ownTask(runtime: AgentRuntime, client: ClientInfo = {}): Promise<OwnTask> {
	try {
		return await firstFree(runtime, client, ownDirectory());
	} catch (error) {
		const why = (error as Error).message;
		return { task: newTask(), left: () => [`Nothing of an earlier server is here, and a later one finds nothing of this one: ${why}.`], release: () => {} };
	}
}

/** Takes the first that no living server has. */
async function firstFree(runtime: AgentRuntime, client: ClientInfo, dir: string): Promise<OwnTask> {
	const place = runtime.placeName === "local" ? "" : ` on ${runtime.placeName}`;
	const base = `${client.name ?? "mcp"} in ${dir}${place}`.replaceAll("\0", "").slice(0, LONGEST);
	const names = Array.from({ length: MOST }, (_, at) => (at === 0 ? base : `${base} (${at + 1})`));
	for (const task of names) {
		const lease = present(runtime.home, task, client);
		if (!lease) continue;
		const others = names.filter((name) => name !== task);
		return {
			task,
			left: () => [...new Set([...here(runtime, task), ...others.flatMap((other) => beside(runtime, other, !isFree(runtime.home, other)))])],
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
