/**
 * Token ids of an answer, as vLLM and SGLang give them. They are asked for by fields that other servers ignore in silence, so the answer is looked at: ids that
 * are missing, or of another number than the endpoint says that it used, are not taken, and never made up.
 */
import { type JsonObject, list, number, object } from "./json.js";
import type { AnswerTokens, Usage } from "./model.js";

/** How ids are asked for: in the stream (vLLM from 0.10.2), or with an answer that is sent whole (SGLang). */
export type TokenIdsWish = "stream" | "whole";

export const TOKEN_FIELDS = { return_token_ids: true, logprobs: true } as const;

/** Collects what the chunks of one answer say. */
export class TokenReader {
	#prompt: readonly number[] | undefined;
	readonly #completion: number[] = [];
	readonly #logprobs: number[] = [];
	#broken = false;

	take(chunk: JsonObject, choice: JsonObject): void {
		const prompt = chunk.prompt_token_ids ?? choice.prompt_token_ids; // vLLM, SGLang
		if (Array.isArray(prompt) && prompt.length > 0) this.#prompt = this.#ids(prompt);
		this.#completion.push(...this.#ids(choice.token_ids));
		for (const one of list(object(choice.logprobs).content)) {
			const logprob = number(object(one).logprob);
			if (logprob === undefined) this.#broken = true;
			else this.#logprobs.push(logprob);
		}
	}

	/** Returns the ids; undefined if any are missing or wrong. */
	get tokens(): AnswerTokens | undefined {
		if (this.#broken || !this.#prompt || this.#completion.length === 0) return undefined;
		return { prompt: this.#prompt, completion: this.#completion, ...(this.#logprobs.length > 0 ? { logprobs: this.#logprobs } : {}) };
	}

	#ids(value: unknown): number[] {
		const ids = list(value).filter((id): id is number => Number.isInteger(id) && (id as number) >= 0);
		if (ids.length !== list(value).length) this.#broken = true;
		return ids;
	}
}

/** Returns why the ids cannot be used; undefined: they can. `usage` is what the endpoint told, if it did. */
export function tokensProblem(tokens: AnswerTokens | undefined, usage: Usage | undefined): string | undefined {
	if (!tokens) return "no token ids";
	const { prompt, completion, logprobs } = tokens;
	if (logprobs && logprobs.length !== completion.length) return `${logprobs.length} logprobs for ${completion.length} tokens`;
	if (!usage || usage.estimated) return undefined;
	if (prompt.length !== usage.input) return `${prompt.length} ids of the prompt, but ${usage.input} tokens in the usage`;
	return completion.length === usage.output ? undefined : `${completion.length} ids of the answer, but ${usage.output} tokens in the usage`;
}
