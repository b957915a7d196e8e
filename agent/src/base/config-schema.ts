/** All that can be set in agent.json, with its defaults. agent/docs/config.md explains it. */
import * as z from "zod";
import { keySourceSchema } from "./keys.js";

const nameSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, "must be letters, digits, dots, dashes and underscores, at most 64");
const tokensSchema = z.number().int().min(1_024).max(100_000_000);
const webSchema = z.string().refine(isWebUrl, "must be an http or https address without a user name, password or fragment");

function isWebUrl(text: string): boolean {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	return url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.hash === "";
}

/** A header with a secret in it belongs to `key`, which is not in this file. */
const headersSchema = z.record(
	z
		.string()
		.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "is no name of an HTTP header")
		.refine((name) => !/^(proxy-)?authorization$|^x-api-key$/i.test(name), "has a secret in it; use `key`"),
	z.string().regex(/^[\x20-\x7e]*$/, "must be printable ASCII"),
);

/** A server that has models. What is not set is found by the probe of `setup`, or is the default of its format. */
export const endpointSchema = z.strictObject({
	url: webSchema,
	format: z.enum(["chat", "responses", "anthropic"]).default("chat"),
	key: keySourceSchema.optional(),
	headers: headersSchema.default({}),
	/** Strict templates (Mistral): no user message directly after a tool's result. */
	bridge: z.boolean().optional(),
	/** Which field of a chat request bounds the answer. */
	maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
	/** Which role the system prompt has. */
	systemRole: z.enum(["system", "developer"]).optional(),
	/** The context window of its models, in tokens, where the endpoint does not tell. */
	window: tokensSchema.optional(),
	/** How many tokens an answer may have. */
	maxTokens: z.number().int().min(1).max(10_000_000).optional(),
	/** Seconds without a byte after which a stream counts as cut. Node's `fetch` waits for no more than 300. */
	idleSeconds: z.number().int().min(1).max(300).optional(),
	/** Asks for token ids and logprobs, for training data: `stream` from vLLM, `whole` from SGLang, which gives them only with answers that are not streamed. */
	tokenIds: z.enum(["stream", "whole"]).optional(),
	/** The same for one model of it. */
	models: z
		.record(z.string().min(1).max(200), z.strictObject({ window: tokensSchema.optional(), maxTokens: z.number().int().min(1).max(10_000_000).optional() }))
		.default({}),
});
export type EndpointConfig = z.infer<typeof endpointSchema>;

/** A value for another program: text, or a key that is read when the program starts and goes to it alone. */
const secretValueSchema = z.union([z.string(), keySourceSchema]);

/** An MCP server of others. `tools`: which of its tools are used; without it all. */
const mcpBase = { tools: z.array(z.string().min(1)).optional(), enabled: z.boolean().default(true), seconds: z.number().int().min(1).max(3_600).default(60) };
export const mcpServerSchema = z.union([
	z.strictObject({
		...mcpBase,
		command: z.string().min(1),
		args: z.array(z.string()).default([]),
		env: z.record(z.string().min(1), secretValueSchema).default({}),
		cwd: z.string().optional(),
	}),
	z.strictObject({ ...mcpBase, url: webSchema, key: keySourceSchema.optional(), headers: headersSchema.default({}) }),
]);
export type McpServerConfig = z.infer<typeof mcpServerSchema>;

/** One account on a chat platform. What else it has to have (a server, an address) its platform says, and checks. */
const platformSchema = z.looseObject({
	/** telegram, slack, discord, matrix, xmpp, irc or email. Without it: the name of the entry. */
	kind: nameSchema.optional(),
	enabled: z.boolean().default(true),
	/** Tokens and passwords, by the names that the platform gives them. */
	keys: z.record(nameSchema, keySourceSchema).default({}),
});
export type PlatformConfig = z.infer<typeof platformSchema>;

/** The gateway to chat platforms. agent/docs/gateway.md explains it. */
const gatewaySchema = z.strictObject({
	platforms: z.record(nameSchema, platformSchema).default({}),
	/** People who may write, as PLATFORM/ID: `talk`, `approve` (and talk), `admin` (all). Others are not answered before pairing. */
	people: z.record(z.string().regex(/^[^/]+\/.+$/, "must be PLATFORM/ID"), z.enum(["talk", "approve", "admin"])).default({}),
	/** When a chat begins a new conversation by itself. */
	reset: z
		.strictObject({
			mode: z.enum(["none", "idle", "daily", "both"]).default("idle"),
			/** idle: after so many minutes without a message, an answer or news. */
			minutes: z.number().int().min(1).max(5_256_000).default(1_440),
			/** daily: at this local time. */
			at: z
				.string()
				.regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time as 04:00")
				.default("04:00"),
		})
		.prefault({}),
	/** Which news of background processes the chat is shown: every update, ends, ends that failed, none. The model is told in any case. */
	news: z.enum(["all", "result", "error", "off"]).default("result"),
	groups: z
		.strictObject({
			/** Each person of a group has a conversation of their own. */
			perPerson: z.boolean().default(false),
			/** Questions about commands are asked in the group, not in the private chat of whoever wrote. */
			approveInGroup: z.boolean().default(false),
		})
		.prefault({}),
	/** Files that people send: the largest that is taken. */
	fileBytes: z.number().int().min(0).max(1_073_741_824).default(20_971_520),
	/** Counters for Prometheus at http://127.0.0.1:PORT/metrics. Without it: none. */
	metricsPort: z.number().int().min(0).max(65_535).optional(),
});

export const agentConfigSchema = z.strictObject({
	/** By the name that `endpoint` uses. */
	endpoints: z.record(nameSchema, endpointSchema).default({}),
	/** One of them. Without it: the only one there is. */
	endpoint: nameSchema.optional(),
	/** As the endpoint names it. */
	model: z.string().min(1).max(200).optional(),
	/** How hard the model is asked to think. Without it: as the endpoint has it. */
	reasoning: z.enum(["low", "medium", "high"]).optional(),
	/** The place of commands: an address, a name of the core's config.json, or an object as one of its places. */
	place: z.union([z.string().min(1), z.looseObject({ kind: z.string() })]).default("local"),
	/** Which sets of tools. Without it: a chat warns and loads all that are available, a run refuses. */
	toolsets: z.array(nameSchema).optional(),
	/** Sets of one's own, by name. */
	sets: z
		.record(
			nameSchema,
			z.strictObject({
				description: z.string().max(500).default(""),
				tools: z.array(z.string().min(1)).default([]),
				includes: z.array(nameSchema).default([]),
			}),
		)
		.default({}),
	mcpServers: z.record(nameSchema, mcpServerSchema).default({}),
	limits: z
		.strictObject({
			/** Model requests in a turn. */
			steps: z.number().int().min(1).max(10_000).default(90),
			/** Calls that only read, at once. */
			parallel: z.number().int().min(1).max(32).default(4),
			/** The same call with the same result: a note after so many, the end of the turn after so many. */
			sameCallNote: z.number().int().min(2).max(1_000).default(5),
			sameCallStop: z.number().int().min(3).max(1_000).default(8),
			/** Calls whose arguments are no JSON, in a row, that end a turn. */
			badCalls: z.number().int().min(1).max(100).default(3),
			/** Characters of a tool's result that the model is sent. */
			resultChars: z.number().int().min(1_000).max(10_000_000).default(50_000),
		})
		.prefault({}),
	/** When and how old parts of a conversation are shortened. */
	compact: z
		.strictObject({
			/** Another model of the same endpoint for summaries. */
			model: z.string().min(1).max(200).optional(),
			/** Tokens of tool results that stay whole, of messages that stay, of the summary. A small window has less. */
			keepResults: z.number().int().min(0).max(10_000_000).default(40_000),
			keepMessages: z.number().int().min(0).max(10_000_000).default(20_000),
			summary: z.number().int().min(256).max(100_000).default(8_000),
			/** How long a summary may take. */
			seconds: z.number().int().min(1).max(3_600).default(120),
		})
		.prefault({}),
	/** The effect of a message on a turn that is under way. */
	busy: z.enum(["steer", "queue", "interrupt"]).default("steer"),
	/** Days after which conversations that no one has continued are removed; null: never. */
	keepDays: z.number().int().min(1).max(36_500).nullable().default(null),
	gateway: gatewaySchema.prefault({}),
});
export type AgentConfig = z.infer<typeof agentConfigSchema>;
