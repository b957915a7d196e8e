/** Which rule of its format a request breaks, in the provider's words. Nothing here is shared with the client, which has a copy of its own. */
import { anthropicBreaks } from "./rules-anthropic.js";
import { chatBreaks } from "./rules-chat.js";
import { responsesBreaks } from "./rules-responses.js";
import type { SeenRequest } from "./seen.js";
import type { Step } from "./step.js";

export function breaks(request: SeenRequest, { strict, issued }: { strict: boolean; issued: Issued }): string | undefined {
	if (request.format === "chat") return chatBreaks(request.body, { strict, longIds: issued.ids });
	if (request.format === "anthropic") return anthropicBreaks(request.body);
	return responsesBreaks(request.body) ?? issued.withoutReasoning(request);
}

/** What this server has given out, and so must take back. */
export class Issued {
	/** Ids of calls: longer ones than OpenAI takes are accepted only if they came from here. */
	readonly ids = new Set<string>();
	/** Calls of an answer with reasoning, by model and call id: the id of the reasoning item. */
	readonly #reasoned = new Map<string, string>();

	note(request: SeenRequest, step: Step): void {
		step.calls?.forEach((call, index) => {
			const id = call.id ?? `call_${request.n}_${index}`;
			this.ids.add(id);
			if (step.reasoning !== undefined) this.#reasoned.set(`${request.model} ${id}`, `rs_${request.n}`);
		});
	}

	/** Responses: the model that reasoned before a call gets both back. A call that went through another model has lost its reasoning, and is no matter. */
	withoutReasoning(request: SeenRequest): string | undefined {
		const items = request.body.input as readonly { readonly type?: string; readonly id?: string; readonly call_id?: string }[];
		const there = new Set(items.filter(({ type }) => type === "reasoning").map(({ id }) => id));
		for (const { type, call_id } of items) {
			const wanted = type === "function_call" ? this.#reasoned.get(`${request.model} ${call_id}`) : undefined;
			if (wanted && !there.has(wanted)) return `Item '${call_id}' of type 'function_call' was provided without its required 'reasoning' item: '${wanted}'.`;
		}
		return undefined;
	}
}
