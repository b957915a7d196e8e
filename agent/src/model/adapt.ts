/** An endpoint that refuses a field says so in its error. The next try leaves the field out, and the model keeps that in mind. */
import type { EndpointFlags } from "./endpoints.js";
import type { ModelError } from "./model.js";
import type { WireSetup } from "./wire.js";

const RULES: readonly { readonly words: RegExp; readonly change: (setup: WireSetup, found: RegExpExecArray) => WireSetup }[] = [
	{ words: /max_completion_tokens' instead|use 'max_completion_tokens/i, change: flag({ maxTokensField: "max_completion_tokens" }) },
	{ words: /max_tokens: \d+ > (\d+)/i, change: (setup, [, most]) => ({ ...setup, maxTokens: Number(most) }) },
	{
		words: /max(?:_completion)?_tokens is too large: \d+\. This model supports at most (\d+)/i,
		change: (setup, [, most]) => ({ ...setup, maxTokens: Number(most) }),
	},
	{ words: /encrypted content is not supported/i, change: flag({ sealed: false }) },
	{ words: /verified to generate reasoning summar|reasoning\.summary/i, change: flag({ summary: false }) },
	{ words: /stream_options/i, change: flag({ streamUsage: false }) },
	{ words: /role.{0,40}developer|developer.{0,40}role|'developer' does not/i, change: flag({ systemRole: "system" }) },
	{ words: /unexpected role 'user' after role 'tool'|roles must alternate|after the optional system message/i, change: flag({ bridge: true }) },
	{ words: /tool call id.{0,80}length of 9/i, change: flag({ ids: "nine" }) },
	{
		words:
			/reasoning_effort|reasoning\.effort|reasoning effort|does not support (?:thinking|reasoning|effort)|adaptive thinking is not supported|output_config/i,
		change: ({ reasoning: _, ...setup }) => setup,
	},
];

function flag(change: Partial<EndpointFlags>): (setup: WireSetup) => WireSetup {
	return (setup) => ({ ...setup, flags: { ...setup.flags, ...change } });
}

/** Returns how to ask instead; undefined if the error is about something else, or that has been tried. */
export function adapted(setup: WireSetup, error: ModelError): WireSetup | undefined {
	if (error.kind !== "wrong" || (error.details.status !== 400 && error.details.status !== 422)) return undefined;
	for (const { words, change } of RULES) {
		const found = words.exec(error.message);
		const next = found ? change(setup, found) : setup;
		if (found && JSON.stringify(next) !== JSON.stringify(setup)) return next;
	}
	return undefined;
}
