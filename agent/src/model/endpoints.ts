/** Endpoints that are known by their address, and what each wants differently. Any other URL gets the defaults, and the probe of `setup` finds the rest. */
import type { IdRule } from "./ids.js";
import { ModelError, type WireFormat } from "./model.js";
import type { TokenIdsWish } from "./token-ids.js";

/** An endpoint as the settings have it (an entry of `endpoints` in agent.json). What is set there wins over what is known. */
export interface EndpointSettings {
	readonly url: string;
	readonly format: WireFormat;
	readonly bridge?: boolean;
	readonly maxTokensField?: EndpointFlags["maxTokensField"];
	readonly systemRole?: EndpointFlags["systemRole"];
	readonly window?: number;
	readonly maxTokens?: number;
	readonly idleSeconds?: number;
	readonly tokenIds?: TokenIdsWish;
	readonly headers?: Readonly<Record<string, string>>;
	readonly models?: Readonly<Record<string, { readonly window?: number; readonly maxTokens?: number }>>;
}

/** How to speak to it. All but `ids` and `bridge` are about chat completions. */
export interface EndpointFlags {
	/** The name of the limit of an answer's tokens. */
	readonly maxTokensField: "max_tokens" | "max_completion_tokens";
	readonly systemRole: "system" | "developer";
	/** Its templates want user and assistant in turn, and no user after a result. */
	readonly bridge: boolean;
	readonly ids: IdRule;
	/** Takes `stream_options`, and tells usage only if asked. */
	readonly streamUsage: boolean;
	/** How a wish for reasoning is written: `reasoning_effort`, OpenRouter's `reasoning`, or not at all. */
	readonly reasoning: "effort" | "object" | "none";
	/** Anthropic's format: only the key in `x-api-key`. All others who speak it know a bearer token, and some know nothing else. */
	readonly apiKeyOnly: boolean;
	/** Takes Anthropic's marks for the cache, for models of Anthropic. */
	readonly cacheMarks: boolean;
	/** Responses: asks for sealed reasoning, and for a summary of it. Models that do not reason refuse the former. */
	readonly sealed: boolean;
	readonly summary: boolean;
}

export interface KnownEndpoint {
	readonly name: string;
	readonly url: string;
	readonly formats: readonly [WireFormat, ...WireFormat[]];
	/** Wants a key. Those on this machine usually do not. */
	readonly key: boolean;
	readonly flags?: Partial<EndpointFlags>;
}

const DEFAULTS: EndpointFlags = {
	maxTokensField: "max_tokens",
	systemRole: "system",
	bridge: false,
	ids: "any",
	streamUsage: true,
	reasoning: "effort",
	apiKeyOnly: false,
	cacheMarks: false,
	sealed: true,
	summary: true,
};

export const KNOWN_ENDPOINTS: readonly KnownEndpoint[] = [
	{
		name: "OpenAI",
		url: "https://api.openai.com/v1",
		formats: ["responses", "chat"],
		key: true,
		flags: { maxTokensField: "max_completion_tokens", systemRole: "developer" },
	},
	{ name: "Anthropic", url: "https://api.anthropic.com/v1", formats: ["anthropic"], key: true, flags: { apiKeyOnly: true } },
	{
		name: "OpenRouter",
		url: "https://openrouter.ai/api/v1",
		formats: ["chat", "responses", "anthropic"],
		key: true,
		flags: { reasoning: "object", cacheMarks: true },
	},
	{ name: "Ollama", url: "http://127.0.0.1:11434/v1", formats: ["chat", "responses", "anthropic"], key: false },
	{ name: "LM Studio", url: "http://127.0.0.1:1234/v1", formats: ["chat", "responses"], key: false, flags: { reasoning: "none" } },
	{ name: "vLLM", url: "http://127.0.0.1:8000/v1", formats: ["chat", "responses", "anthropic"], key: false },
	{ name: "llama.cpp", url: "http://127.0.0.1:8080/v1", formats: ["chat"], key: false, flags: { reasoning: "none" } },
	{ name: "Groq", url: "https://api.groq.com/openai/v1", formats: ["chat", "responses"], key: true, flags: { maxTokensField: "max_completion_tokens" } },
	{
		name: "Mistral",
		url: "https://api.mistral.ai/v1",
		formats: ["chat"],
		key: true,
		flags: { bridge: true, ids: "nine", streamUsage: false, reasoning: "none" },
	},
	{ name: "Google", url: "https://generativelanguage.googleapis.com/v1beta/openai", formats: ["chat"], key: true },
	{ name: "DeepSeek", url: "https://api.deepseek.com/v1", formats: ["chat"], key: true, flags: { reasoning: "none" } },
	{ name: "xAI", url: "https://api.x.ai/v1", formats: ["chat", "responses"], key: true },
];

export const knownEndpoint = (url: string): KnownEndpoint | undefined => KNOWN_ENDPOINTS.find((known) => hostOf(known.url) === hostOf(url));

export function flagsOf(settings: EndpointSettings): EndpointFlags {
	const { bridge, maxTokensField, systemRole } = settings;
	const set = { bridge, maxTokensField, systemRole };
	const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
	return { ...DEFAULTS, ...knownEndpoint(settings.url)?.flags, ...given };
}

/** A host of this machine or of the network around it: an address without `https://` is taken as `http://` there. */
const NEAR = /^(localhost|[^.:/]+|127(\.\d+){3}|10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|[\w.-]+\.local)(?=[:/]|$)/i;
const BARE_HOST = /^[a-z\d][\w.-]*(:\d+)?(\/.*)?$/i;

const withScheme = (address: string): string => (BARE_HOST.test(address) ? `${NEAR.test(address) ? "http" : "https"}://${address}` : address);

/** The URL that `/models` and the others are below: without what people paste with it, and with `/v1` if there is no path at all. Throws `ModelError`. */
export function baseUrl(source: string): string {
	const address = withScheme(source.trim());
	const url = URL.canParse(address) ? new URL(address) : undefined;
	if (!url || !/^https?:$/.test(url.protocol))
		throw new ModelError("wrong", `"${source}" is no address of an endpoint; give one like https://api.openai.com/v1`);
	if (url.username !== "" || url.password !== "") throw new ModelError("wrong", "the address of the endpoint has a password in it; give the key separately");
	const path = url.pathname.replace(/\/+$/, "").replace(/\/(chat\/completions|completions|responses|messages|models)$/, "");
	return url.origin + (path === "" ? defaultPath(url) : path) + url.search;
}

/** Known endpoints have their own; all others that are given without a path have `/v1`. */
function defaultPath(url: URL): string {
	const known = knownEndpoint(url.href);
	return known ? new URL(known.url).pathname : "/v1";
}

/** The URL of something below the base. A query (`?api-version=`) stays at the end. */
export function below(base: string, path: string): string {
	const url = new URL(base);
	url.pathname = url.pathname.replace(/\/+$/, "") + path;
	return url.href;
}

/** As people say it: the name of a known one with its host, else the host. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host.replace(/^(localhost|\[::1\])(?=:|$)/, "127.0.0.1") : url);
