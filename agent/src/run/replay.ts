/**
 * Plays an attempt again in a fresh place, with what the model had answered, and compares what the tools gave back: the first difference is where the task, or
 * its place, does not do the same twice. What differs between any two attempts (ids, their directory) is not a difference.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "holdfast";
import { AgentError, type AgentHome, ensureDir, openAgentHome } from "../base/index.js";
import { environmentOf } from "../environments/index.js";
import { type EpisodeAgent, type Outcome, runEpisode } from "../episode/index.js";
import { type Model, ModelError } from "../model/index.js";
import { type Entry, Log } from "../talk/index.js";
import { attemptLabel, attemptName, workOf } from "./attempt.js";
import type { RunItem, RunManifest } from "./manifest.js";
import { type RunPlace, resolved } from "./places.js";
import type { ResultRow } from "./rows.js";

export interface ReplayOptions {
	readonly dir: string;
	readonly manifest: RunManifest;
	readonly item: RunItem;
	readonly result: ResultRow;
	readonly place: RunPlace;
	/** Makes the agent that the model acts through, with its conversations in this home. */
	readonly agentFor: (model: Model, talk: AgentHome) => EpisodeAgent;
	readonly signal: AbortSignal;
}

export interface ReplayedCall {
	/** The number of the model's answer, from 1. */
	readonly turn: number;
	readonly tool: string;
	readonly args: string;
	readonly text: string;
	readonly failed: boolean;
}

export interface Replay {
	/** How many calls gave the same. */
	readonly same: number;
	readonly calls: number;
	readonly divergence: { readonly recorded: ReplayedCall; readonly now: ReplayedCall | undefined } | undefined;
	readonly before: Outcome;
	readonly now: Outcome;
	/** sha256 of all results, in their order. */
	readonly digest: string;
}

export async function replayAttempt({ dir, manifest, item, result, place, agentFor, signal }: ReplayOptions): Promise<Replay> {
	if (result.conversation === null) throw new AgentError("INVALID", `episode ${item.index} has no conversation, so there is nothing to replay`);
	const name = attemptLabel(item.index, result.attempt);
	const folder = path.join(dir, "replays", name);
	const [work, home] = [path.join(folder, "work"), path.join(folder, "home")];
	fs.rmSync(folder, { recursive: true, force: true });
	for (const made of [work, home]) ensureDir(made);
	const recorded = Log.read(openAgentHome(path.join(dir, "talk")), result.conversation).entries;
	const talk = openAgentHome(path.join(folder, "talk"));
	await using runtime = await openRuntime({ home, warm: 0 });
	const task = `${attemptName(manifest, item.index, result.attempt)}/replay`;
	const at = resolved(place, (given) => runtime.resolvePlace(given));
	const played = await runEpisode({
		...{ name: task, folder: path.join(folder, "episode"), work, runtime, seconds: manifest.seconds, signal },
		...{ environment: environmentOf(item), place: at, agent: agentFor(recordedModel(recorded, manifest.model), talk) },
	});
	if (signal.aborted) throw new AgentError("ABORTED", "the replay was stopped; what it had begun is ended");
	const now = played.conversation === null ? [] : Log.read(talk, played.conversation).entries;
	const before = plainCalls(recorded, workOf(dir, item.index, result.attempt));
	const after = plainCalls(now, work);
	const differs = before.findIndex((call, index) => !isSame(call, after[index]));
	const divergence = differs < 0 ? undefined : { recorded: before[differs] as ReplayedCall, now: after[differs] };
	const digest = createHash("sha256").update(JSON.stringify(after)).digest("hex");
	return { same: differs < 0 ? before.length : differs, calls: before.length, divergence, before: result.outcome, now: played.outcome, digest };
}

/** Says what was recorded, answer by answer. */
function recordedModel(entries: readonly Entry[], name: string): Model {
	const answers = entries.flatMap((entry) => (entry.t === "assistant" ? [entry] : []));
	let at = 0;
	return {
		name,
		format: "chat",
		window: { tokens: 100_000_000, from: "config" }, // nothing is shortened by itself
		// biome-ignore lint/correctness/useYield: a recording shows nothing while it arrives
		async *ask() {
			const answer = answers[at++];
			if (!answer) throw new ModelError("wrong", "the recording has no more answers: the attempt had ended here");
			const { text, calls, stop, model } = answer;
			return { text, reasoning: [], calls, stop, model, usage: { input: 0, output: 0 } };
		},
	};
}

const isSame = (one: ReplayedCall, other: ReplayedCall | undefined): boolean => other !== undefined && one.text === other.text && one.failed === other.failed;

/** The calls with what they gave back, without ids and the attempt's own directory. */
function plainCalls(entries: readonly Entry[], work: string): ReplayedCall[] {
	const calls = new Map<string, { turn: number; name: string; args: string }>();
	const ids = new Map<string, string>();
	const plain = (text: string): string =>
		text
			.replaceAll(work, "WORK")
			.replace(/\bproc_[0-9a-f]{12}\b/g, (id) => ids.get(id) ?? (ids.set(id, `proc_${ids.size + 1}`).get(id) as string))
			.replace(/\b\d+(?:\.\d+)? ?(?:ms|s)\b/g, "TIME");
	let turn = 0;
	const found: ReplayedCall[] = [];
	for (const entry of entries) {
		if (entry.t === "assistant") {
			turn++;
			for (const { id, name, args } of entry.calls) calls.set(id, { turn, name, args });
		}
		if (entry.t !== "result") continue;
		const call = calls.get(entry.call);
		if (call) found.push({ turn: call.turn, tool: call.name, args: call.args, text: plain(entry.text), failed: entry.failed });
	}
	return found;
}
