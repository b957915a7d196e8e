/** What became of a container under a command. */
import type { Container, ContainerInspectInfo } from "dockerode";
import { sizeText } from "../../base/quantity.js";
import { inspect } from "./container.js";
import type { Engine } from "./engine.js";
import { endOf, instanceOf } from "./words.js";

export interface Before {
	readonly info: ContainerInspectInfo;
	/** When the command was started. */
	readonly since: number;
	/** With which it ended, if that is known. */
	readonly code: number | null;
}

const KILLED = 137;
const SUSPICIOUS_LOOKS = 20;

/** In words; undefined when it is as it was. */
export async function fate(engine: Engine, container: Container, { info: before, since, code }: Before): Promise<string | undefined> {
	let info: ContainerInspectInfo | undefined;
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

/** The state of a container that goes on does not tell; the engine's events do. */
async function ranOutOfMemory(engine: Engine, id: string, since: number): Promise<boolean> {
	try {
		return await engine.call(
			"looking for what the engine has seen",
			async (abortSignal) => {
				const range = { since: Math.floor(since / 1000), until: Math.ceil(Date.now() / 1000) };
				const events = await engine.docker.getEvents({ ...range, filters: { container: [id], event: ["oom"] }, abortSignal });
				for await (const chunk of events) if (String(chunk).includes('"oom"')) return true;
				return false;
			},
			{ ms: 5_000 },
		);
	} catch {
		return false; // an engine that does not tell
	}
}

export const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
