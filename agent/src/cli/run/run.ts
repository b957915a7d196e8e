/** `run` and `resume`: episodes until each has its result. */
import fs from "node:fs";
import path from "node:path";
import { AgentError, isoTime, KeyRing, loadAgentConfig, newConversationId, openAgentHome, systemClock } from "../../base/index.js";
import { chosenEndpoint, knownModel } from "../../chat/index.js";
import { agentNamed, MODEL, modelAgent } from "../../environments/index.js";
import type { EpisodeAgent } from "../../episode/index.js";
import { openModel } from "../../model/index.js";
import { beginRun, isClean, type RunItem, type RunManifest, readProgress, readRun, runAll, summaryOf } from "../../run/index.js";
import { loadTasks } from "../../tasks/index.js";
import { numberOf, settingsOf } from "../settings.js";
import type { Call } from "../table.js";
import { printSummary, resultLine } from "./run-words.js";

const DEFAULTS = { seconds: 1_800, concurrency: 4 };

export async function run(call: Call): Promise<number> {
	const [source] = call.words;
	if (source === undefined) throw new AgentError("INVALID", "say what is to be run: a .jsonl file of prompts, or terminal-test");
	const { config, home } = settingsOf(call);
	const { items, problems } = loadTasks(source);
	if (problems.length > 0)
		throw new AgentError(
			"INVALID",
			`${problems.length} of the tasks cannot be run, so nothing was started; \`holdfast-agent tasks ${source}\` says what is wrong with them`,
		);
	const agent = typeof call.values.agent === "string" ? call.values.agent : MODEL;
	if (agent === MODEL && !config.toolsets)
		throw new AgentError("CONFIG", "a run has to name its toolsets; give --toolsets terminal,file, or set them with `holdfast-agent setup toolsets`");
	if (agent === MODEL && config.model === undefined)
		throw new AgentError("CONFIG", "no model is chosen; give --model NAME, or run `holdfast-agent setup model`");
	const id = `run_${newConversationId(systemClock)}`;
	const dir = path.resolve(typeof call.values.output === "string" ? call.values.output : path.join(home.root, "runs", id));
	const manifest: RunManifest = {
		...{ v: 1, id, created_at: isoTime(systemClock), source: path.resolve(source) },
		...(agent === MODEL ? { endpoint: chosenEndpoint(config).name, model: config.model ?? "" } : { endpoint: "", model: "" }),
		...{ agent, toolsets: [...(config.toolsets ?? [])], steps: config.limits.steps },
		place: config.place === "local" && call.values.place === undefined ? "local+sandbox" : config.place,
		seconds: numeric(call, "seconds", DEFAULTS.seconds),
		repeats: numeric(call, "repeats", 1),
	};
	fs.mkdirSync(path.dirname(dir), { recursive: true, mode: 0o700 });
	return play(call, dir, manifest, beginRun(dir, manifest, items));
}

export async function resume(call: Call): Promise<number> {
	const dir = folderOf(call);
	const { manifest, items } = readRun(dir);
	return play(call, dir, manifest, items);
}

/** The folder that a command names. */
export function folderOf(call: Call): string {
	const [dir] = call.words;
	if (dir === undefined) throw new AgentError("INVALID", "say which run: its folder, as `holdfast-agent run` has printed it");
	return path.resolve(dir);
}

async function play(call: Call, dir: string, manifest: RunManifest, items: readonly RunItem[]): Promise<number> {
	const { out } = call;
	const stop = new AbortController();
	const interrupt = () => {
		if (stop.signal.aborted) process.exit(130); // the second: at once
		out.note("stopping: what is under way is ended; once more leaves at once, and `resume` ends it then");
		stop.abort();
	};
	process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
	if (!out.json)
		out.line(
			`${dir}  ${items.length} episodes of ${manifest.agent === MODEL ? manifest.model : manifest.agent} at ${typeof manifest.place === "string" ? manifest.place : manifest.place.kind}`,
		);
	try {
		const agent = await agentOf(dir, manifest, (text) => out.note(text));
		const proof = await runAll({
			...{ dir, manifest, items, agent, signal: stop.signal },
			concurrency: numeric(call, "concurrency", DEFAULTS.concurrency),
			tell: (event) => (out.json ? process.stdout.write(`${JSON.stringify(event)}\n`) : tell(call, event, items.length)),
		});
		const progress = readProgress(dir);
		if (!out.json) printSummary(out, summaryOf(items.length, progress), proof);
		if (stop.signal.aborted) return 130;
		return isClean(proof) && progress.results.size === items.length ? 0 : 1;
	} finally {
		process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
	}
}

function tell({ out }: Call, event: Parameters<Parameters<typeof runAll>[0]["tell"]>[0], episodes: number): void {
	if (event.type === "recovered")
		out.note(`episode ${event.index}, attempt ${event.attempt}: its program was gone; ended ${event.ended.join(", ") || "nothing"}`);
	else if (event.type === "result") out.line(resultLine(out, event, episodes));
}

/** With the settings of the run, whatever has become of agent.json; endpoints and keys are those of today. */
async function agentOf(dir: string, manifest: RunManifest, warn: (text: string) => void): Promise<EpisodeAgent> {
	if (manifest.agent !== MODEL) return agentNamed(manifest.agent);
	const home = openAgentHome();
	const { config: own } = loadAgentConfig(home, []);
	const config = {
		...own,
		...{ endpoint: manifest.endpoint, model: manifest.model, place: manifest.place, toolsets: manifest.toolsets },
		limits: { ...own.limits, steps: manifest.steps },
	};
	const keys = new KeyRing(home);
	const { endpoint } = chosenEndpoint(config);
	const { key } = endpoint;
	const options = { endpoint, model: manifest.model, reasoning: config.reasoning, ...(key ? { key: () => keys.read(key) } : {}) };
	const model = await openModel({ ...options, listed: await knownModel(home, options) }, { warn });
	return modelAgent({ home: openAgentHome(path.join(dir, "talk")), config, keys, model });
}

function numeric(call: Call, name: string, otherwise: number): number {
	const given = call.values[name];
	const value = given === undefined ? otherwise : numberOf(`--${name}`, given);
	if (value < 1 || value > 100_000) throw new AgentError("INVALID", `--${name} is ${value}, but must be from 1 to 100000`);
	return value;
}
