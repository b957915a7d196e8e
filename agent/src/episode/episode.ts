/**
 * One attempt at one item, in this order: the place and which one it is; the environment's start; the agent under its deadline; the stop, with what it was doing
 * killed and what it left in the background listed; the same place still?; the score; the end of the task with everything that it owns; the proof.
 */
import fs from "node:fs";
import path from "node:path";
import { type EndedTask, HoldfastError, type PlaceObject, type Runtime, type Task } from "holdfast";
import { fromSystem, writeWhole } from "../base/index.js";
import { TASK_LIMITS } from "../tools/index.js";
import { type Box, type ToolContext, toolContext } from "./context.js";
import { type EpisodeEnd, EpisodeError, type EpisodeFailure, type EpisodeResult, failureOf, type Outcome, type Score } from "./outcome.js";
import type { Acted, Actor, Environment, EpisodeAgent, Setting } from "./seam.js";

const SLACK_SECONDS = 120; // for starting, stopping and moving files
const NOTHING_DONE: Acted = { conversation: null, usage: { input: 0, output: 0 }, tools: [] };

export interface EpisodeOptions {
	/** The name of its task: no other attempt has it. */
	readonly name: string;
	/** The directories of its files, and of its shell on this machine: both are made. */
	readonly folder: string;
	readonly work: string;
	readonly environment: Environment;
	readonly agent: EpisodeAgent;
	readonly runtime: Runtime;
	/** The place of the run. */
	readonly place: string | PlaceObject;
	/** The agent's time at most. */
	readonly seconds: number;
	/** Ends it: the run is being stopped. */
	readonly signal: AbortSignal;
}

/** Never rejects for what an episode can do: that is in its outcome. */
export async function runEpisode(options: EpisodeOptions): Promise<EpisodeResult> {
	const began = Date.now();
	const attempt = new Attempt(options);
	let outcome = await attempt.play().catch((error: unknown): Outcome => failed("runner", error));
	const report = await endEpisode(options.runtime, options.name).catch((error: unknown): EndedTask => {
		if (outcome.kind !== "error") outcome = failed("place", error);
		return { task: options.name, gone: false, shells: 0, processes: [], sandboxes: [], notes: [error instanceof Error ? error.message : String(error)] };
	});
	await attempt.close().catch(() => {}); // as above: what of it is left, `gone` has said
	if (options.signal.aborted && outcome.kind !== "error") outcome = stopped();
	const ended = endedLines(report);
	const proof = { task: options.name, gone: report.gone, ended, notes: report.notes, box: attempt.box ?? null, stopped: attempt.stopped, left: attempt.left };
	try {
		writeWhole(path.join(options.folder, "proof.json"), `${JSON.stringify(proof, null, "\t")}\n`);
	} catch (error) {
		if (outcome.kind !== "error") outcome = failed("runner", error);
	}
	return { outcome, ...attempt.acted, seconds: Math.round((Date.now() - began) / 100) / 10, ended, gone: report.gone };
}

class Attempt {
	readonly #options: EpisodeOptions;
	readonly #tasks: Task[] = [];
	box: Box | undefined;
	acted: Acted = NOTHING_DONE;
	/** Processes killed when the agent was stopped, and those that it left in the background. */
	readonly stopped: string[] = [];
	readonly left: string[] = [];

	constructor(options: EpisodeOptions) {
		this.#options = options;
	}

	async play(): Promise<Outcome> {
		const { environment, runtime, name, place, work, folder, signal, seconds } = this.#options;
		try {
			for (const dir of [folder, work]) fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
			const setting = await environment.place({ place, work, folder, runtime, signal });
			const time = Math.ceil(seconds + environment.scoreSeconds + SLACK_SECONDS);
			const over = Date.now() + time * 1_000;
			const open = async (taskName: string, at: Setting): Promise<ToolContext> => {
				const beside = async (other: Setting): Promise<ToolContext> => {
					await runtime.endTask(besideName(name)); // of an earlier round
					return open(besideName(name), other);
				};
				return toolContext({ task: this.#open(taskName, at, time), setting: at, folder, over, runtime, signal, beside });
			};
			const cx = await open(name, setting);
			this.box = await cx.box();
			return await this.#rounds(cx, setting);
		} catch (error) {
			return failed("place", error);
		}
	}

	/** Lets go of its tasks, once they have been ended. */
	async close(): Promise<void> {
		for (const task of this.#tasks.splice(0)) await task.close();
	}

	#open(name: string, setting: Setting, time: number): Task {
		const task = this.#options.runtime.task(name, {
			...{ place: setting.place, limits: TASK_LIMITS, env: { HOLDFAST_SESSION: this.#options.name, ...setting.env } },
			...(setting.hands === undefined ? {} : { user: setting.hands }),
			...(setting.cwd === undefined ? {} : { cwd: setting.cwd }),
			...(setting.mask === undefined ? {} : { mask: setting.mask }),
			resourceLimits: { process: { time } }, // holds with no program of ours alive
		});
		this.#tasks.push(task);
		return task;
	}

	async #rounds(cx: ToolContext, setting: Setting): Promise<Outcome> {
		const { environment, agent, runtime, folder } = this.#options;
		const scores: Score[] = [];
		let actor: Actor | undefined;
		let end: EpisodeEnd = "finished";
		try {
			for (let round = 0; round < environment.rounds; round++) {
				const begun = await environment.start(cx, round).catch((error: unknown) => Promise.reject(typed("environment", "setup", error)));
				actor ??= await agent.enter({ cx, environment, setting, runtime, folder }, begun);
				end = await this.#act(cx, actor, begun, round);
				await this.#same(cx);
				const judged = await environment.score(cx, round).catch((error: unknown) => Promise.reject(typed("scorer", "failed", error)));
				await this.#same(cx); // its tests may have ended it
				if (judged.score) scores.push(judged.score);
				if (judged.over !== undefined) break;
			}
		} catch (error) {
			return failed("runner", error);
		} finally {
			if (actor) this.acted = await actor.leave();
		}
		const score = environment.total && scores.length > 0 ? environment.total(scores) : scores.at(-1);
		return score ? { kind: "scored", score, end } : { kind: "recorded", end };
	}

	async #act(cx: ToolContext, actor: Actor, begun: Parameters<Actor["act"]>[0], round: number): Promise<EpisodeEnd> {
		const { seconds, signal } = this.#options;
		const late = AbortSignal.timeout(Math.min(seconds, begun.seconds ?? Number.POSITIVE_INFINITY) * 1_000);
		const foreground = (): string[] => cx.processes().flatMap(({ id, pid, spec }) => [`${id} ${pid ?? "?"} ${spec.command.slice(0, 120)}`]);
		let running: string[] = [];
		const note = (): void => {
			running = foreground();
		};
		late.addEventListener("abort", note, { once: true });
		const end = await actor.act(begun, round, AbortSignal.any([late, signal]));
		late.removeEventListener("abort", note);
		if (signal.aborted) throw new EpisodeError("runner", "stopped", "the run was stopped", { again: true });
		const after = new Set(foreground());
		this.left.splice(0, this.left.length, ...after);
		this.stopped.push(...running.filter((line) => !after.has(line)));
		return late.aborted ? "deadline" : end;
	}

	/** A score from another container than the one that the agent worked in would be about nothing. */
	async #same(cx: ToolContext): Promise<void> {
		if (this.box === undefined) return;
		// The look that meets the change may fail of it; a look changes nothing, and the next one says what is there.
		const now = await cx.box().catch(() => cx.box());
		if (now?.id === this.box.id && now.since === this.box.since) return;
		const what = now?.id === this.box.id ? "was started again" : "is gone; another one was made";
		throw new EpisodeError("place", "replaced", `the ${this.box.id} that the agent worked in ${what}, so there is nothing to score`, { again: true });
	}
}

/** Gives an error of a step a type, if it has no better one. */
function typed(of: "environment" | "scorer", code: "setup" | "failed", error: unknown): unknown {
	if (error instanceof EpisodeError || (error instanceof HoldfastError && UNREACHED.includes(error.code))) return error;
	const words = error instanceof Error ? error.message : String(error);
	return of === "environment" && code === "setup"
		? new EpisodeError("environment", code, words, { again: true, cause: error })
		: new EpisodeError("scorer", "failed", words, { cause: error });
}

const UNREACHED: readonly string[] = ["UNREACHABLE", "PENDING", "LOST"];

function failed(of: "place" | "runner", error: unknown): EpisodeFailure {
	if (error instanceof EpisodeError) return failureOf(error);
	const words = error instanceof Error ? error.message : String(error);
	if (fromSystem(error, "").code === "NO_SPACE") return failureOf(new EpisodeError("runner", "disk", words, { again: true })); // it starts when there is room
	if (error instanceof HoldfastError || of === "place") return failureOf(new EpisodeError("place", "unavailable", words, { again: true }));
	return failureOf(new EpisodeError("runner", "failed", words));
}

const stopped = (): EpisodeFailure => failureOf(new EpisodeError("runner", "stopped", "the run was stopped", { again: true }));

/** A second task of an episode: where its tests run, if not beside the agent. */
const besideName = (name: string): string => `${name}/tests`;

/** Ends all that belongs to an episode, whichever program has begun it. */
export async function endEpisode(runtime: Runtime, name: string): Promise<EndedTask> {
	const [own, beside] = await Promise.all([runtime.endTask(name), runtime.endTask(besideName(name))]);
	return {
		...{ task: name, gone: own.gone && beside.gone, shells: own.shells + beside.shells, notes: [...own.notes, ...beside.notes] },
		...{ processes: [...own.processes, ...beside.processes], sandboxes: [...own.sandboxes, ...beside.sandboxes] },
	};
}

export function endedLines({ processes, shells, sandboxes }: EndedTask): string[] {
	const lines = processes.map(({ session_id, status, command }) => `${session_id} ${status}: ${command.slice(0, 120)}`);
	if (shells > 0) lines.push(`${shells} shell${shells === 1 ? "" : "s"}`);
	return [...lines, ...sandboxes.map(({ id, kind }) => `${kind} ${id}`)];
}
