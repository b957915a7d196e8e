/** `/models`: OpenAI's form with the fields that other endpoints add to it, and Anthropic's. */
import type { ServedFormat } from "./seen.js";

export interface ListedModel {
	readonly id: string;
	readonly name?: string;
	/** Under the name that `as` says: OpenRouter, vLLM, Groq and Mistral each have their own. */
	readonly window?: number;
	readonly as?: "context_length" | "max_model_len" | "context_window" | "max_context_length";
	/** Dollars a token, as OpenRouter writes them. */
	readonly pricing?: { readonly prompt: string; readonly completion: string };
	/** OpenRouter: what may be in a request. */
	readonly supported_parameters?: readonly string[];
}

export function listModels(models: readonly (ListedModel | string)[], format: ServedFormat): unknown {
	const all = models.map((model) => (typeof model === "string" ? { id: model } : model));
	if (format === "anthropic") {
		const data = all.map((model: ListedModel) => ({
			type: "model",
			id: model.id,
			display_name: model.name ?? model.id,
			created_at: "2026-01-01T00:00:00Z",
			...(model.window === undefined ? {} : { max_input_tokens: model.window }),
		}));
		return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
	}
	return {
		object: "list",
		data: all.map(({ window, as = "context_length", ...rest }: ListedModel) => ({
			object: "model",
			created: 1_700_000_000,
			owned_by: "scripted",
			...rest,
			...(window === undefined ? {} : { [as]: window }),
		})),
	};
}
