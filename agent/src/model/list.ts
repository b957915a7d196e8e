/** The models of an endpoint, with what it tells about each: the window, the longest answer, prices, whether it takes tools. */
import { anySignal } from "../base/index.js";
import { baseUrl, below, flagsOf } from "./endpoints.js";
import { readBody } from "./errors.js";
import { type JsonObject, list, number, object, parsed, text } from "./json.js";
import { ModelError } from "./model.js";
import { type ModelOptions, type ModelParts, type Prices, WIRES } from "./open.js";
import { send, withKey } from "./request.js";

export interface ListedModel {
	readonly id: string;
	readonly name?: string;
	readonly window?: number;
	readonly maxTokens?: number;
	readonly prices?: Prices;
	/** Unknown where the endpoint does not say. */
	readonly tools?: boolean;
}

export type ModelListOptions = Pick<ModelOptions, "endpoint" | "key" | "headers">;

const LIST_MS = 20_000;
const MOST_BYTES = 32 * 1024 * 1024;

/** Sorted by id. Throws `ModelError`, or the signal's reason. */
export async function listModels(options: ModelListOptions, parts: ModelParts, signal: AbortSignal): Promise<ListedModel[]> {
	const url = new URL(below(baseUrl(options.endpoint.url), "/models"));
	if (options.endpoint.format === "anthropic") url.searchParams.set("limit", "1000");
	const body = await getJson(options, url.href, parts, signal);
	const rows = Array.isArray(body) ? body : list(object(body).data ?? object(body).models);
	if (rows.length === 0 && !Array.isArray(object(body).data))
		throw new ModelError("wrong", `${options.endpoint.url} lists no models; check the address, or type the name of the model`);
	return rows
		.map((row) => listed(object(row)))
		.filter(({ id }) => id !== "")
		.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** GET (or POST, with a body) of JSON at the endpoint. */
export async function getJson(
	{ endpoint, key, headers }: ModelListOptions,
	url: string,
	parts: ModelParts,
	signal: AbortSignal,
	more: { ms?: number; body?: unknown } = {},
): Promise<unknown> {
	const timeout = AbortSignal.timeout(more.ms ?? LIST_MS);
	const connection = { settings: endpoint, headers, fetch: parts.fetch ?? fetch, now: Date.now };
	return withKey(key ?? (async () => ""), async (value) => {
		try {
			const body = more.body === undefined ? undefined : JSON.stringify(more.body);
			const response = await send(connection, { url, headers: WIRES[endpoint.format].headers(value, flagsOf(endpoint)), body }, anySignal([signal, timeout]));
			const source = await readBody(response, MOST_BYTES);
			const found = parsed(source);
			if (found !== undefined) return found;
			const page = /^\s*</.test(source) ? "a web page" : "something that is no JSON";
			throw new ModelError("wrong", `${url} answered with ${page}, so it is no model endpoint; check its address (most end with /v1)`);
		} catch (error) {
			signal.throwIfAborted();
			if (timeout.aborted) throw new ModelError("again", `${url} did not answer within ${(more.ms ?? LIST_MS) / 1000} s; check that it runs`);
			throw error;
		}
	});
}

/** Each endpoint has names of its own for the same. */
function listed(row: JsonObject): ListedModel {
	const top = object(row.top_provider);
	const window = first(
		top.context_length,
		row.context_length,
		row.max_model_len,
		row.context_window,
		row.max_context_length,
		row.max_input_tokens,
		row.inputTokenLimit,
	);
	const maxTokens = first(top.max_completion_tokens, row.max_completion_tokens, row.max_output_tokens, row.max_tokens, row.outputTokenLimit);
	const name = text(row.display_name) || text(row.displayName) || text(row.name);
	const id = (text(row.id) || text(row.name)).replace(/^models\//, ""); // as Google has it
	const parameters = Array.isArray(row.supported_parameters) ? row.supported_parameters : undefined;
	const calling = object(row.capabilities).function_calling;
	const tools = parameters ? parameters.includes("tools") : typeof calling === "boolean" ? calling : undefined;
	const prices = pricesOf(object(row.pricing));
	return {
		id,
		...(name !== "" && name !== id ? { name } : {}),
		...(window === undefined ? {} : { window }),
		...(maxTokens === undefined ? {} : { maxTokens }),
		...(prices ? { prices } : {}),
		...(tools === undefined ? {} : { tools }),
	};
}

const first = (...values: readonly unknown[]): number | undefined => values.map(number).find((value) => value !== undefined && value > 0);

/** OpenRouter writes dollars a token as text; a negative price means that it depends. */
function pricesOf(pricing: JsonObject): Prices | undefined {
	const dollars = (value: unknown) =>
		(typeof value === "string" || typeof value === "number") && value !== "" && Number(value) >= 0 ? Number(value) : undefined;
	const input = dollars(pricing.prompt);
	const output = dollars(pricing.completion);
	const cached = dollars(pricing.input_cache_read);
	return input === undefined || output === undefined ? undefined : { input, output, ...(cached === undefined ? {} : { cached }) };
}
