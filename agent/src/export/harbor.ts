/** A run as the folder of a job of Harbor, for its viewer and uploaders: a folder for each episode with its result, its trajectory and what the verifier left. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { AgentError, ensureDir, fromSystem, namesIn } from "../base/index.js";
import { atifOf, VERSION } from "./atif.js";
import { type ExportedEpisode, endOf, type RunToExport } from "./episode.js";

type Json = Readonly<Record<string, unknown>>;

/** Harbor's names of these failures; its viewer groups by them. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
	"scorer reward_missing": "RewardFileNotFoundError",
	"scorer reward_empty": "RewardFileEmptyError",
	"scorer reward_invalid": "VerifierOutputParseError",
	"scorer timeout": "VerifierTimeoutError",
	"environment build_timeout": "EnvironmentStartTimeoutError",
	"environment healthcheck": "HealthcheckError",
};

export class HarborJob {
	readonly #dir: string;
	readonly #run: RunToExport;
	readonly #redact: (text: string) => string;
	readonly #trials: Trial[] = [];

	/** Throws `INVALID` if something is in the folder already: two jobs are not mixed. */
	constructor(dir: string, run: RunToExport, redact: (text: string) => string) {
		if (namesIn(dir).length > 0) throw new AgentError("INVALID", `${dir} is not empty; give a new folder for the job`);
		this.#dir = dir;
		this.#run = run;
		this.#redact = redact;
		ensureDir(dir);
	}

	add(episode: ExportedEpisode): void {
		const trial = trialOf(episode, this.#dir, this.#run);
		const folder = path.join(this.#dir, trial.name);
		try {
			for (const name of ["agent", "verifier", "artifacts"]) ensureDir(path.join(folder, name));
			for (const name of ["verifier", "artifacts", "steps", "agent"]) copied(path.join(episode.folder, name), path.join(folder, name));
			this.#put(path.join(folder, "config.json"), trial.config);
			this.#put(path.join(folder, "result.json"), trial.result);
			this.#put(path.join(folder, "agent", "trajectory.json"), atifOf(episode));
			if (trial.exception)
				fs.writeFileSync(path.join(folder, "exception.txt"), this.#redact(`${trial.exception.exception_type}: ${trial.exception.exception_message}\n`));
			if (episode.reward !== undefined && !rewarded(path.join(folder, "verifier")))
				fs.writeFileSync(path.join(folder, "verifier", "reward.txt"), `${episode.reward}\n`);
			this.#put(path.join(folder, "artifacts", "manifest.json"), artifactsIn(path.join(folder, "artifacts")));
			fs.writeFileSync(
				path.join(folder, "trial.log"),
				`episode ${episode.id} of Holdfast, ${trial.started} to ${trial.finished}: ${episode.result.outcome.kind}\n`,
			);
		} catch (error) {
			throw fromSystem(error, `cannot write ${folder}`);
		}
		this.#trials.push(trial);
	}

	/** The files of the job itself, when all trials are there. */
	end(): void {
		const { manifest } = this.#run;
		const [trials, dir] = [this.#trials, this.#dir];
		const all = { n_concurrent_trials: 4, retry: { max_retries: 0 } };
		this.#put(path.join(dir, "config.json"), {
			...{ job_name: path.basename(dir), jobs_dir: path.dirname(dir), n_attempts: manifest.repeats, ...all },
			...{ agents: [agentConfig(this.#run)], environment: {}, datasets: [], tasks: uniqueTasks(trials) },
		});
		this.#put(path.join(dir, "lock.json"), {
			...{ schema_version: 1, created_at: manifest.created_at, harbor: {}, ...all },
			trials: trials.map(({ config, lock }) => ({ task: lock, agent: config.agent, environment: {}, verifier: {} })),
		});
		this.#put(path.join(dir, "result.json"), jobResult(this.#run, trials));
		fs.writeFileSync(path.join(dir, "job.log"), `run ${manifest.id} of Holdfast ${VERSION}: ${trials.length} of ${this.#run.items.length} episodes\n`);
	}

	#put(file: string, value: unknown): void {
		fs.writeFileSync(file, `${this.#redact(JSON.stringify(value, null, 4))}\n`, { mode: 0o600 });
	}
}

interface Trial {
	readonly name: string;
	readonly started: string;
	readonly finished: string;
	readonly config: Json;
	readonly lock: Json;
	readonly result: Json;
	readonly exception: { readonly exception_type: string; readonly exception_message: string } | undefined;
	readonly rewards: Readonly<Record<string, number>> | undefined;
}

function trialOf(episode: ExportedEpisode, dir: string, run: RunToExport): Trial {
	const { item, result, manifest } = episode;
	const { usage, outcome, seconds } = result;
	const [task] = [item.kind === "harbor" ? item.task.name : item.key];
	const hash = createHash("sha256").update(episode.id).digest("hex");
	const name = `${
		(task.split("/").at(-1) ?? task)
			.replace(/[^\w.-]/g, "_")
			.slice(0, 32)
			.replace(/[_-]+$/, "") || "task"
	}__${hash.slice(0, 7)}`;
	const finished = result.at;
	const started = new Date(Date.parse(finished) - seconds * 1_000).toISOString();
	const where = { path: item.kind === "harbor" ? item.task.folder : `${manifest.source}#${item.key}` };
	const rewards = outcome.kind === "scored" ? { reward: outcome.score.reward, ...outcome.score.parts } : undefined;
	const source = path.basename(manifest.source);
	const config = {
		task: { ...where, source },
		trial_name: name,
		trials_dir: dir,
		agent: agentConfig(run),
		environment: {},
		verifier: {},
		job_id: idOf(manifest.id),
	};
	const exception = exceptionOf(episode);
	return {
		...{ name, started, finished, config, exception, rewards },
		lock: { name: task, type: "local", digest: `sha256:${item.digest}`, source, ...where },
		result: {
			...{
				id: idOf(episode.id),
				task_name: task,
				trial_name: name,
				trial_uri: `file://${path.join(dir, name)}`,
				task_id: where,
				source,
				task_checksum: item.digest,
				config,
			},
			agent_info: {
				name: "holdfast-agent",
				version: VERSION,
				model_info: manifest.model === "" ? null : { name: manifest.model, provider: manifest.endpoint },
			},
			agent_result: {
				...{
					n_input_tokens: usage.input,
					n_cache_tokens: usage.cached ?? null,
					n_output_tokens: usage.output,
					cost_usd: usage.cost ?? null,
					rollout_details: null,
				},
				metadata: { episode: episode.id, index: item.index, repeat: item.repeat, attempt: result.attempt, end: endOf(episode) },
			},
			verifier_result: rewards ? { rewards } : null,
			exception_info: exception ? { ...exception, exception_traceback: "", occurred_at: finished } : null,
			...{
				started_at: started,
				finished_at: finished,
				environment_setup: null,
				agent_setup: null,
				agent_execution: { started_at: started, finished_at: finished },
				verifier: null,
			},
		},
	};
}

function exceptionOf(episode: ExportedEpisode): Trial["exception"] {
	const { outcome } = episode.result;
	if (outcome.kind === "error")
		return {
			exception_type: EXCEPTIONS[`${outcome.of} ${outcome.code}`] ?? `Holdfast${outcome.of[0]?.toUpperCase()}${outcome.of.slice(1)}Error`,
			exception_message: outcome.words,
		};
	return outcome.end === "deadline"
		? { exception_type: "AgentTimeoutError", exception_message: "the agent was stopped at its deadline, and scored" }
		: undefined;
}

const agentConfig = ({ manifest }: RunToExport): Json => ({
	name: manifest.agent === "model" ? "holdfast-agent" : manifest.agent,
	model_name: manifest.model || null,
});

function jobResult({ manifest, items }: RunToExport, trials: readonly Trial[]): Json {
	const times = trials.flatMap(({ started, finished }) => [started, finished]).sort();
	const rewards = new Map<string, Map<number, string[]>>();
	const exceptions = new Map<string, string[]>();
	for (const trial of trials) {
		for (const [key, value] of Object.entries(trial.rewards ?? {}))
			put(
				group(rewards, key, () => new Map<number, string[]>()),
				value,
				trial.name,
			);
		if (trial.exception) put(exceptions, trial.exception.exception_type, trial.name);
	}
	const scored = trials.flatMap((trial) => (trial.rewards ? [trial.rewards.reward ?? 0] : []));
	const errors = trials.filter(({ rewards: own }) => !own).length;
	const evaluation = {
		...{ n_trials: scored.length, n_errors: errors, metrics: scored.length === 0 ? [] : [{ mean: scored.reduce((sum, one) => sum + one, 0) / scored.length }] },
		reward_stats: Object.fromEntries([...rewards].map(([key, values]) => [key, Object.fromEntries(values)])),
		exception_stats: Object.fromEntries(exceptions),
	};
	const name = ["holdfast-agent", manifest.model, path.basename(manifest.source)].filter(Boolean).join("__");
	return {
		...{ id: idOf(manifest.id), started_at: times[0] ?? manifest.created_at, finished_at: times.at(-1) ?? null, n_total_trials: items.length },
		stats: { n_trials: trials.length, n_errors: errors, evals: { [name]: evaluation } },
	};
}

function group<K, V>(map: Map<K, V>, key: K, make: () => V): V {
	const there = map.get(key) ?? make();
	map.set(key, there);
	return there;
}
const put = <K>(map: Map<K, string[]>, key: K, value: string): void => void group(map, key, () => []).push(value);

const uniqueTasks = (trials: readonly Trial[]): unknown[] => [...new Map(trials.map(({ config }) => [JSON.stringify(config.task), config.task])).values()];

/** Always the same for the same thing: a job that is exported again has the same ids. */
function idOf(name: string): string {
	const hex = createHash("sha256").update(name).digest("hex");
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function copied(from: string, to: string): void {
	if (fs.existsSync(from)) fs.cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

const rewarded = (dir: string): boolean => namesIn(dir).some((name) => name === "reward.txt" || name === "reward.json");

const artifactsIn = (dir: string): unknown[] =>
	namesIn(dir)
		.filter((name) => name !== "manifest.json")
		.map((name) => ({
			source: `/logs/artifacts/${name}`,
			destination: `artifacts/${name}`,
			type: fs.statSync(path.join(dir, name)).isDirectory() ? "directory" : "file",
			status: "ok",
		}));
