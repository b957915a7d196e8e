/**
 * Token ids as vLLM and SGLang give them, of a template and a tokeniser that are small enough to be read here: a message is the id of its role, one id for each
 * character, and the end of a message; an answer that was written is rendered in a later prompt with the ids that it was written with. Reasoning is not rendered
 * again, as many templates have it.
 */
import type { Asked } from "./frames.js";
import type { Step } from "./step.js";

/**
 * `right`: vLLM, in the stream. `whole`: SGLang, only with answers that are not streamed, the ids of the prompt with each choice. `drift`: from the third request
 * of a conversation on, the prompt is tokenised in another way. `missing`: a server that does not know the fields. `wrong length`: one id less than it counts.
 * `no logprobs`: ids alone.
 */
export type TokenMode = "right" | "whole" | "drift" | "missing" | "wrong length" | "no logprobs";

const ROLES: Readonly<Record<string, number>> = { system: 1, developer: 1, user: 2, assistant: 3, tool: 4 };
const [TOOLS, END, PAIR] = [5, 6, 100_000];

type Part = Readonly<Record<string, unknown>>;

export interface ServedTokens {
	readonly prompt: readonly number[];
	readonly completion: readonly number[];
	readonly logprobs: readonly number[] | undefined;
	readonly usage: { readonly input: number; readonly output: number };
	/** Where the ids of the prompt stand. */
	readonly where: "response" | "choice";
}

/** What a server of this kind adds to an answer; undefined: nothing, since it was not asked, or does not know how. */
export function servedTokens(mode: TokenMode | undefined, step: Step, { body }: Asked): ServedTokens | undefined {
	const streamed = body.stream === true;
	if (mode === undefined || mode === "missing" || body.return_token_ids !== true || (mode === "whole" && streamed)) return undefined;
	const messages = body.messages as readonly Part[];
	const turns = messages.filter(({ role }) => role === "assistant").length;
	const plain = [...chars(body.tools === undefined ? "" : JSON.stringify(body.tools), TOOLS), ...messages.flatMap(messageIds), ROLES.assistant as number];
	const prompt = mode === "drift" && turns >= 2 ? paired(plain) : plain;
	const text = `${step.reasoning ?? ""}${written(step.text ?? null, step.calls?.map(({ name, args }) => [name, typeof args === "string" ? args : JSON.stringify(args)]) ?? [])}`;
	const completion = [...ids(text), END];
	const usage = { input: prompt.length, output: completion.length };
	const said = mode === "wrong length" ? completion.slice(0, -1) : completion;
	const logprobs = body.logprobs === true && mode !== "no logprobs" ? said.map((id) => -(id % 7) / 10) : undefined;
	return { prompt, completion: said, logprobs, usage, where: mode === "whole" ? "choice" : "response" };
}

/** The text that these ids stand for: what a test compares with what was said. */
export const textOfIds = (list: readonly number[]): string =>
	list
		.flatMap((id) => (id >= PAIR ? [Math.floor(id / PAIR), id % PAIR] : [id]))
		.map((id) => (id <= END ? "|" : String.fromCharCode(id - 10)))
		.join("");

function messageIds({ role, content, tool_calls: calls }: Part): number[] {
	const made = (calls as readonly { function: { name: string; arguments: string } }[] | undefined)?.map(
		({ function: { name, arguments: args } }) => [name, args] as const,
	);
	return chars(role === "assistant" ? written(content as string | null, made ?? []) : String(content), ROLES[String(role)] ?? 0);
}

const written = (text: string | null, calls: readonly (readonly [string, string])[]): string =>
	`${text ?? ""}${calls.map(([name, args]) => `<call>${name} ${args}</call>`).join("")}`;

const chars = (text: string, role: number): number[] => [role, ...ids(text), END];
const ids = (text: string): number[] => Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) + 10);

/** Two characters become one id, as after a change of the tokeniser's mind. */
function paired(list: readonly number[]): number[] {
	const [first = 0, second = 0, third = 0, ...rest] = list;
	return [first, second * PAIR + third, ...rest];
}
