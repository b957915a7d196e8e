/** One attempt at one item, from its first command to the proof that nothing of it is left. */
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EndedTask, PlaceObject, Runtime, Task } from "holdfast";
import { type AgentConfig, type AgentHome, type KeyRing, writeWhole } from "../base/index.js";
import type { Model, Usage } from "../model/index.js";
import { exportConversation } from "../talk/index.js";
import { type Conversation, openConversation, type TurnEnd } from "../turn/index.js";
import type { RunItem } from "./manifest.js";
import type { EpisodeEnd, EpisodeResult, Outcome, ToolCount } from "./outcome.js";
import { scoreOf } from "./score.js";

const AGAIN_MS = 100;
const NO_USAGE: Usage = { input: 0, output: 0 };

export interface EpisodeOptions {
	readonly item: RunItem;
	/** The name of its task: no other attempt has it. */
	readonly name: string;
	/** Where its files go, and where its shell starts: both are made. */
	readonly folder: string;
	readonly work: string;
	readonly home: AgentHome;
	readonly config: AgentConfig;
	readonly model: Model;
	readonly runtime: Runtime;
	readonly keys: KeyRing;
	readonly seconds: number;
	/** Ends it: the run is being stopped. */
	readonly signal: AbortSignal;
}

/** Never rejects for what an episode can do: that is in its outcome. */
export async function runEpisode(options: EpisodeOptions): Promise<EpisodeResult> {
	const began = Date.now();
	fs.mkdirSync(options.folder, { recursive: true, mode: 0o700 });
	fs.mkdirSync(options.work, { recursive: true, mode: 0o700 });
	const played = await play(options).catch(
		(error: unknown): Played => ({ outcome: failure("runner", error, false), conversation: null, usage: NO_USAGE, tools: [] }),
	);
	const { gone, ended } = await endOf(options);
	return { ...played, seconds: Math.round((Date.now() - began) / 100) / 10, ended, gone };
}

type Played = Pick<EpisodeResult, "outcome" | "conversation" | "usage" | "tools">;

async function play(options: EpisodeOptions): Promise<Played> {
	const { item, name, home, config, model, runtime, keys, work } = options;
	const place = placeOf(config.place, item.row.image);
	const conversation = await openConversation({
		...{ home, model, runtime, keys, cwd: item.row.cwd ?? work },
		config: { ...config, ...(place === undefined ? {} : { place }) },
		door: { name: "run", kind: "run", nobody: () => "this is a run without a person" },
		begin: { task: name },
		...(item.row.toolsets ? { toolsets: item.row.toolsets } : {}),
		resume: false,
	});
	try {
		const end = await answered(conversation, options);
		const outcome = "kind" in end ? end : await scored(conversation.task, item, end.end);
		const counts = [...conversation.statistics].map(([tool, { calls, failed }]): ToolCount => ({ tool, count: calls, failure: failed }));
		const trajectory = exportConversation(conversation.log.entries, "openai", (text) => keys.redact(text));
		writeWhole(path.join(options.folder, "trajectory.json"), `${JSON.stringify(trajectory)}\n`);
		return { outcome, conversation: conversation.id, usage: end.usage, tools: counts };
	} finally {
		await conversation.close();
	}
}

/** The agent is done, or was stopped: nothing of its foreground runs any more when this resolves. */
async function answered(
	conversation: Conversation,
	{ item, seconds, signal }: EpisodeOptions,
): Promise<({ readonly end: EpisodeEnd } | Outcome) & { usage: Usage }> {
	const idle = new AbortController();
	const stop = () => void stopped(conversation, idle.signal);
	let late = false;
	const deadline = setTimeout(() => {
		late = true;
		stop();
	}, seconds * 1_000);
	signal.addEventListener("abort", stop, { once: true });
	try {
		await conversation.send(item.row.prompt, { platform: "run", person: "run" }, { mode: "queue" });
		const last = await conversation.idle();
		const usage = last?.usage ?? NO_USAGE;
		if (signal.aborted) return { ...failure("runner", new Error("the run was stopped"), true), usage };
		if (late) return { end: "deadline", usage };
		if (!last) return { ...failure("runner", new Error("no turn was made"), true), usage };
		const how = ENDS[last.why];
		return typeof how === "string" ? { end: how, usage } : { ...failure(how.of, new Error(last.text), how.again), usage };
	} finally {
		clearTimeout(deadline);
		signal.removeEventListener("abort", stop);
		idle.abort();
	}
}

/** A turn that is only about to begin cannot be interrupted yet: so it is done until nothing is under way. */
async function stopped(conversation: Conversation, idle: AbortSignal): Promise<void> {
	while (!idle.aborted) {
		await conversation.interrupt();
		await sleep(AGAIN_MS, undefined, { signal: idle }).catch(() => {}); // idle: the loop ends
	}
}

/** What each end of a turn means for an episode: an end that is scored, or whose failure it is and whether another attempt may help. */
const ENDS: Readonly<Record<TurnEnd, EpisodeEnd | { readonly of: "model" | "runner"; readonly again: boolean }>> = {
	answered: "finished",
	steps: "turns",
	loop: "stopped",
	empty: "stopped",
	too_long: "too_long",
	approval: "stopped",
	interrupted: "stopped",
	model: { of: "model", again: true },
	disk: { of: "runner", again: false },
	crashes: { of: "runner", again: false },
	left: { of: "runner", again: true },
	error: { of: "runner", again: false },
};

async function scored(task: Task, { row }: RunItem, end: EpisodeEnd): Promise<Outcome> {
	try {
		const reward = await scoreOf(task, row);
		return reward === undefined ? { kind: "recorded", end } : { kind: "scored", reward, end };
	} catch (error) {
		return failure("scorer", error, true);
	}
}

/** Ends whatever the attempt has left, and says what that was. */
async function endOf({ runtime, name }: Pick<EpisodeOptions, "runtime" | "name">): Promise<{ gone: boolean; ended: string[] }> {
	const report = await runtime.endTask(name);
	return { gone: report.gone, ended: endedLines(report) };
}

export function endedLines({ processes, shells, sandboxes }: EndedTask): string[] {
	const lines = processes.map(({ session_id, status, command }) => `${session_id} ${status}: ${command.slice(0, 120)}`);
	if (shells > 0) lines.push(`${shells} shell${shells === 1 ? "" : "s"}`);
	return [...lines, ...sandboxes.map(({ id, kind }) => `${kind} ${id}`)];
}

function failure(of: "model" | "scorer" | "runner", error: unknown, again: boolean): Outcome {
	const words = error instanceof Error ? error.message : String(error);
	return { kind: "error", of, words: words.slice(0, 1_000), again };
}

/** An item with an image of its own runs in a container of it. */
function placeOf(place: AgentConfig["place"], image: string | undefined): PlaceObject | undefined {
	if (image === undefined) return undefined;
	const settings = typeof place === "object" && place.kind === "docker" ? place : { kind: "docker" };
	return { ...settings, image } as PlaceObject;
}
