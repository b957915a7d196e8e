/** OpenAI chat completions, streamed and whole. */
import { type Asked, argumentPieces, callsOf, type Frame, pieces } from "./frames.js";
import type { Step, StepUsage } from "./step.js";
import { type ServedTokens, servedTokens } from "./token-ids.js";

const FINISH = { stop: "stop", calls: "tool_calls", length: "length", filter: "content_filter", refusal: "content_filter", other: "eos_token" } as const;

export function chatFrames(step: Step, asked: Asked): Frame[] {
	const frames: Frame[] = [];
	const wire = step.wire ?? {};
	const put = (place: Frame["place"], delta: Record<string, unknown>, finish: string | null = null) =>
		frames.push({ place, data: { ...head(step, asked), choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] } });

	put("start", { role: "assistant", content: "" });
	for (const part of pieces(step.reasoning ?? "", wire.chunk)) put("reasoning", reasoningDelta(part, wire.reasoningField));
	for (const part of pieces(step.text ?? "", wire.chunk)) put("text", { content: part });
	callsOf(step, "call_", asked.n).forEach((call, number) => {
		const index = wire.noIndex ? {} : { index: wire.sameIndex ? 0 : number };
		const id = call.id === null ? {} : { id: call.id };
		const open = (args: unknown) => ({ ...index, ...id, type: "function", function: { name: call.name, arguments: args } });
		if (call.odd === "null" || call.odd === "object") {
			put("whole arguments", { tool_calls: [open(call.odd === "null" ? null : JSON.parse(call.text))] });
		} else {
			put("arguments", { tool_calls: [open("")] });
			for (const { part, place } of argumentPieces(call.text, wire.chunk)) put(place, { tool_calls: [{ ...index, function: { arguments: part } }] });
		}
	});
	if (step.calls?.length) frames.push({ place: "closed call", data: null });
	put("finish", {}, FINISH[step.finish ?? (step.calls?.length ? "calls" : "stop")]);
	const tokens = servedTokens(asked.tokens, step, asked);
	if (tokens) spread(frames, tokens);
	const options = asked.body.stream_options as { include_usage?: boolean } | undefined;
	if (options?.include_usage) frames.push({ place: "finish", data: { ...head(step, asked), choices: [], usage: usageOf(step.usage ?? tokens?.usage) } });
	if (!wire.noDone) frames.push({ place: "finish", data: "[DONE]" });
	return frames;
}

export function chatWhole(step: Step, asked: Asked): unknown {
	const tools = callsOf(step, "call_", asked.n).map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: call.text } }));
	const tokens = servedTokens(asked.tokens, step, asked);
	const prompt = tokens ? { prompt_token_ids: tokens.prompt } : {};
	return {
		...head(step, asked),
		object: "chat.completion",
		...(tokens?.where === "response" ? prompt : {}),
		choices: [
			{
				index: 0,
				message: { role: "assistant", content: step.text ?? null, ...(tools.length > 0 ? { tool_calls: tools } : {}) },
				finish_reason: FINISH[step.finish ?? (tools.length > 0 ? "calls" : "stop")],
				...(tokens ? { token_ids: tokens.completion, logprobs: logprobsOf(tokens.logprobs) } : {}),
				...(tokens?.where === "choice" ? prompt : {}),
			},
		],
		usage: usageOf(step.usage ?? tokens?.usage),
	};
}

export const chatError = (fault: { message?: string; type?: string; code?: string }): unknown => ({
	error: {
		message: fault.message ?? "The server had an error while processing your request",
		type: fault.type ?? "server_error",
		param: null,
		code: fault.code ?? null,
	},
});

/** As vLLM streams them: the ids of the prompt in the first chunk, those of the answer with the text that they stand for. */
function spread(frames: Frame[], { prompt, completion, logprobs }: ServedTokens): void {
	const chunks = frames.flatMap(({ data }) =>
		typeof data === "object" && data !== null ? [data as { prompt_token_ids?: unknown; choices: Record<string, unknown>[] }] : [],
	);
	const each = Math.ceil(completion.length / Math.max(1, chunks.length - 1));
	for (const [at, chunk] of chunks.entries()) {
		if (at === 0) chunk.prompt_token_ids = prompt;
		const [from, to] = [Math.max(0, at - 1) * each, at * each];
		Object.assign(chunk.choices[0] ?? {}, { token_ids: completion.slice(from, to), logprobs: logprobsOf(logprobs?.slice(from, to)) });
	}
}

const logprobsOf = (list: readonly number[] | undefined): unknown =>
	list ? { content: list.map((logprob) => ({ token: "", logprob, bytes: null, top_logprobs: [] })) } : null;

const head = (step: Step, { n, model }: Asked) => ({
	id: `chatcmpl-${n}`,
	object: "chat.completion.chunk",
	created: 1_700_000_000,
	model: step.model ?? model,
});

function reasoningDelta(part: string, field = "reasoning_content"): Record<string, unknown> {
	if (field !== "reasoning_details") return { [field]: part };
	return { reasoning: part, reasoning_details: [{ type: "reasoning.text", text: part, format: "unknown", index: 0 }] };
}

function usageOf(usage: StepUsage = { input: 10, output: 5 }): unknown {
	return {
		prompt_tokens: usage.input,
		completion_tokens: usage.output,
		total_tokens: usage.input + usage.output,
		prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
		...(usage.cost === undefined ? {} : { cost: usage.cost }),
	};
}
