/** Plays a run in this program until it is over or stopped: what `run` and `resume` have in common. */
import path from "node:path";
import { AgentError, type AgentHome, KeyRing, loadAgentConfig, openAgentHome, writeWhole } from "../../base/index.js";
import { chosenEndpoint, modelOf } from "../../chat/index.js";
import { agentNamed, MODEL, modelAgent } from "../../environments/index.js";
import type { EpisodeAgent } from "../../episode/index.js";
import type { Model } from "../../model/index.js";
import { numbersOf, reportHtml } from "../../report/index.js";
import { isClean, type Proof, placeName, proofWords, type RunItem, type RunManifest, readProgress, runAll } from "../../run/index.js";
import { numberOf } from "../settings.js";
import type { Call } from "../table.js";
import { Board } from "./board.js";
import { ageText, printSummary } from "./run-words.js";
import { untilStopped } from "./stop.js";

const BOX_SECONDS = 300; // a box without a sign of life ends itself; places.md

export interface PlayOptions {
	readonly dir: string;
	readonly manifest: RunManifest;
	readonly items: readonly RunItem[];
	readonly concurrency: number;
	readonly only?: "requests";
}

export async function play(call: Call, { dir, manifest, items, concurrency, only }: PlayOptions): Promise<number> {
	const { out } = call;
	if (!out.json) out.line(`${dir}  ${items.length} episodes of ${manifest.model || manifest.agent} at ${placesOf(manifest)}`);
	const before = numbersOf(items, readProgress(dir));
	const board = new Board({ out, episodes: items.length, done: before.done, spent: { tokens: before.tokens.input + before.tokens.output, cost: before.cost } });
	using stop = untilStopped(
		() => {
			board.close();
			out.note("stopping: nothing starts any more, and what is under way is ended; once more leaves at once");
		},
		() => leave(call, dir, manifest, board),
	);
	let proof: Proof;
	try {
		const retry = call.values["retry-wait"];
		proof = await runAll({
			...{
				dir,
				manifest,
				items,
				concurrency,
				agent: await agentOf(dir, manifest, (text) => out.note(text)),
				talk: openAgentHome(path.join(dir, "talk")),
				signal: stop,
			},
			...(only ? { only } : {}),
			...(retry === undefined ? {} : { retryMs: numberOf("--retry-wait", retry) * 1_000 }),
			opened: (runtime) => board.watch(runtime),
			tell: (event) => (out.json ? process.stdout.write(`${JSON.stringify(event)}\n`) : board.tell(event)),
		});
	} finally {
		board.close();
	}
	const progress = readProgress(dir);
	const numbers = numbersOf(items, progress);
	writeWhole(path.join(dir, "proof.json"), `${JSON.stringify(proof, null, "\t")}\n`);
	const report = path.join(dir, "report.html");
	writeWhole(report, reportHtml({ manifest, items, progress, proof: proofWords(proof).join("; ") }));
	if (out.json) process.stdout.write(`${JSON.stringify({ type: "numbers", numbers })}\n`);
	else {
		printSummary(out, numbers, proof);
		out.line(`report: ${report}`);
	}
	if (stop.aborted) return 130;
	return isClean(proof) && progress.results.size === items.length ? 0 : 1;
}

/** The second interrupt: nothing is waited for. */
function leave({ out }: Call, dir: string, { seconds }: RunManifest, board: Board): never {
	board.close();
	const { running } = board;
	const under = running.map(({ index }) => index).join(", ");
	if (running.length > 0)
		out.note(
			`left at once, with episodes ${under} under way. Their commands are killed by their keepers ${ageText(seconds + 120)} after each began, or a little later; ` +
				`sandboxes and containers end themselves ${BOX_SECONDS} s after the last command in them, unless their settings say otherwise. ` +
				`\`holdfast-agent resume ${dir}\` ends them at once.`,
		);
	process.exit(130);
}

export const placesOf = (manifest: RunManifest): string => (manifest.pool ?? [{ place: manifest.place }]).map(({ place }) => placeName(place)).join(", ");

export async function agentOf(dir: string, manifest: RunManifest, warn: (text: string) => void): Promise<EpisodeAgent> {
	if (manifest.agent !== MODEL) return agentNamed(manifest.agent);
	const { config, keys, endpoint } = settingsFor(manifest);
	const model = await modelOf({ home: openAgentHome(), keys, endpoint, model: manifest.model, reasoning: config.reasoning }, { warn });
	return modelAgent({ home: openAgentHome(path.join(dir, "talk")), config, keys, model });
}

/** The loop of a run for another model than its own, as it was set up. */
export async function loopOf(manifest: RunManifest): Promise<(model: Model, talk: AgentHome) => EpisodeAgent> {
	const { config, keys } = settingsFor(manifest);
	return (model, talk) => modelAgent({ home: talk, config, keys, model });
}

/** The settings of the run, whatever has become of agent.json; endpoints and keys are those of today. */
function settingsFor(manifest: RunManifest) {
	const home = openAgentHome();
	const { config: own } = loadAgentConfig(home, []);
	const config = {
		...own,
		...{ endpoint: manifest.endpoint, model: manifest.model, place: manifest.place, toolsets: manifest.toolsets },
		limits: { ...own.limits, steps: manifest.steps },
	};
	return { config, keys: new KeyRing(home), endpoint: chosenEndpoint(config).endpoint };
}

/** The folder that a command names. */
export function folderOf(call: Call): string {
	const [dir] = call.words;
	if (dir === undefined) throw new AgentError("INVALID", "say which run: its folder, as `holdfast-agent run` has printed it");
	return path.resolve(dir);
}

export function numeric(call: Call, name: string, otherwise: number): number {
	const given = call.values[name];
	const value = given === undefined ? otherwise : numberOf(`--${name}`, given);
	if (value < 1 || value > 100_000) throw new AgentError("INVALID", `--${name} is ${value}, but must be from 1 to 100000`);
	return value;
}
