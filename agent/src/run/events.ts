/** The options of a runner, and the events that it tells while it runs. */
import type { Runtime } from "holdfast";
import type { AgentHome } from "../base/index.js";
import type { EpisodeAgent, EpisodeResult, Outcome } from "../episode/index.js";
import type { AdmissionOptions } from "./admission.js";
import type { RunItem, RunManifest } from "./manifest.js";
import type { Proof } from "./proof.js";

export interface RunnerOptions {
	readonly dir: string;
	readonly manifest: RunManifest;
	readonly items: readonly RunItem[];
	/** The actor in the episodes. */
	readonly agent: EpisodeAgent;
	/** The home of its conversations: `talk` in the run. */
	readonly talk: AgentHome;
	/** Until a person sets another (requests.ts). */
	readonly concurrency: number;
	/** Before the first retry; each further one waits twice as long. */
	readonly retryMs?: number;
	readonly admission?: Partial<Omit<AdmissionOptions, "dir">>;
	/** Only what people have asked for: no episode is begun but those that they want again. */
	readonly only?: "requests";
	/** Further items come one by one: `ready` is called with what takes them, and the run is not over before `over` aborts. */
	readonly more?: { readonly ready: (add: (item: RunItem) => void) => void; readonly over: AbortSignal };
	/** Called with the runtime of the run's home once it is open. */
	readonly opened?: (runtime: Runtime) => void;
	/** Stops the run: what is under way is ended, and nothing of it has a result. */
	readonly signal: AbortSignal;
	readonly tell: (event: RunEvent) => void;
}

interface OfAttempt {
	readonly index: number;
	readonly attempt: number;
}

export type RunEvent =
	/** A killed program had left it. */
	| (OfAttempt & { readonly type: "recovered"; readonly ended: readonly string[] })
	| (OfAttempt & { readonly type: "start"; readonly key: string; readonly task: string; readonly place: string })
	/** `again`: it failed outside of the model's hands, and is tried again. */
	| (OfAttempt & { readonly type: "result"; readonly key: string; readonly again: boolean } & EpisodeResult)
	/** The run was stopped while it was under way. */
	| (OfAttempt & { readonly type: "stopped"; readonly ended: readonly string[]; readonly gone: boolean })
	| (OfAttempt & { readonly type: "requeued" })
	| (OfAttempt & { readonly type: "rescored"; readonly outcome: Outcome; readonly before: Outcome; readonly problem?: string })
	| { readonly type: "paused" | "continued" }
	| { readonly type: "concurrency"; readonly concurrency: number }
	/** Nothing starts now, for this reason; what runs goes on. `room`: it does again. */
	| { readonly type: "held"; readonly why: string }
	| { readonly type: "room" }
	| { readonly type: "note"; readonly text: string }
	| { readonly type: "proof"; readonly proof: Proof };
