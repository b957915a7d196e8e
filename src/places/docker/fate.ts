/** Finds out what became of a container while a command ran. */
import { sizeText } from "../../base/index.js";
import { type ContainerInfo, events } from "./api.js";
import { inspect } from "./container.js";
import type { Engine } from "./engine.js";
import { endOf, instanceOf, lowerFirst } from "./words.js";

export interface LastRun {
	readonly info: ContainerInfo;
	/** When the command was started. */
	readonly since: number;
	/** Exit code of the command, if known. */
	readonly code: number | null;
}

const KILLED = 137;
const SUSPICIOUS_LOOKS = 20;

/** Returns what happened to the container, in words; undefined if it is unchanged. */
export async function fate(engine: Engine, container: string, { info: before, since, code }: LastRun): Promise<string | undefined> {
	let info: ContainerInfo | undefined;
	try {
		// A command dies with its container a moment before the engine has noted that.
		const looks = code === null || code === KILLED ? SUSPICIOUS_LOOKS : 1;
		for (let look = 0; look < looks; look++) {
			if (look > 0) await new Promise((resolve) => setTimeout(resolve, 25));
			info = await inspect(engine, container, undefined, 5_000);
			if (!info?.State.Running || info.State.Paused) break;
		}
	} catch (error) {
		return `the connection to the Docker engine broke: ${(error as Error).message}`;
	}
	if (info === undefined) return "the container was removed";
	if (info.State.Status === "removing") return "the container is being removed";
	if (info.State.Paused) return "the container is paused";
	if (!info.State.Running) return lowerFirst(endOf(info));
	if (instanceOf(info) !== instanceOf(before)) return "the container was started again meanwhile";
	if (code === KILLED && (await ranOutOfMemory(engine, info.Id, since)))
		return `the command was killed: the container ran out of memory${info.HostConfig.Memory ? ` (limit ${sizeText(info.HostConfig.Memory)})` : ""}`;
	return undefined;
}

/** Asks the engine's events: the state of a container that keeps running does not tell. */
async function ranOutOfMemory(engine: Engine, id: string, since: number): Promise<boolean> {
	try {
		const range = { since: Math.floor(since / 1000), until: Math.ceil(Date.now() / 1000) };
		const seen = await engine.call("looking for what the engine has seen", events(range, { container: [id], event: ["oom"] }), { ms: 5_000 });
		return seen.includes('"oom"');
	} catch {
		return false; // the engine does not tell
	}
}
