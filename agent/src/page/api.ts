/** The page's own API, below `/api/parts/agent/`: who comes here may do everything, since the core's guard lets no one else through. */
import type { PartVisit } from "holdfast/http";
import * as z from "zod";
import { AgentError, isConversationId } from "../base/index.js";
import { Inbox, Log, setTitle } from "../talk/index.js";
import { type Desk, PLATFORM } from "./desk.js";
import { problemOf } from "./errors.js";
import { ConversationList, otherHolder } from "./list.js";
import { MESSAGE_BYTES, type SentMessage } from "./messages.js";
import { endpointModels, pageSettings } from "./settings.js";
import { shownEntry } from "./shown.js";
import { firstOf, openStream } from "./stream.js";
import { terminalOf } from "./terminal-of.js";

const MOST_LISTED = 2_000;
const BODY_BYTES = MESSAGE_BYTES + 64 * 1024;
const OWNER = { platform: PLATFORM, person: "owner" };

const text = z.string().refine((value) => value.trim() !== "", "is empty; write something");
const mode = z.enum(["steer", "queue", "interrupt"]);
const messageSchema = z.strictObject({
	text,
	mode: mode.optional(),
	id: z
		.string()
		.regex(/^[\w-]{1,64}$/)
		.optional(),
});
const beginSchema = z.strictObject({
	text,
	model: z.string().trim().min(1).max(200).optional(),
	place: z.string().trim().min(1).max(2_000).optional(),
	cwd: z.string().trim().min(1).max(4_096).optional(),
});
const answerSchema = z.strictObject({ id: z.string(), text: z.string() });
const titleSchema = z.strictObject({ title: text });
const number = z.coerce.number().int().min(0);
const streamSchema = z.strictObject({ list: number.max(MOST_LISTED).optional(), conversation: z.string().optional(), from: number.optional() });
const entriesSchema = z.strictObject({ before: number });

interface Asked {
	/** The parts of the path that a route leaves open. */
	readonly id: string;
	readonly item: string;
	readonly query: Record<string, string>;
	readonly body: unknown;
	readonly visit: PartVisit;
}

interface Route {
	readonly method: string;
	/** `:id` is a conversation, `:item` something of it. */
	readonly path: string;
	readonly act: (asked: Asked) => unknown;
}

export class PageApi {
	readonly #desk: Desk;
	readonly #list: ConversationList;
	readonly #closing = new AbortController();
	readonly #routes: readonly { readonly route: Route; readonly pattern: RegExp }[];

	constructor(desk: Desk) {
		this.#desk = desk;
		this.#list = new ConversationList(desk);
		this.#routes = this.#table().map((route) => ({ route, pattern: patternOf(route.path) }));
	}

	/** Ends what is streamed. */
	close(): void {
		this.#closing.abort();
	}

	async fetch(request: Request, visit: PartVisit): Promise<Response> {
		const fits = this.#routes.filter(({ pattern }) => pattern.test(visit.path));
		const found = fits.find(({ route }) => route.method === request.method);
		if (!found) return answer(...notHere(fits.length > 0));
		const body = request.method === "POST" ? await visit.json(BODY_BYTES) : undefined; // what is wrong with it the core says
		try {
			const { id = "", item = "" } = found.pattern.exec(visit.path)?.groups ?? {};
			const query = Object.fromEntries(new URL(request.url).searchParams);
			const made = await found.route.act({ id: decoded(id), item: decoded(item), query, body, visit });
			return made instanceof Response ? made : answer(200, made);
		} catch (error) {
			const { status, body: problem } = problemOf(error);
			return answer(status, problem, this.#desk.keys.redact);
		}
	}

	#table(): Route[] {
		const desk = this.#desk;
		const { home } = desk;
		return [
			{ method: "GET", path: "/settings", act: () => pageSettings(desk) },
			{ method: "GET", path: "/models", act: async () => ({ models: await endpointModels(desk) }) },
			{ method: "GET", path: "/gateway", act: async () => (await import("../gateway/index.js")).gatewayHealth(home) },
			{ method: "GET", path: "/stream", act: ({ query, visit }) => this.#stream(checked(streamSchema, query), visit) },
			{
				method: "POST",
				path: "/conversations",
				act: async ({ body }) => {
					const wanted = checked(beginSchema, body);
					const { conversation } = await desk.begin(wanted);
					return { id: conversation.id, sent: await conversation.send(wanted.text, OWNER) };
				},
			},
			{ method: "GET", path: "/conversations/:id/entries", act: ({ id, query }) => this.#earlier(id, checked(entriesSchema, query).before) },
			{ method: "GET", path: "/conversations/:id/entries/:item", act: ({ id, item }) => this.#whole(id, item) },
			{
				method: "POST",
				path: "/conversations/:id/messages",
				act: async ({ id, body }): Promise<SentMessage> => {
					const { text: said, ...options } = checked(messageSchema, body);
					return (await desk.open(known(id))).conversation.send(said, OWNER, options);
				},
			},
			{ method: "DELETE", path: "/conversations/:id/messages/:item", act: ({ id, item }) => this.#takeBack(id, item) },
			{ method: "POST", path: "/conversations/:id/interrupt", act: ({ id }) => this.#interrupt(id) },
			{
				method: "POST",
				path: "/conversations/:id/resume",
				act: async ({ id }) => {
					(await desk.open(known(id))).conversation.resume();
					return {};
				},
			},
			{
				method: "POST",
				path: "/conversations/:id/title",
				act: async ({ id, body }) => {
					const { title } = checked(titleSchema, body);
					const open = desk.get(id)?.conversation;
					if (open) await open.setTitle(title);
					else {
						await using log = await Log.open(home, known(id), { what: "the page" });
						await setTitle(log, title);
					}
					return {};
				},
			},
			{
				method: "POST",
				path: "/conversations/:id/answers",
				act: async ({ id, body }) => {
					const { id: question, text: said } = checked(answerSchema, body);
					const open = desk.get(id)?.conversation;
					if (!open) throw new AgentError("NOT_FOUND", "this question does not wait for an answer any more; write a message instead");
					open.answer(question, said);
					return {};
				},
			},
			{
				method: "GET",
				path: "/conversations/:id/calls/:item/terminal",
				act: async ({ id, item }) => ({ session_id: await terminalOf(desk, known(id), item) }),
			},
		];
	}

	#stream({ list = 0, conversation, from }: z.infer<typeof streamSchema>, { isStillValid }: PartVisit): Response {
		const desk = this.#desk;
		if (conversation !== undefined && isConversationId(conversation)) desk.goOn(conversation).catch(() => {}); // the stream says what is wrong with it
		const shown = conversation === undefined ? undefined : { id: conversation, ...(from === undefined ? {} : { from }) };
		const body = openStream({ desk, list: this.#list, listed: list, conversation: shown, isStillValid, closing: this.#closing.signal });
		return new Response(body, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" } });
	}

	#earlier(id: string, before: number): unknown {
		const { entries } = Log.read(this.#desk.home, known(id));
		const end = Math.min(before, entries.length);
		const first = firstOf(entries, end);
		return { entries: entries.slice(first, end).flatMap((entry) => shownEntry(entry) ?? []), earlier: first > 0 };
	}

	#whole(id: string, n: string): unknown {
		const entry = Log.read(this.#desk.home, known(id)).entries[Number(n)];
		const shown = entry && shownEntry(entry, { whole: true });
		if (!shown) throw new AgentError("NOT_FOUND", `conversation ${id} has no line ${n} to show; load the page again`);
		return { entry: shown };
	}

	async #takeBack(id: string, message: string): Promise<unknown> {
		const open = this.#desk.get(id)?.conversation;
		const taken = open ? await open.takeBack(message) : (await new Inbox(this.#desk.home, known(id)).takeBack(message))?.text;
		if (taken === undefined) throw new AgentError("NOT_FOUND", "this message does not wait any more: the model has it");
		return { text: taken };
	}

	async #interrupt(id: string): Promise<unknown> {
		const holder = otherHolder(this.#desk.home, known(id));
		if (holder !== undefined) throw new AgentError("BUSY", `${holder} makes this turn; stop it there`);
		return { stopped: (await this.#desk.get(id)?.conversation.interrupt()) ?? false };
	}
}

/** Ids become names of files. */
function known(id: string): string {
	if (!isConversationId(id)) throw new AgentError("NOT_FOUND", "there is no conversation of that id; look at the list");
	return id;
}

function checked<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
	const result = schema.safeParse(value);
	if (result.success) return result.data;
	const [issue] = result.error.issues;
	throw new AgentError("INVALID", `${issue?.path.join(".") || "the request"}: ${issue?.message ?? "cannot be used"}`);
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`);

function decoded(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part; // no encoding: no id of ours is like that
	}
}

const notHere = (otherMethod: boolean): [number, unknown] => [
	otherMethod ? 405 : 404,
	{ error: { code: otherMethod ? "INVALID" : "NOT_FOUND", message: otherMethod ? "this path takes another method" : "there is nothing at this path" } },
];

const answer = (status: number, body: unknown, redact = (said: string) => said): Response =>
	new Response(redact(JSON.stringify(body)), { status, headers: { "Content-Type": "application/json", "Cache-Control": "no-store" } });
