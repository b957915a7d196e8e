/** What is known of the run and of the episode on show; looked at again every second. */
import { signal } from "@preact/signals";
import type { PartHost } from "holdfast/http";
import type { EpisodeView, RunView } from "../../../src/view/messages.js";

const LOOK_MS = 1_000;

export class RunStore {
	readonly run = signal<RunView | undefined>(undefined);
	readonly shown = signal<number | undefined>(undefined);
	/** Which attempt; undefined: the last. */
	readonly attempt = signal<number | undefined>(undefined);
	readonly episode = signal<EpisodeView | undefined>(undefined);
	/** Why nothing new comes. */
	readonly problem = signal<string | undefined>(undefined);
	readonly #host: PartHost<HTMLElement>;
	#timer = 0;
	#stopped = false;

	constructor(host: PartHost<HTMLElement>) {
		this.#host = host;
	}

	start(): () => void {
		const unroute = this.#host.onRoute(([index, attempt]) => {
			const number = (text: string | undefined): number | undefined => (text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined);
			if (number(index) !== this.shown.value || number(attempt) !== this.attempt.value) this.episode.value = undefined;
			this.shown.value = number(index);
			this.attempt.value = number(attempt);
			void this.#look();
		});
		return () => {
			this.#stopped = true;
			unroute();
			clearTimeout(this.#timer);
		};
	}

	async ask(wanted: object): Promise<void> {
		try {
			await this.#host.request("POST", "/requests", { body: wanted });
			this.#host.say("Asked. The program that runs the run does it, or the next one.");
		} catch (error) {
			this.#host.say((error as Error).message, true);
		}
		await this.#look();
	}

	async #look(): Promise<void> {
		clearTimeout(this.#timer);
		try {
			const since = this.run.value?.version ?? "";
			const run = (await (await this.#host.request("GET", `/run?since=${since}`)).json()) as RunView | { readonly same: true };
			if (!("same" in run)) this.run.value = run;
			const [index, attempt] = [this.shown.value, this.attempt.value];
			if (index !== undefined && this.#isWanted()) {
				const query = attempt === undefined ? "" : `?attempt=${attempt}`;
				const episode = (await (await this.#host.request("GET", `/episodes/${index}${query}`)).json()) as EpisodeView;
				if (index === this.shown.value && attempt === this.attempt.value) this.episode.value = episode;
			}
			this.problem.value = undefined;
		} catch (error) {
			this.problem.value = (error as Error).message;
		}
		clearTimeout(this.#timer);
		if (!this.#stopped) this.#timer = window.setTimeout(() => void this.#look(), LOOK_MS);
	}

	/** One that is over stays as it is. */
	#isWanted(): boolean {
		const { episode, run, shown } = this;
		const now = run.value?.cells.find(({ index }) => index === shown.value);
		return !episode.value || episode.value.cell.state === "open" || now?.state !== episode.value.cell.state || now.attempts !== episode.value.cell.attempts;
	}
}
