/**
 * A double of chat platforms, as a server on loopback: it keeps messages until they are acknowledged and delivers them again, takes messages and edits, and
 * breaks as real ones do. A method that it does not know is an error of the test. Its client is fixtures/double.mjs.
 */
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { PlatformTraits } from "../../src/gateway/platforms/platform.js";

export const TRAITS: PlatformTraits = {
	limit: { size: 4_000, unit: "characters" },
	certainty: "exact",
	edits: true,
	buttons: true,
	files: true,
	typing: true,
	silent: true,
};

export type DoubleFault =
	| { readonly kind: "cut before" | "cut after" }
	| { readonly kind: "later"; readonly ms: number }
	| { readonly kind: "dead" | "refused" | "key" | "taken" | "not-sent" };

export interface ShownMessage {
	/** The platform's. */
	readonly message: string;
	/** Ours, as the platform was told it. */
	readonly id: string;
	readonly chat: string;
	readonly thread?: string;
	text: string;
	buttons: { label: string; data: string }[];
	readonly rings: boolean;
	readonly replyTo?: string;
	readonly file?: { readonly name: string; readonly content: string };
	readonly edits: string[];
}

export interface DoubleOptions {
	readonly text?: string;
	readonly chat?: string;
	readonly kind?: "direct" | "group";
	readonly thread?: string;
	readonly person?: string;
	readonly name?: string;
	readonly chatName?: string;
	readonly addressed?: boolean;
	readonly replyTo?: string;
	readonly files?: readonly { name: string; content: string; size?: number }[];
}

/** Of a request: the test's own client has written it. */
type Body = Readonly<Record<string, unknown>>;

export class DoubleServer {
	readonly #server: http.Server;
	readonly #platforms = new Map<string, DoubleChats>();
	readonly unknown: string[] = [];

	private constructor() {
		this.#server = http.createServer((request, response) => {
			this.#answer(request, response).catch((error: unknown) => {
				this.unknown.push(String(error));
				response.destroy();
			});
		});
	}

	static async start(): Promise<DoubleServer> {
		const server = new DoubleServer();
		await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
		return server;
	}

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	platform(name: string, traits: Partial<PlatformTraits> = {}): DoubleChats {
		const chats = this.#platforms.get(name) ?? new DoubleChats(name, { ...TRAITS, ...traits });
		this.#platforms.set(name, chats);
		return chats;
	}

	async close(): Promise<void> {
		for (const chats of this.#platforms.values()) chats.wake();
		await new Promise<void>((resolve) => {
			this.#server.close(() => resolve());
			this.#server.closeAllConnections();
		});
		if (this.unknown.length > 0) throw new Error(`the chat double was called in a way that it does not know:\n${this.unknown.join("\n")}`);
	}

	async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
		const [, name = "", method = ""] = (request.url ?? "").split("/");
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Body;
		const chats = this.#platforms.get(name);
		if (!chats) throw new Error(`there is no platform ${name}`);
		await chats.answer(method, body, response);
	}
}

/** One platform of the server, as a test uses it. */
export class DoubleChats {
	readonly name: string;
	readonly traits: PlatformTraits;
	readonly messages: ShownMessage[] = [];
	readonly shown: { readonly tap: string; readonly text: string }[] = [];
	typings = 0;
	/** How often it was asked for messages. */
	polls = 0;
	/** The next sendings and edits break so, in order. */
	readonly faults: DoubleFault[] = [];
	readonly editFaults: DoubleFault[] = [];
	/** As long as it is set, everything is refused so. */
	broken: DoubleFault | undefined;
	/** Chats that are gone. */
	readonly gone = new Set<string>();
	#updates: { n: number; message?: unknown; tap?: unknown }[] = [];
	#n = 0;
	#sent = 0;
	#acked = 0;
	readonly #waiting = new Set<() => void>();

	constructor(name: string, traits: PlatformTraits) {
		this.name = name;
		this.traits = traits;
	}

	get acknowledged(): number {
		return this.#acked;
	}

	/** A person writes. Returns the number of the update. */
	write(text: string, options: DoubleOptions = {}): number {
		const n = ++this.#n;
		const { chat = "c1", kind = "direct", person = "jo", files = [], addressed = true } = options;
		const message = {
			...{ id: `m${n}`, text, at: Date.now(), addressed, files },
			chat: {
				id: chat,
				kind,
				...(options.thread === undefined ? {} : { thread: options.thread }),
				...(options.chatName === undefined ? {} : { name: options.chatName }),
			},
			person: { id: person, name: options.name ?? person },
			...(options.replyTo === undefined ? {} : { replyTo: options.replyTo }),
		};
		this.#updates.push({ n, message });
		this.wake();
		return n;
	}

	/** The platform delivers an update that was acknowledged once more. */
	again(text: string, n: number, options: DoubleOptions = {}): void {
		const { chat = "c1", kind = "direct", person = "jo" } = options;
		this.#updates.push({
			n: ++this.#n,
			message: { id: `m${n}`, text, at: Date.now(), addressed: true, files: [], chat: { id: chat, kind }, person: { id: person, name: person } },
		});
		this.wake();
	}

	/** A person presses a button. Returns the id of the press. */
	tap(message: ShownMessage, label: string, options: Pick<DoubleOptions, "person" | "kind"> = {}): string {
		const button = message.buttons.find((one) => one.label === label);
		if (!button) throw new Error(`there is no button ${label} on ${message.text}`);
		return this.press(message, button.data, options);
	}

	/** The same with a button that may be gone by now: the person's screen was behind. */
	press(message: ShownMessage, data: string, { person = "jo", kind = "direct" }: Pick<DoubleOptions, "person" | "kind"> = {}): string {
		const n = ++this.#n;
		const tap = { id: `t${n}`, chat: { id: message.chat, kind }, person: { id: person, name: person }, message: message.message, data };
		this.#updates.push({ n, tap });
		this.wake();
		return `t${n}`;
	}

	/** What is shown in a chat, without progress. */
	texts(chat = "c1"): string[] {
		return this.in(chat).map(({ text }) => text);
	}

	in(chat = "c1"): ShownMessage[] {
		return this.messages.filter((one) => one.chat === chat && !one.id.startsWith("prog_"));
	}

	wake(): void {
		for (const wake of [...this.#waiting]) wake();
	}

	async answer(method: string, body: Body, response: http.ServerResponse): Promise<void> {
		const json = (value: unknown, status = 200): void => void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
		const refuse = (fault: DoubleFault): void =>
			json({ kind: fault.kind, words: `the double says ${fault.kind}`, ...(fault.kind === "later" ? { until: Date.now() + fault.ms } : {}) }, 400);
		switch (method) {
			case "account":
				return json({ id: "bot", name: `${this.name}-bot` });
			case "updates":
				if (this.broken?.kind === "key" || this.broken?.kind === "taken") return refuse(this.broken);
				return json({ updates: await this.#poll(Number(body.after), response) });
			case "typing":
				this.typings++;
				return json({});
			case "show":
				this.shown.push({ tap: String(body.tap), text: String(body.text) });
				return json({});
			case "find": {
				const found = this.messages.find((one) => one.id === body.id);
				return json({ found: found ? { id: found.message } : null });
			}
			case "send":
			case "edit": {
				const fault =
					this.broken ??
					(method === "send" ? this.faults : this.editFaults).shift() ??
					(this.gone.has((body.chat as { id: string }).id) ? ({ kind: "dead" } as const) : undefined);
				if (fault?.kind === "cut before") return void response.destroy();
				if (fault && fault.kind !== "cut after") return refuse(fault);
				const answer = method === "send" ? this.#send(body) : this.#edit(body);
				return fault ? void response.destroy() : json(answer);
			}
			default:
				throw new Error(`there is no method ${method}`);
		}
	}

	#send(body: Record<string, unknown>): { id: string } {
		const { id, chat, text, buttons = [], rings, replyTo, file } = body as never as Omit<ShownMessage, "chat"> & { chat: { id: string; thread?: string } };
		if (this.traits.limit.unit === "characters" && text.length > this.traits.limit.size) throw new Error(`a message of ${text.length} characters was sent`);
		const known = this.traits.certainty === "exact" ? this.messages.find((one) => one.id === id) : undefined;
		if (known) return { id: known.message };
		const message = `p${++this.#sent}`;
		this.messages.push({
			...{ message, id, chat: chat.id, text, buttons, rings, edits: [] },
			...(chat.thread === undefined ? {} : { thread: chat.thread }),
			...(replyTo === undefined ? {} : { replyTo }),
			...(file === undefined ? {} : { file }),
		});
		this.wake();
		return { id: message };
	}

	#edit(body: Record<string, unknown>): object {
		const { message, text, buttons = [] } = body as never as ShownMessage;
		const found = this.messages.find((one) => one.message === message);
		if (!found) throw new Error(`there is no message ${message} to edit`);
		found.edits.push(found.text);
		found.text = text;
		found.buttons = buttons;
		this.wake();
		return {};
	}

	async #poll(after: number, response: http.ServerResponse): Promise<unknown[]> {
		this.polls++;
		this.#acked = Math.max(this.#acked, after);
		this.#updates = this.#updates.filter(({ n }) => n > this.#acked);
		if (this.#updates.length === 0)
			await new Promise<void>((resolve) => {
				const done = (): void => {
					clearTimeout(timer);
					this.#waiting.delete(look);
					resolve();
				};
				const look = (): void => {
					if (this.#updates.length > 0) done();
				};
				const timer = setTimeout(done, 5_000);
				this.#waiting.add(look);
				response.once("close", done);
			});
		return this.#updates;
	}
}
