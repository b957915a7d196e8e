/** The gate that every command of an agent passes before it runs. Opened with the first command, since the rules take a moment to load. */
import { type Home, lazy } from "../base/index.js";
import type { Judge } from "../policy/index.js";

const loadJudge = lazy(() => import("../policy/index.js"));

export class Gate {
	readonly #home: Home;
	#judge: Promise<Judge> | undefined;

	constructor(home: Home) {
		this.#home = home;
	}

	/** Returns it when it can judge this command. */
	async judge(command: string): Promise<Judge> {
		this.#judge ??= this.#open();
		const judge = await this.#judge;
		await judge.ready(command);
		return judge;
	}

	async #open(): Promise<Judge> {
		try {
			const { Judge } = await loadJudge();
			const { HOME, XDG_CONFIG_HOME } = process.env;
			return new Judge({ HOME, XDG_CONFIG_HOME, HOLDFAST_HOME: this.#home.root });
		} catch (error) {
			this.#judge = undefined; // the next call retries
			throw error;
		}
	}
}
