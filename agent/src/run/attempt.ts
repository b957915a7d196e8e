/** One attempt as the runner makes it: its names and folders, and who plays it. */
import fs from "node:fs";
import path from "node:path";
import type { Runtime } from "holdfast";
import { type AgentHome, anySignal } from "../base/index.js";
import { agentNamed, environmentOf } from "../environments/index.js";
import { type EpisodeAgent, type EpisodeResult, isLocal, type Outcome, runEpisode } from "../episode/index.js";
import type { Usage } from "../model/index.js";
import { Log, lastSession } from "../talk/index.js";
import { addUsage } from "../turn/index.js";
import type { RunnerOptions } from "./events.js";
import { label, type RunItem, type RunManifest } from "./manifest.js";
import { needsContainer, placeNamed, type RunPlace, resolved } from "./places.js";
import type { ResultRow } from "./rows.js";

export interface AttemptOptions {
	readonly item: RunItem;
	readonly attempt: number;
	readonly task: string;
	readonly place: RunPlace;
	readonly signal: AbortSignal;
	/** Its place is up and prepared: the agent begins there. */
	readonly started: (place: RunPlace) => void;
}

/** The name of its Holdfast task: no other attempt has it. */
export const attemptName = ({ id }: Pick<RunManifest, "id">, index: number, attempt: number): string => `${id}/${attemptLabel(index, attempt)}`;

export const attemptLabel = (index: number, attempt: number): string => `${label(index)}.${attempt}`;

/** Returns the folder of an attempt: trajectory, proof, output of tests. */
export const attemptFolder = (dir: string, index: number, attempt: number): string => path.join(dir, "episodes", attemptLabel(index, attempt));

/** Returns the start directory of its shell on this machine. */
export const workOf = (dir: string, index: number, attempt: number): string => path.join(dir, "work", attemptLabel(index, attempt));

export function playAttempt(
	{ dir, manifest, agent }: RunnerOptions,
	runtime: Runtime,
	{ item, attempt, task, place, signal, started }: AttemptOptions,
): Promise<EpisodeResult> {
	const told: EpisodeAgent = {
		name: agent.name,
		enter: (scene, begun) => {
			started(scene.setting.place);
			return agent.enter(scene, begun);
		},
	};
	return runEpisode({
		...{ name: task, environment: environmentOf(item), agent: told, runtime, place, seconds: manifest.seconds, signal },
		folder: attemptFolder(dir, item.index, attempt),
		work: workOf(dir, item.index, attempt),
	});
}

/** Scores an attempt again from the directory that was kept of it. What cannot be scored again keeps its outcome, and `problem` says why. */
export async function rescoreAttempt(
	{ dir, manifest, signal }: RunnerOptions,
	runtime: Runtime,
	item: RunItem,
	{ attempt, outcome, place: name }: ResultRow,
): Promise<{ readonly outcome: Outcome; readonly problem?: string }> {
	const { index } = item;
	const work = workOf(dir, index, attempt);
	const place = resolved(placeNamed(manifest, name), (given) => runtime.resolvePlace(given));
	if (!isLocal(place) || needsContainer(item) || !fs.existsSync(work))
		return { outcome, problem: "its place is gone, and no directory of it was kept; `requeue` makes it again" };
	const environment = environmentOf(item);
	const { outcome: found } = await runEpisode({
		...{ name: `${attemptName(manifest, index, attempt)}/rescore`, folder: path.join(attemptFolder(dir, index, attempt), "rescore"), work },
		...{ agent: agentNamed("nop"), runtime, place, seconds: manifest.seconds, signal: anySignal([signal]) },
		environment: { ...environment, rounds: 1, start: async () => ({ prompt: "" }), score: (cx) => environment.score(cx, environment.rounds - 1) },
	});
	if (found.kind === "error" && found.of === "runner") return { outcome, problem: found.words };
	if (found.kind === "error" && outcome.kind !== "error") return { outcome, problem: `${found.of}/${found.code}: ${found.words}` };
	return { outcome: found.kind === "error" || outcome.kind === "error" ? found : { ...found, end: outcome.end } };
}

/** Returns the usage of an attempt whose program was killed, as far as its conversation says. */
export function lostUsage(home: AgentHome, task: string): { readonly usage?: Usage } {
	const session = lastSession(home, { task });
	if (!session) return {};
	const used = Log.read(home, session.id).entries.flatMap((entry) => (entry.t === "assistant" && entry.usage ? [entry.usage] : []));
	return used.length === 0 ? {} : { usage: used.reduce(addUsage) };
}
