/** The judge of commands, loaded with the first of them, since the rules take a moment to load. */
import { type Home, lazy } from "../base/index.js";
import type { Judge } from "../policy/index.js";

const loadJudge = lazy(() => import("../policy/index.js"));

export class LazyJudge {
	readonly #home: Home;
	#judge: Promise<Judge> | undefined;

	constructor(home: Home) {
		this.#home = home;
	}

	/** Returns the judge once it is ready for this command. */
	async for(command: string): Promise<Judge> {
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
