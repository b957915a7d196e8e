/**
 * An episode as a trajectory in ATIF 1.7, whose readers refuse every key that they do not know: what has no place in it stands in `extra`. Observations are the
 * texts that the model was sent, in the step of their calls.
 */
import { createRequire } from "node:module";
import type { Usage } from "../model/index.js";
import { type Entry, fileText, noteText, noticeText, partialText, summaryText } from "../talk/index.js";
import { type ExportedEpisode, endOf, errorOf, functionOf } from "./episode.js";
import { objectIn } from "./messages.js";

export const { version: VERSION } = createRequire(import.meta.url)("../../package.json") as { version: string };

type Extra = Readonly<Record<string, unknown>>;
type Step = Readonly<Record<string, unknown>>;
type Answered = Extract<Entry, { t: "assistant" }>;

export function atifOf(episode: ExportedEpisode): Readonly<Record<string, unknown>> {
	const { id, manifest, item, result, system, tools, entries, reward, corrupted } = episode;
	const steps = stepsOf(system, entries, manifest.model);
	return {
		schema_version: "ATIF-v1.7",
		...{ session_id: manifest.id, trajectory_id: id },
		agent: { name: "holdfast-agent", version: VERSION, model_name: manifest.model, ...(tools.length > 0 ? { tool_definitions: tools.map(functionOf) } : {}) },
		// A trajectory has a step at least: of an agent without a conversation it is what it was asked.
		steps: (steps.length > 0 ? steps : [{ source: "user", timestamp: result.at, message: askedOf(episode) }]).map((step, at) => ({ step_id: at + 1, ...step })),
		final_metrics: { ...finalMetrics(result.usage), total_steps: Math.max(1, steps.length) },
		extra: {
			...{
				index: item.index,
				key: item.key,
				digest: item.digest,
				repeat: item.repeat,
				attempt: result.attempt,
				outcome: result.outcome.kind,
				end: endOf(episode),
			},
			...{
				...(reward === undefined ? {} : { reward }),
				...(errorOf(episode) === "" ? {} : { error: errorOf(episode) }),
				...(corrupted === "" ? {} : { corrupted }),
			},
		},
	};
}

function stepsOf(system: string, entries: readonly Entry[], model: string): Step[] {
	const steps: Step[] = [];
	const begun = entries.find(({ t }) => t === "begun");
	if (system !== "") steps.push({ source: "system", ...(begun ? { timestamp: begun.at } : {}), message: system });
	let segment = -1;
	let sequence: readonly number[] = []; // of the segment: a step has the ids of its whole prompt
	for (const [at, entry] of entries.entries()) {
		const tokens = entry.t === "assistant" ? entry.tokens : undefined;
		const ids = tokens && { ...tokens, prompt: tokens.segment === segment ? [...sequence, ...tokens.prompt] : tokens.prompt };
		if (ids) sequence = [...ids.prompt, ...ids.completion];
		segment = ids?.segment ?? segment;
		const heard = heardOf(entry);
		if (heard) steps.push({ timestamp: entry.at, ...heard });
		else if (entry.t === "assistant") steps.push(answerStep(entry, resultsBehind(entries, at), ids, model));
		else if (entry.t === "partial") {
			steps.push({ timestamp: entry.at, source: "agent", message: entry.text.trimEnd(), extra: { partial: entry.why } });
			steps.push({ timestamp: entry.at, source: "user", message: partialText(entry.why), extra: { by: "program" } });
		}
	}
	return steps;
}

/** Returns a line's message to the model, in the words that it was sent. */
function heardOf(entry: Entry): { source: "user" | "system"; message: string; extra?: Extra } | undefined {
	switch (entry.t) {
		case "user":
			return { source: "user", message: [entry.text, ...(entry.files ?? []).map(fileText)].filter((text) => text.trim() !== "").join("\n\n") };
		case "notice":
			return { source: "user", message: noticeText(entry.text), extra: { by: "terminal" } };
		case "note":
			return { source: "user", message: noteText(entry.text), extra: { by: "program" } };
		case "summary":
			return { source: "system", message: summaryText(entry.text), extra: { summary_of_lines_up_to: entry.upto } };
		default:
			return undefined;
	}
}

type Settled = Extract<Entry, { t: "result" }>;

/** Exactly the results of its calls follow an answer, with lines between them that no model is sent. */
function resultsBehind(entries: readonly Entry[], at: number): Settled[] {
	const end = entries.findIndex((entry, later) => later > at && entry.t === "assistant");
	return entries.slice(at + 1, end < 0 ? undefined : end).filter((entry): entry is Settled => entry.t === "result");
}

function answerStep(entry: Answered, results: readonly Settled[], tokens: Answered["tokens"], model: string): Step {
	const { text, reasoning, calls, usage } = entry;
	const thought = (reasoning ?? []).map((block) => block.text).join("\n");
	const about = {
		...(entry.stop === "length" ? { stop: entry.stop } : {}),
		...(tokens ? { token_segment: tokens.segment } : {}),
		...(entry.noTokens === undefined ? {} : { no_token_ids: entry.noTokens }),
	};
	return {
		...{ timestamp: entry.at, source: "agent", model_name: entry.model || model, message: text },
		...(thought === "" ? {} : { reasoning_content: thought }),
		...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCall) }),
		...(results.length === 0 ? {} : { observation: { results: results.map(observed) } }),
		...(usage || tokens ? { metrics: metricsOf(usage, tokens) } : {}),
		...(Object.keys(about).length > 0 ? { extra: about } : {}),
	};
}

function toolCall({ id, name, args }: Answered["calls"][number]) {
	const object = objectIn(args);
	return { tool_call_id: id, function_name: name, arguments: object ?? {}, ...(object ? {} : { extra: { raw_arguments: args } }) };
}

function observed({ call, text, failed, how }: Settled) {
	const extra = { ...(failed ? { failed } : {}), ...(how === "ran" ? {} : { how }) };
	return { source_call_id: call, content: text || "(no output)", ...(Object.keys(extra).length > 0 ? { extra } : {}) };
}

function metricsOf(usage: Usage | undefined, tokens: Answered["tokens"]) {
	return {
		...(usage ? { prompt_tokens: usage.input, completion_tokens: usage.output } : {}),
		...(usage?.cached === undefined ? {} : { cached_tokens: usage.cached }),
		...(usage?.cost === undefined ? {} : { cost_usd: usage.cost }),
		...(tokens ? { prompt_token_ids: tokens.prompt, completion_token_ids: tokens.completion, ...(tokens.logprobs ? { logprobs: tokens.logprobs } : {}) } : {}),
		...(usage?.estimated ? { extra: { estimated: true } } : {}),
	};
}

const finalMetrics = ({ input, output, cached, cost }: Usage) => ({
	...{ total_prompt_tokens: input, total_completion_tokens: output },
	...(cached === undefined ? {} : { total_cached_tokens: cached }),
	...(cost === undefined ? {} : { total_cost_usd: cost }),
});

function askedOf({ item }: ExportedEpisode): string {
	if (item.kind === "prompt") return item.row.prompt;
	return (item.kind === "swe" ? item.row.problem_statement : item.task.instruction) || item.key;
}
