/** How providers say that a request is too long for the context window: status and body of each, as they have been seen in public. */
import { type Fault, fails, type Step } from "./step.js";

type Status = Omit<Extract<Fault, { kind: "status" }>, "kind">;

const openai = (message: string, code: string | null = null, type = "invalid_request_error") => JSON.stringify({ error: { message, type, param: null, code } });

const WORDS: Readonly<Record<string, Status>> = {
	OpenAI: {
		status: 400,
		body: openai("Your input exceeds the context window of this model. Please adjust your input and try again.", "context_length_exceeded"),
	},
	"OpenAI, older": {
		status: 400,
		body: openai(
			"This model's maximum context length is 8192 tokens. However, your messages resulted in 10346 tokens. Please reduce the length of the messages.",
		),
	},
	"OpenAI, a minute's tokens": {
		status: 429,
		body: openai(
			"Request too large for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000, Requested 41000. The input or output tokens must be reduced in order to run successfully.",
			"rate_limit_exceeded",
			"tokens",
		),
	},
	Anthropic: {
		status: 400,
		body: JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 213462 tokens > 200000 maximum" } }),
	},
	"Anthropic, bytes": {
		status: 413,
		body: JSON.stringify({ type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } }),
	},
	Bedrock: { status: 400, body: JSON.stringify({ message: "Input is too long for requested model." }) },
	Google: {
		status: 400,
		body: JSON.stringify([
			{ error: { code: 400, message: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", status: "INVALID_ARGUMENT" } },
		]),
	},
	xAI: {
		status: 400,
		body: JSON.stringify({
			code: "Client specified an invalid argument",
			error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
		}),
	},
	Groq: { status: 400, body: openai("Please reduce the length of the messages or completion.", "context_length_exceeded") },
	"Groq, a minute's tokens": {
		status: 413,
		body: openai(
			"Request too large for model `llama` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 8242",
			"rate_limit_exceeded",
			"tokens",
		),
	},
	OpenRouter: {
		status: 400,
		body: JSON.stringify({
			error: {
				message:
					"This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 of tool input).",
				code: 400,
			},
		}),
	},
	"OpenRouter, upstream": {
		status: 400,
		body: JSON.stringify({
			error: {
				message: "Provider returned error",
				code: 400,
				metadata: { provider_name: "X", raw: JSON.stringify({ error: { message: "prompt is too long: 9 tokens > 8 maximum" } }) },
			},
		}),
	},
	"GitHub Copilot": { status: 400, body: openai("prompt token count of 140000 exceeds the limit of 128000", "model_max_prompt_tokens_exceeded") },
	"llama.cpp": {
		status: 400,
		body: JSON.stringify({
			error: {
				code: 400,
				message: "the request exceeds the available context size. try increasing the context size or enable context shift",
				type: "exceed_context_size_error",
				n_ctx: 4096,
			},
		}),
	},
	"LM Studio": {
		status: 400,
		body: JSON.stringify({
			error:
				"Trying to keep the first 5123 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
		}),
	},
	"LM Studio, older": {
		status: 400,
		body: JSON.stringify({ error: "The number of tokens to keep from the initial prompt is greater than the context length." }),
	},
	vLLM: {
		status: 400,
		body: JSON.stringify({
			object: "error",
			message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).",
			type: "BadRequestError",
			code: 400,
		}),
	},
	Mistral: {
		status: 400,
		body: JSON.stringify({
			object: "error",
			message: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
			type: "invalid_request_error",
			code: "3051",
		}),
	},
	DeepSeek: {
		status: 400,
		body: openai("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (69000 in the messages, 1000 in the completion)."),
	},
	MiniMax: { status: 400, body: openai("invalid params, context window exceeds limit (2013)") },
	Moonshot: { status: 400, body: openai("Invalid request: Your request exceeded model token limit: 131072") },
	Alibaba: { status: 400, body: openai("Range of input length should be [1, 129024]", "invalid_parameter_error") },
	Together: {
		status: 422,
		body: openai("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`"),
	},
	Cohere: {
		status: 400,
		body: JSON.stringify({ message: "too many tokens: total number of tokens in the prompt exceeds the limit of 128000. Try using a shorter prompt" }),
	},
	Zhipu: { status: 400, body: openai("model_context_window_exceeded") },
	"a proxy, without a word": { status: 413, body: "" },
	nginx: { status: 413, body: "<html><head><title>413 Request Entity Too Large</title></head></html>", headers: { "content-type": "text/html" } },
};

/** By the provider's name, the step that answers so. */
export const OVERFLOWS: Readonly<Record<string, Step>> = Object.fromEntries(
	Object.entries(WORDS).map(([name, { status, ...more }]) => [name, fails(status, more)]),
);
