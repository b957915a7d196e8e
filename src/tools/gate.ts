/** What every command of an agent passes before it runs. Opened with the first command: the parser takes a moment to load. */
import { lazy } from "../base/lazy.js";
import type { Judge } from "../policy/judge.js";
import type { AgentRuntime } from "./runtime.js";

const loadJudge = lazy(() => import("../policy/judge.js"));

export class Gate {
	readonly #runtime: AgentRuntime;
	#judge: Promise<Judge> | undefined;

	constructor(runtime: AgentRuntime) {
		this.#runtime = runtime;
	}

	async judge(): Promise<Judge> {
		this.#judge ??= this.#open();
		const judge = await this.#judge;
		await judge.ready();
		return judge;
	}

	async #open(): Promise<Judge> {
		try {
			const { Judge } = await loadJudge();
			const { HOME, XDG_CONFIG_HOME } = process.env;
			return await Judge.open({ HOME, XDG_CONFIG_HOME, HOLDFAST_HOME: this.#runtime.home.root });
		} catch (error) {
			this.#judge = undefined; // the next call tries again
			throw error;
		}
	}
}
