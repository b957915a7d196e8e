/** Anthropic messages, streamed and whole. */
import { type Asked, argumentPieces, callsOf, type Frame, pieces } from "./frames.js";
import type { Step, StepUsage } from "./step.js";

const STOP = { stop: "end_turn", calls: "tool_use", length: "max_tokens", filter: "refusal", refusal: "refusal", other: "new_reason" } as const;

export function anthropicFrames(step: Step, asked: Asked): Frame[] {
	const frames: Frame[] = [];
	const put = (place: Frame["place"], data: { type: string } & Record<string, unknown>) => frames.push({ place, event: data.type, data });
	let index = 0;
	const usage = usageOf(step.usage);

	put("start", {
		type: "message_start",
		message: { ...head(step, asked), content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
	});
	if (step.wire?.comments) put("start", { type: "ping" });
	if (step.reasoning !== undefined) {
		put("reasoning", { type: "content_block_start", index, content_block: { type: "thinking", thinking: "", signature: "" } });
		for (const part of pieces(step.reasoning, step.wire?.chunk))
			put("reasoning", { type: "content_block_delta", index, delta: { type: "thinking_delta", thinking: part } });
		put("reasoning", { type: "content_block_delta", index, delta: { type: "signature_delta", signature: `sig_${asked.n}` } });
		put("reasoning", { type: "content_block_stop", index: index++ });
	}
	if (step.text) {
		put("text", { type: "content_block_start", index, content_block: { type: "text", text: "" } });
		for (const part of pieces(step.text, step.wire?.chunk)) put("text", { type: "content_block_delta", index, delta: { type: "text_delta", text: part } });
		put("text", { type: "content_block_stop", index: index++ });
	}
	for (const call of callsOf(step, "toolu_", asked.n)) {
		const input = call.odd === "object" ? JSON.parse(call.text) : call.odd === "null" ? null : {};
		const id = call.id === null ? {} : { id: call.id };
		put("arguments", { type: "content_block_start", index, content_block: { type: "tool_use", ...id, name: call.name, input } });
		if (call.odd === "object" || call.odd === "null")
			put("whole arguments", { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: "" } });
		else
			for (const { part, place } of argumentPieces(call.text, step.wire?.chunk))
				put(place, { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: part } });
		put("closed call", { type: "content_block_stop", index: index++ });
	}
	const reason = STOP[step.finish ?? (step.calls?.length ? "calls" : "stop")];
	put("finish", { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: usage.output_tokens } });
	put("finish", { type: "message_stop" });
	return frames;
}

export function anthropicWhole(step: Step, asked: Asked): unknown {
	const uses = callsOf(step, "toolu_", asked.n).map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: JSON.parse(call.text) }));
	return {
		...head(step, asked),
		content: [...(step.text ? [{ type: "text", text: step.text }] : []), ...uses],
		stop_reason: STOP[step.finish ?? (uses.length > 0 ? "calls" : "stop")],
		stop_sequence: null,
		usage: usageOf(step.usage),
	};
}

export const anthropicError = (fault: { message?: string; type?: string }): unknown => ({
	type: "error",
	error: { type: fault.type ?? "overloaded_error", message: fault.message ?? "Overloaded" },
	request_id: "req_1",
});

const head = (step: Step, { n, model }: Asked) => ({ id: `msg_${n}`, type: "message", role: "assistant", model: step.model ?? model });

/** Anthropic counts what it took from the cache beside `input_tokens`. */
function usageOf(usage: StepUsage = { input: 10, output: 5 }) {
	return {
		input_tokens: usage.input - (usage.cached ?? 0),
		cache_creation_input_tokens: 0,
		cache_read_input_tokens: usage.cached ?? 0,
		output_tokens: usage.output,
	};
}
