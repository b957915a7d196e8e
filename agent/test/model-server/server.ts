/**
 * A model endpoint on loopback whose answers a test writes down. It speaks OpenAI chat completions (`/v1/chat/completions`), OpenAI responses
 * (`/v1/responses`) and Anthropic messages (`/v1/messages`), streamed and whole, and lists models (`/v1/models`).
 *
 * Each request is checked with the rules of its format (`rules-*.ts`, which share nothing with the client). A request that breaks one gets a 400 in the
 * provider's words and takes no step; `await using` throws at the end unless the test says `broken: "expected"`.
 */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicError, anthropicFrames, anthropicWhole } from "./anthropic.js";
import { chatError, chatFrames, chatWhole } from "./chat.js";
import { checkKey } from "./key.js";
import { type ListedModel, listModels } from "./list.js";
import { responsesError, responsesFrames, responsesWhole } from "./responses.js";
import { breaks, Issued } from "./rules.js";
import { type SeenRequest, type ServedFormat, seen } from "./seen.js";
import { sendFrames } from "./send.js";
import type { Fault, Step } from "./step.js";
import type { TokenMode } from "./token-ids.js";

/** A list of steps, one a request; or a function that decides by the request. A string is a step that says it. */
export type Script = readonly (Step | string)[] | ((request: SeenRequest) => Step | string | Promise<Step | string>);

export interface ModelServerOptions {
	readonly script?: Script;
	readonly models?: readonly (ListedModel | string)[];
	/** Requests with another key get a 401. Without it every key, and none, will do. */
	readonly key?: string;
	/** Chat only: has the template of strict models, which want user and assistant in turn. */
	readonly strict?: boolean;
	/** Other pages that servers of models have: JSON by method and path, as in `GET /api/ps`. */
	readonly pages?: Readonly<Record<string, unknown>>;
	/** `expected`: a test that sends broken requests looks at `broken` itself. */
	readonly broken?: "expected";
	readonly port?: number;
	/** Chat only: gives token ids, as this kind of server does; or by the request. */
	readonly tokens?: TokenMode | ((request: SeenRequest) => TokenMode);
}

export interface ModelServer extends AsyncDisposable {
	/** Ends with `/v1`. */
	readonly url: string;
	/** Requests for an answer, in order of arrival, those with a broken rule included. */
	readonly requests: readonly SeenRequest[];
	/** Rules that requests have broken, in the words that they were answered with; also a step that could not be played. */
	readonly broken: readonly string[];
	/** Appends steps to a script that is a list. */
	play(...steps: readonly (Step | string)[]): void;
	/** Resolves when that many requests for an answer have arrived. */
	arrived(count: number): Promise<void>;
	/** Resolves when no answer is being sent any more: clients have all they want, or have gone. */
	idle(): Promise<void>;
	close(): Promise<void>;
}

export async function modelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
	const steps = typeof options.script === "function" ? undefined : [...(options.script ?? [])];
	const decide = typeof options.script === "function" ? options.script : undefined;
	const requests: SeenRequest[] = [];
	const broken: string[] = [];
	const issued = new Issued();
	const waiting = new Set<() => void>();

	const answer = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
		const url = new URL(request.url ?? "/", "http://server");
		const format = formatOf(url.pathname);
		const body = await bodyOf(request);
		const page = options.pages?.[`${request.method} ${url.pathname}`];
		if (page !== undefined) return json(response, 200, page);
		const refused = checkKey(request.headers, options.key);
		if (refused && (format || url.pathname.endsWith("/models"))) return json(response, 401, errorOf(format ?? listFormat(request))(refused));
		if (request.method === "GET" && url.pathname.endsWith("/models"))
			return json(response, 200, listModels(options.models ?? ["scripted"], listFormat(request)));
		if (request.method !== "POST" || !format)
			return json(response, 404, chatError({ message: `Unknown request URL: ${request.method} ${url.pathname}`, type: "invalid_request_error" }));

		const one = seen(requests.length + 1, format, request.headers, body);
		requests.push(one);
		for (const wake of [...waiting]) wake();
		const wrong = one.unreadable ?? breaks(one, { strict: options.strict === true, issued });
		if (wrong) {
			broken.push(`request ${one.n} (${format}): ${wrong}`);
			return json(response, 400, errorOf(format)({ message: wrong, type: "invalid_request_error" }));
		}
		const chosen = decide ? await decide(one) : steps?.shift();
		if (chosen === undefined) {
			broken.push(`request ${one.n} (${format}): the script has no more steps`);
			return json(response, 400, errorOf(format)({ message: "the script has no more steps", type: "invalid_request_error" }));
		}
		const step: Step = typeof chosen === "string" ? { text: chosen } : chosen;
		issued.note(one, step);
		const tokens = typeof options.tokens === "function" ? options.tokens(one) : options.tokens;
		await play(one, step, response, tokens);
	};

	const under = new Set<http.ServerResponse>();
	const server = http.createServer((request, response) => {
		under.add(response);
		response.once("close", () => {
			under.delete(response);
			for (const wake of [...waiting]) wake();
		});
		answer(request, response).catch((error: unknown) => {
			broken.push(error instanceof Error ? error.message : String(error));
			if (response.headersSent) response.destroy();
			else json(response, 400, chatError({ message: String(error), type: "invalid_request_error" }));
		});
	});
	await new Promise<void>((resolve, reject) => server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve));
	const close = () =>
		new Promise<void>((resolve) => {
			server.close(() => resolve());
			server.closeAllConnections();
		});

	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		requests,
		broken,
		play: (...more) => void steps?.push(...more),
		arrived: async (count) => {
			while (requests.length < count) await woken(waiting);
		},
		idle: async () => {
			while (under.size > 0) await woken(waiting);
		},
		close,
		async [Symbol.asyncDispose]() {
			await close();
			if (broken.length > 0 && options.broken !== "expected") throw new Error(`the model server was sent what it must not be:\n${broken.join("\n")}`);
		},
	};
}

/** Resolves at the next request, or when a response closes. */
function woken(waiting: Set<() => void>): Promise<void> {
	return new Promise((resolve) => {
		const wake = () => {
			waiting.delete(wake);
			resolve();
		};
		waiting.add(wake);
	});
}

async function play(request: SeenRequest, step: Step, response: http.ServerResponse, tokens?: TokenMode): Promise<void> {
	const { fault } = step;
	const asked = { model: request.model, n: request.n, body: request.body, ...(tokens ? { tokens } : {}) };
	const frames = { chat: chatFrames, responses: responsesFrames, anthropic: anthropicFrames }[request.format];
	const whole = { chat: chatWhole, responses: responsesWhole, anthropic: anthropicWhole }[request.format];
	if (fault?.kind === "status") {
		const headers = { "content-type": "application/json", ...fault.headers };
		response.writeHead(fault.status, headers).end(fault.body ?? JSON.stringify(errorOf(request.format)(fault)));
		return;
	}
	if (fault?.kind === "no stream" || request.body.stream !== true) return json(response, 200, whole(step, asked));

	const closed = new AbortController();
	response.once("close", () => closed.abort());
	const errorFrame = (one: Fault & { kind: "error" }) => ({
		place: "finish" as const,
		event: request.format === "chat" ? undefined : "error",
		data: errorOf(request.format)(one, true),
	});
	await sendFrames(response, frames(step, asked), step, errorFrame, closed.signal);
}

function errorOf(format: ServedFormat): (fault: { message?: string; type?: string; code?: string }, inStream?: boolean) => unknown {
	if (format === "anthropic") return anthropicError;
	return (fault, inStream) => (format === "responses" && inStream ? responsesError(fault) : chatError(fault));
}

function formatOf(pathname: string): ServedFormat | undefined {
	if (pathname.endsWith("/chat/completions")) return "chat";
	if (pathname.endsWith("/responses")) return "responses";
	return pathname.endsWith("/messages") ? "anthropic" : undefined;
}

const listFormat = (request: http.IncomingMessage): ServedFormat => (request.headers["anthropic-version"] ? "anthropic" : "chat");

function json(response: http.ServerResponse, status: number, body: unknown): void {
	response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function bodyOf(request: http.IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks).toString("utf8");
}
