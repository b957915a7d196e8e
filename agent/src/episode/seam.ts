/** The two seams of an episode: what is to be done and how it is scored (`Environment`), and who does it (`EpisodeAgent`). */
import type { PlaceObject, Runtime } from "holdfast";
import type { Usage } from "../model/index.js";
import type { ToolContext } from "./context.js";
import type { EpisodeEnd, Score, ToolCount } from "./outcome.js";

/** The place of an episode, and its users. */
export interface Setting {
	readonly place: string | PlaceObject;
	/** As which user of its container the agent works; default: the container's. */
	readonly user?: string;
	/** As which user of its container the episode itself works; default: the container's. */
	readonly hands?: string;
	/** The start directory of its shell; default: the place's own. */
	readonly cwd?: string;
	readonly env?: Readonly<Record<string, string>>;
	/** False: the model sees output as it is. Only for a place that is a boundary. */
	readonly mask?: boolean;
}

/** The means of an environment before there is a place: to build an image, for instance. */
export interface Site {
	/** The place of the run. */
	readonly place: string | PlaceObject;
	/** A directory of this machine for the episode's shell, where the place is on this machine. */
	readonly work: string;
	/** For files of the episode. */
	readonly folder: string;
	readonly runtime: Runtime;
	readonly signal: AbortSignal;
}

export interface Begun {
	readonly prompt: string;
	/** In place of the run's. */
	readonly toolsets?: readonly string[];
	/** The agent's time for this round, if less than the run's. */
	readonly seconds?: number;
}

/** A round's score; `over` says why the rounds behind it are not played. */
export interface Judged {
	readonly score: Score | undefined;
	readonly over?: string;
}

export interface Environment {
	/** How often the agent is asked and scored; most have one round. */
	readonly rounds: number;
	/** Says where it is played. Throws `EpisodeError` if it cannot be. */
	place(site: Site): Promise<Setting>;
	/** Puts files in, waits until the place is ready, and says what the agent is asked. */
	start(cx: ToolContext, round: number): Promise<Begun>;
	/** Called when the agent has been stopped, in the same place. Throws if there is no reward; that is never 0. */
	score(cx: ToolContext, round: number): Promise<Judged>;
	/** Makes one score of several rounds' scores. Default: the only one. */
	total?(scores: readonly Score[]): Score;
	/** Does what is asked: the oracle's way. */
	solve?(cx: ToolContext, round: number, signal: AbortSignal): Promise<void>;
	/** Seconds that the tests of this episode may take beside the agent's time. */
	readonly scoreSeconds: number;
}

/** The means of an agent to act. */
export interface Scene {
	readonly cx: ToolContext;
	readonly environment: Environment;
	readonly setting: Setting;
	readonly runtime: Runtime;
	/** For its files. */
	readonly folder: string;
}

/** The actor: our loop, the task's own solution, nothing, or a program in the place. */
export interface EpisodeAgent {
	readonly name: string;
	enter(scene: Scene, begun: Begun): Promise<Actor>;
}

export interface Actor {
	/** Acts until it is done, or the signal aborts. Nothing of its foreground runs when this resolves. */
	act(begun: Begun, round: number, signal: AbortSignal): Promise<EpisodeEnd>;
	/** Lets go. What it did so far is returned also after a failure. */
	leave(): Promise<Acted>;
}

export interface Acted {
	readonly conversation: string | null;
	readonly usage: Usage;
	readonly tools: readonly ToolCount[];
}
