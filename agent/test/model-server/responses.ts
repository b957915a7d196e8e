/** OpenAI responses, streamed and whole. */
import { type Asked, argumentPieces, callsOf, type Frame, pieces } from "./frames.js";
import type { Step, StepUsage } from "./step.js";

export function responsesFrames(step: Step, asked: Asked): Frame[] {
	const frames: Frame[] = [];
	let sequence = 0;
	const put = (place: Frame["place"], type: string, data: Record<string, unknown>) =>
		frames.push({ place, event: type, data: { type, sequence_number: sequence++, ...data } });
	const done: unknown[] = [];
	let output_index = 0;
	const close = (place: Frame["place"], item: unknown) => {
		done.push(item);
		put(place, "response.output_item.done", { output_index: output_index++, item });
	};

	put("start", "response.created", { response: whole(step, asked, "in_progress", []) });
	put("start", "response.in_progress", { response: whole(step, asked, "in_progress", []) });
	if (step.reasoning !== undefined) {
		const item = reasoningItem(step.reasoning, asked);
		const at = { item_id: item.id, output_index, summary_index: 0 };
		put("reasoning", "response.output_item.added", { output_index, item: { ...item, summary: [], encrypted_content: null } });
		put("reasoning", "response.reasoning_summary_part.added", { ...at, part: { type: "summary_text", text: "" } });
		for (const part of pieces(step.reasoning, step.wire?.chunk)) put("reasoning", "response.reasoning_summary_text.delta", { ...at, delta: part });
		put("reasoning", "response.reasoning_summary_text.done", { ...at, text: step.reasoning });
		put("reasoning", "response.reasoning_summary_part.done", { ...at, part: { type: "summary_text", text: step.reasoning } });
		close("reasoning", item);
	}
	if (step.text || step.finish === "refusal") {
		const item = messageItem(step, asked);
		const part = item.content[0];
		const at = { item_id: item.id, output_index, content_index: 0 };
		const kind = step.finish === "refusal" ? "response.refusal" : "response.output_text";
		put("text", "response.output_item.added", { output_index, item: { ...item, status: "in_progress", content: [] } });
		put("text", "response.content_part.added", { ...at, part: step.finish === "refusal" ? { type: "refusal", refusal: "" } : { ...part, text: "" } });
		for (const delta of pieces(step.text ?? "", step.wire?.chunk))
			put("text", `${kind}.delta`, { ...at, delta, ...(step.finish === "refusal" ? {} : { logprobs: [] }) });
		put("text", `${kind}.done`, { ...at, ...(step.finish === "refusal" ? { refusal: step.text ?? "" } : { text: step.text, logprobs: [] }) });
		put("text", "response.content_part.done", { ...at, part });
		close("text", item);
	}
	for (const item of callItems(step, asked)) {
		const at = { item_id: item.id, output_index };
		put("arguments", "response.output_item.added", { output_index, item: { ...item, status: "in_progress", arguments: "" } });
		if (typeof item.arguments === "string")
			for (const { part, place } of argumentPieces(item.arguments, step.wire?.chunk))
				put(place, "response.function_call_arguments.delta", { ...at, delta: part });
		const cut = step.finish === "length" && !isJson(item.arguments);
		if (!cut) put("whole arguments", "response.function_call_arguments.done", { ...at, name: item.name, arguments: item.arguments });
		close("closed call", cut ? { ...item, status: "incomplete" } : item);
	}
	const { status } = ending(step);
	put("finish", status === "completed" ? "response.completed" : "response.incomplete", { response: whole(step, asked, status, done) });
	return frames;
}

export const responsesWhole = (step: Step, asked: Asked): unknown =>
	whole(step, asked, ending(step).status, [
		...(step.reasoning === undefined ? [] : [reasoningItem(step.reasoning, asked)]),
		...(step.text ? [messageItem(step, asked)] : []),
		...callItems(step, asked),
	]);

export const responsesError = (fault: { message?: string; type?: string; code?: string }): unknown => ({
	type: "error",
	sequence_number: 99,
	code: fault.code ?? fault.type ?? "server_error",
	message: fault.message ?? "The server had an error while processing your request",
	param: null,
});

function ending(step: Step): { status: "completed" | "incomplete"; incomplete_details: { reason: string } | null } {
	if (step.finish === "length") return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
	if (step.finish === "filter") return { status: "incomplete", incomplete_details: { reason: "content_filter" } };
	return { status: "completed", incomplete_details: null };
}

/** All that the open specification of responses wants in one. */
const whole = (step: Step, { n, model, body }: Asked, status: string, output: readonly unknown[]) => ({
	id: `resp_${n}`,
	object: "response",
	created_at: 1_700_000_000,
	completed_at: status === "completed" ? 1_700_000_001 : null,
	status,
	error: null,
	incomplete_details: status === "incomplete" ? ending(step).incomplete_details : null,
	previous_response_id: null,
	instructions: body.instructions ?? null,
	metadata: {},
	model: step.model ?? model,
	output,
	tools: ((body.tools ?? []) as readonly object[]).map((tool) => ({ description: null, strict: false, ...tool })),
	tool_choice: body.tool_choice ?? "auto",
	parallel_tool_calls: true,
	max_output_tokens: body.max_output_tokens ?? null,
	max_tool_calls: null,
	reasoning: body.reasoning ?? null,
	text: { format: { type: "text" } },
	truncation: "disabled",
	temperature: 1,
	top_p: 1,
	top_logprobs: 0,
	presence_penalty: 0,
	frequency_penalty: 0,
	store: body.store ?? false,
	background: false,
	service_tier: "default",
	safety_identifier: null,
	prompt_cache_key: null,
	usage: status === "in_progress" ? null : usageOf(step.usage),
});

const reasoningItem = (text: string, { n, body }: Asked) => ({
	type: "reasoning",
	id: `rs_${n}`,
	summary: [{ type: "summary_text", text }],
	encrypted_content: Array.isArray(body.include) && body.include.includes("reasoning.encrypted_content") ? `sealed_${n}` : null,
});

const messageItem = (step: Step, { n }: Asked) => ({
	type: "message",
	id: `msg_${n}`,
	status: "completed",
	role: "assistant",
	content: [
		step.finish === "refusal" ? { type: "refusal", refusal: step.text ?? "" } : { type: "output_text", text: step.text, annotations: [], logprobs: [] },
	],
});

const callItems = (step: Step, { n }: Asked) =>
	callsOf(step, "call_", n).map((call, index) => ({
		type: "function_call",
		id: `fc_${n}_${index}`,
		...(call.id === null ? {} : { call_id: call.id }),
		name: call.name,
		arguments: (call.odd === "null" ? null : call.odd === "object" ? JSON.parse(call.text) : call.text) as unknown,
		status: "completed",
	}));

function isJson(text: unknown): boolean {
	try {
		return typeof text !== "string" || typeof JSON.parse(text) === "object";
	} catch {
		return false;
	}
}

function usageOf(usage: StepUsage = { input: 10, output: 5 }): unknown {
	return {
		input_tokens: usage.input,
		input_tokens_details: { cached_tokens: usage.cached ?? 0 },
		output_tokens: usage.output,
		output_tokens_details: { reasoning_tokens: 0 },
		total_tokens: usage.input + usage.output,
		...(usage.cost === undefined ? {} : { cost: usage.cost }),
	};
}
