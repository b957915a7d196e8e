/** In which words endpoints say that a request does not fit into the context window. They have no common code for it. */
const WORDS: readonly RegExp[] = [
	/prompt is too long/i, // Anthropic
	/input is too long for requested model/i, // Bedrock
	/exceeds? the (?:model'?s )?(?:maximum )?context (?:window|length|size)/i, // OpenAI, LiteLLM
	/context[_ ]length[_ ]exceeded/i, // OpenAI's code, and many who copy it
	/maximum context length (?:is|of) [\d,]+/i, // OpenAI (older), vLLM, OpenRouter, DeepSeek
	/input token count.{0,40}exceeds the maximum/i, // Google
	/maximum prompt length is [\d,]+/i, // xAI
	/reduce the length of the (?:messages|prompt|input)/i, // Groq, OpenAI (older)
	/token count.{0,40}exceeds the limit of [\d,]+/i, // GitHub Copilot
	/exceeds the available context size/i, // llama.cpp
	/exceed_context_size_error/i, // llama.cpp's type
	/greater than the (?:model'?s )?(?:context|num_ctx)/i, // LM Studio
	/context (?:the )?overflows?\b/i, // LM Studio
	/context window exceeds limit/i, // MiniMax
	/exceeded model token limit/i, // Moonshot
	/too large for model with [\d,]+ maximum context length/i, // Mistral
	/prompt contains [\d,]+ tokens.{0,60}maximum/i, // Mistral, Fireworks
	/range of input length should be/i, // Alibaba
	/input (?:length|tokens?).{0,60}exceeds?.{0,40}(?:context|maximum|limit)/i, // Together, SambaNova, Cohere
	/total number of tokens.{0,60}exceeds/i, // Cohere, Cerebras
	/(?:inputs?|tokens).{0,20}must (?:have less than|be <=) [\d,]+/i, // Hugging Face TGI
	/model_context_window_exceeded|request_too_large/i, // Anthropic, Zhipu
	/token limit exceeded|too many (?:input )?tokens (?:in|for)/i,
];
/** Texts that sound alike and are only a matter of time. */
const RATE = /rate limit|per[- ]min|requests per|too many requests|please wait|throttl/i;
/** One request that is more than a minute's tokens: time does not help. OpenAI, Groq. */
const NEVER = /the input or output tokens must be reduced|request too large for model/i;

export const isOverflow = (source: string): boolean => NEVER.test(source) || (!RATE.test(source) && WORDS.some((words) => words.test(source)));
