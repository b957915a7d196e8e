/**
 * Sends the groups of a run to a trainer of Atropos, while the run goes on or afterwards. Nothing that a trainer is sent can be sent again without counting twice:
 * so a row is in `atropos.jsonl` of the run before each request, and a group with a row is never sent again, whatever became of the request.
 */
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, Claim, LineFile, watchFile } from "../../base/index.js";
import { addRequest, isCollected, ledgerFile, readProgress } from "../../run/index.js";
import { openRun, type RunToExport } from "../episode.js";
import { RefusedError, Trainer } from "./client.js";
import { type Group, groupsOf, scoredData } from "./groups.js";

const AGAIN_MS = 1_000; // as often as the trainer's own clients ask
const OFF_POLICY_BATCHES = 3; // so many batches may wait at the trainer

export interface AtroposOptions {
	readonly dir: string;
	readonly url: string;
	/** Longer sequences are not sent. */
	readonly mostTokens: number;
	readonly weight: number;
	readonly signal: AbortSignal;
	readonly tell: (text: string) => void;
}

export interface AtroposCounts {
	readonly sent: number;
	/** By reason. */
	readonly skipped: Readonly<Record<string, number>>;
	/** Sent, and it is not known whether they arrived: they are not sent again. */
	readonly unknown: number;
	readonly refused: number;
}

type Row =
	| { readonly t: "sending"; readonly group: string }
	| { readonly t: "sent" | "unknown" | "refused"; readonly group: string; readonly words: string }
	| { readonly t: "skipped"; readonly group: string; readonly why: string }
	| { readonly t: "paused" | "continued" };

/** Resolves when each group of the run was sent or is counted, or the signal has ended it. */
export async function sendToAtropos(options: AtroposOptions): Promise<AtroposCounts> {
	const run = openRun(options.dir);
	const claim = Claim.take(path.join(options.dir, "atropos.claim"), "atropos");
	if (!(claim instanceof Claim)) throw new AgentError("BUSY", `another program (pid ${claim.pid}) sends this run already; end that one first`);
	let file: LineFile | undefined;
	try {
		file = LineFile.open(path.join(options.dir, "atropos.jsonl"));
		const sender = new Sender(options, run, file);
		await sender.send();
		return sender.counts;
	} finally {
		await file?.close();
		claim.release();
	}
}

class Sender {
	readonly #options: AtroposOptions;
	readonly #run: RunToExport;
	readonly #file: LineFile;
	readonly #trainer: Trainer;
	/** The last row of each group. */
	readonly #rows = new Map<string, Row>();
	#paused = false;

	constructor(options: AtroposOptions, run: RunToExport, file: LineFile) {
		this.#options = options;
		this.#run = run;
		this.#file = file;
		this.#trainer = new Trainer(options.url);
		for (const row of file.values as Row[]) this.#know(row);
	}

	get counts(): AtroposCounts {
		const rows = [...this.#rows.values()];
		const skipped = rows.flatMap((row) => (row.t === "skipped" ? [row.why] : []));
		const of = (...kinds: Row["t"][]): number => rows.filter(({ t }) => kinds.includes(t)).length;
		return {
			sent: of("sent"),
			unknown: of("unknown", "sending"),
			refused: of("refused"),
			skipped: Object.fromEntries([...new Set(skipped)].sort().map((why) => [why, skipped.filter((one) => one === why).length])),
		};
	}

	async send(): Promise<void> {
		const { signal, tell } = this.#options;
		const groups = groupsOf(this.#run);
		const size = Math.max(...groups.map(({ indices }) => indices.length));
		if (size < 2) throw new AgentError("INVALID", "each item of this run was played once, so there is nothing to compare; run it with --repeats 8");
		if (!Number.isInteger(Math.log2(size))) tell(`groups of ${size}: trainers of Atropos want a power of two, else they keep groups back until they fit`);
		for (const [group, row] of this.#rows)
			if (row.t === "sending") tell(`${group}: was being sent when the program was killed; it is not known whether it arrived, and it is not sent again`);
		const env = await this.#register(size);
		if (env === undefined) return;
		try {
			for (let open = groups.filter(({ id }) => !this.#rows.has(id)); open.length > 0 && !signal.aborted; open = open.filter(({ id }) => !this.#rows.has(id))) {
				const { results } = readProgress(this.#options.dir);
				const ready = open.filter(({ indices }) => indices.every((index) => results.has(index)));
				for (const group of ready) if (!signal.aborted) await this.#group({ ...this.#run, results }, group, env, size);
				if (ready.length === 0) await this.#changed();
			}
		} finally {
			if (this.#paused) await this.#continue();
			await this.#trainer
				.ask("POST", "/disconnect-env", { env_id: env })
				.catch((error: unknown) => tell(`the trainer was not told that this is over (${(error as Error).message})`));
		}
	}

	/** Waits until the trainer has started. Undefined: it was stopped before. */
	async #register(group_size: number): Promise<number | undefined> {
		const { signal, tell, mostTokens, weight } = this.#options;
		const body = { max_token_length: mostTokens, desired_name: `holdfast-${this.#run.manifest.id}`, weight, group_size };
		for (let told = false; !signal.aborted; told = true) {
			const answer = await this.#trainer.ask("POST", "/register-env", body, signal).catch((error: unknown) => {
				if (error instanceof RefusedError)
					throw new AgentError("INVALID", `the trainer has refused to register (${error.message}); is it Atropos at ${this.#options.url}?`);
				if (!told) tell(`${this.#options.url} cannot be reached (${(error as Error).message}); trying again`);
				return undefined;
			});
			if (answer?.status === "success" && typeof answer.env_id === "number") return answer.env_id;
			if (answer && !told) tell(`waits: ${String(answer.status)}`);
			await sleep(AGAIN_MS, undefined, { signal }).catch(() => {}); // stopped: the loop ends
		}
		return undefined;
	}

	async #group(run: RunToExport, group: Group, env_id: number, size: number): Promise<void> {
		const { id } = group;
		const data = group.indices.length < size ? "another size" : scoredData(run, group, this.#options.mostTokens);
		if (typeof data === "string") return this.#add({ t: "skipped", group: id, why: data });
		if (!(await this.#room(env_id, size))) return;
		await this.#add({ t: "sending", group: id });
		try {
			const { status } = await this.#trainer.ask("POST", "/scored_data", { ...data, env_id });
			await this.#add({ t: "sent", group: id, words: String(status) });
		} catch (error) {
			const refused = error instanceof RefusedError;
			await this.#add({ t: refused ? "refused" : "unknown", group: id, words: (error as Error).message });
			if (!refused) return this.#options.tell(`${id}: no answer (${(error as Error).message}); it is not known whether it arrived, and it is not sent again`);
			throw forgotten(error);
		}
	}

	/** Waits while enough waits at the trainer: what is made meanwhile would be of an old model, so the run is paused too. False: stopped before there was room. */
	async #room(env_id: number, size: number): Promise<boolean> {
		const { signal, tell, dir } = this.#options;
		let away = false;
		while (!signal.aborted) {
			const asked = await Promise.all([
				this.#trainer.ask("GET", "/info", undefined, signal),
				this.#trainer.ask("GET", "/status-env", { env_id }, signal),
			]).catch((error: unknown) => {
				if (error instanceof RefusedError) throw forgotten(error);
				if (!away && !signal.aborted) tell(`the trainer does not answer (${(error as Error).message}); trying again`);
				away = true;
			});
			if (!asked) {
				await sleep(AGAIN_MS, undefined, { signal }).catch(() => {}); // stopped: the loop ends
				continue;
			}
			const [info, status] = asked;
			const [batch, queued] = [Number(info.batch_size), Number(status.queue_size)];
			if (!(batch > 0) || queued * size < OFF_POLICY_BATCHES * batch) {
				if (this.#paused) await this.#continue();
				return true;
			}
			if (!this.#paused) {
				await this.#add({ t: "paused" }); // first: so it is known whose pause it is
				if (!isCollected(dir)) await addRequest(dir, { do: "pause" });
				const run = isCollected(dir) ? "its workers go on" : "the run is paused";
				tell(`${queued} groups wait at the trainer: nothing is sent until it has taken some; ${run} meanwhile`);
			}
			await sleep(AGAIN_MS, undefined, { signal }).catch(() => {}); // stopped: the loop ends
		}
		return false;
	}

	async #continue(): Promise<void> {
		if (!isCollected(this.#options.dir)) await addRequest(this.#options.dir, { do: "continue" });
		await this.#add({ t: "continued" });
		this.#options.tell("the run goes on");
	}

	/** Resolves at the next row of the run's ledger. */
	#changed(): Promise<void> {
		const { dir, signal } = this.#options;
		return new Promise((resolve) => {
			const over = (): void => {
				end();
				signal.removeEventListener("abort", over);
				resolve();
			};
			const end = watchFile(ledgerFile(dir), over);
			signal.addEventListener("abort", over);
			if (signal.aborted) over();
		});
	}

	async #add(row: Row): Promise<void> {
		await this.#file.append([row], { sync: true });
		this.#know(row);
	}

	#know(row: Row): void {
		if ("group" in row) this.#rows.set(row.group, row);
		else this.#paused = row.t === "paused";
	}
}

const forgotten = (error: RefusedError): AgentError =>
	new AgentError("INVALID", `the trainer has refused (${error.message}); it may have been started anew: begin again, and what was not sent yet is sent`);
