/** The rules of ATIF 1.7, written from its description and apart from the export: which keys there are, of which type, and what must fit together. */

type Value = unknown;
type Json = Readonly<Record<string, Value>>;
type Check = (value: Value) => boolean;

export interface Broken {
	readonly rule: string;
	readonly at: string;
}

export const RULES = [
	"object",
	"unknown key",
	"missing key",
	"type",
	"version",
	"steps are numbered from 1",
	"at least one step",
	"source",
	"only an agent has these",
	"a call's id is used once in its step",
	"a result names a call of its step",
	"an observation is in a step with calls",
	"no call of a model: no metrics and no reasoning",
	"logprobs and ids of one length",
	"timestamp",
	"part",
] as const;

const text: Check = (value) => typeof value === "string";
const count: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isObject: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const listOf =
	(check: Check): Check =>
	(value) =>
		Array.isArray(value) && value.every(check);
const anything: Check = () => true;

type Shape = Readonly<Record<string, { readonly check: Check; readonly must?: true }>>;
const must = (check: Check) => ({ check, must: true }) as const;
const may = (check: Check) => ({ check });

const ROOT: Shape = {
	schema_version: must(text),
	session_id: may(text),
	trajectory_id: may(text),
	agent: must(isObject),
	steps: must(Array.isArray),
	notes: may(text),
	final_metrics: may(isObject),
	continued_trajectory_ref: may(anything),
	subagent_trajectories: may(Array.isArray),
	extra: may(isObject),
};
const AGENT: Shape = { name: must(text), version: must(text), model_name: may(text), tool_definitions: may(listOf(isObject)), extra: may(isObject) };
const FINAL: Shape = {
	total_prompt_tokens: may(count),
	total_completion_tokens: may(count),
	total_cached_tokens: may(count),
	total_cost_usd: may(number),
	total_steps: may(count),
	extra: may(isObject),
};
const STEP: Shape = {
	step_id: must(count),
	timestamp: may(text),
	source: must(text),
	message: must((value) => text(value) || Array.isArray(value)),
	observation: may(isObject),
	is_copied_context: may((value) => typeof value === "boolean"),
	llm_call_count: may(count),
	extra: may(isObject),
	model_name: may(text),
	reasoning_effort: may((value) => text(value) || number(value)),
	reasoning_content: may(text),
	tool_calls: may(listOf(isObject)),
	metrics: may(isObject),
};
const AGENT_ONLY = ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"];
const CALL: Shape = { tool_call_id: must(text), function_name: must(text), arguments: must(isObject), extra: may(isObject) };
const RESULT: Shape = {
	source_call_id: may(text),
	content: may((value) => text(value) || Array.isArray(value)),
	subagent_trajectory_ref: may(anything),
	extra: may(isObject),
};
const METRICS: Shape = {
	prompt_tokens: may(count),
	completion_tokens: may(count),
	cached_tokens: may(count),
	cost_usd: may(number),
	prompt_token_ids: may(listOf(count)),
	completion_token_ids: may(listOf(count)),
	logprobs: may(listOf(number)),
	extra: may(isObject),
};
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Returns every rule that it breaks; none: it is valid. */
export function atifBreaks(value: Value): Broken[] {
	const broken: Broken[] = [];
	const no = (rule: (typeof RULES)[number], at: string): void => void broken.push({ rule, at });
	const keys = (one: Value, shape: Shape, at: string): Json | undefined => {
		if (!isObject(one)) {
			no("object", at);
			return undefined;
		}
		const object = one as Json;
		for (const key of Object.keys(object)) if (!Object.hasOwn(shape, key)) no("unknown key", `${at}.${key}`);
		for (const [key, { check, must: needed }] of Object.entries(shape)) {
			if (object[key] === undefined) {
				if (needed) no("missing key", `${at}.${key}`);
			} else if (!check(object[key])) no("type", `${at}.${key}`);
		}
		return object;
	};
	const parts = (content: Value, at: string): void => {
		if (!Array.isArray(content)) return;
		for (const part of content as Json[]) {
			const fits = part?.type === "text" ? text(part.text) : part?.type === "image" && isObject(part.source) && text((part.source as Json).path);
			if (!fits) no("part", at);
		}
	};
	const root = keys(value, ROOT, "trajectory");
	if (!root) return broken;
	if (root.schema_version !== "ATIF-v1.7") no("version", "schema_version");
	keys(root.agent, AGENT, "agent");
	if (root.final_metrics !== undefined) keys(root.final_metrics, FINAL, "final_metrics");
	const steps = (Array.isArray(root.steps) ? root.steps : []) as Value[];
	if (steps.length === 0) no("at least one step", "steps");
	for (const [index, one] of steps.entries()) {
		const at = `steps[${index}]`;
		const step = keys(one, STEP, at);
		if (!step) continue;
		if (step.step_id !== index + 1) no("steps are numbered from 1", at);
		if (!["system", "user", "agent"].includes(String(step.source))) no("source", at);
		if (step.source !== "agent") for (const key of AGENT_ONLY) if (step[key] !== undefined) no("only an agent has these", `${at}.${key}`);
		if (step.timestamp !== undefined && !ISO.test(String(step.timestamp))) no("timestamp", at);
		parts(step.message, at);
		if (step.llm_call_count === 0 && (step.metrics !== undefined || step.reasoning_content !== undefined || step.reasoning_effort !== undefined))
			no("no call of a model: no metrics and no reasoning", at);
		const ids = ((Array.isArray(step.tool_calls) ? step.tool_calls : []) as Value[]).map(
			(call, number_) => keys(call, CALL, `${at}.tool_calls[${number_}]`)?.tool_call_id,
		);
		if (new Set(ids).size !== ids.length) no("a call's id is used once in its step", at);
		if (step.observation !== undefined) {
			const observation = keys(step.observation, { results: must(Array.isArray) }, `${at}.observation`);
			const results = (Array.isArray(observation?.results) ? observation.results : []) as Value[];
			for (const [number_, result] of results.entries()) {
				const found = keys(result, RESULT, `${at}.observation.results[${number_}]`);
				if (found?.source_call_id !== undefined && !ids.includes(found.source_call_id)) no("a result names a call of its step", at);
				parts(found?.content, at);
			}
			if (ids.length === 0 && step.source === "agent") no("an observation is in a step with calls", at);
		}
		if (step.metrics !== undefined) {
			const metrics = keys(step.metrics, METRICS, `${at}.metrics`);
			const [completion, logprobs] = [metrics?.completion_token_ids, metrics?.logprobs] as readonly (readonly unknown[] | undefined)[];
			if (completion && logprobs && completion.length !== logprobs.length) no("logprobs and ids of one length", at);
		}
	}
	return broken;
}
