/**
 * IRC, over a socket of its own. The protocol has no ids, no acknowledgements and no history: a message counts as sent when the server has answered a PING
 * behind it; a line that is cut before that leaves it unsure; what people say while the gateway is away is gone.
 */

import { randomBytes } from "node:crypto";
import { z } from "zod";
import { anySignal } from "../../base/index.js";
import { wordsOf } from "./failures.js";
import { ircText } from "./format/plain.js";
import { IrcConnection, type IrcLogin } from "./irc-connection.js";
import { ircIncoming } from "./irc-incoming.js";
import { type IrcLine, ircLower, ircPieces } from "./irc-line.js";
import { Backoff, InOrder, type Pace, pause, USUAL_PACE } from "./pace.js";
import { type Outgoing, type Platform, type PlatformAccount, PlatformError, type PlatformEvents, type PlatformTraits } from "./platform.js";
import { Presence } from "./presence.js";

const nameOfNick = z.string().regex(/^[A-Za-z[\]\\`_^{|}][\w[\]\\`^{|}-]{0,29}$/, "a nick: letters, digits and []\\`_^{|}-, not a digit first");

export const ircSettings = z.strictObject({
	host: z.string().min(1),
	port: z.int().min(1).max(65_535).optional(),
	/** Encrypted, unless told otherwise. */
	tls: z.boolean().default(true),
	nick: nameOfNick,
	/** The account of the password; the nick, if not given. */
	account: z.string().min(1).optional(),
	/** The receiver of the password: SASL, NickServ, or the server itself. */
	login: z.enum(["sasl", "nickserv", "server"]).default("sasl"),
	channels: z.array(z.string().regex(/^[#&+!][^\s,:\u0007]{1,49}$/, "a channel: # and a name")).default([]),
	/** Between lines after the first five, as servers close connections that are quicker. */
	lineMs: z.int().min(0).max(10_000).default(1000),
});
export type IrcSettings = z.infer<typeof ircSettings>;

const TRAITS: PlatformTraits = {
	limit: { size: 2000, unit: "bytes" },
	certainty: "unsure",
	edits: false,
	buttons: false,
	files: false,
	typing: false,
	silent: false,
};
const LINE = 512;
const BURST = 5;
const ANSWER_MS = 60_000;
/** Replies that say that a message did not arrive: no such nick or channel, cannot send to it, no text, target too often changed. */
const NOT_DELIVERED: Readonly<Record<string, "dead" | "refused">> = {
	"401": "dead",
	"403": "dead",
	"404": "dead",
	"412": "refused",
	"531": "dead",
	"716": "dead",
};

export async function openIrc(settings: IrcSettings, secrets: { readonly password?: string }, pace: Pace = USUAL_PACE): Promise<Platform> {
	return new Irc(settings, secrets.password, pace);
}

class Irc implements Platform {
	readonly name = "irc";
	readonly traits = TRAITS;
	readonly #settings: IrcSettings;
	readonly #login: IrcLogin;
	readonly #pace: Pace;
	readonly #line = new Presence<IrcConnection>("the IRC server");
	#sending: Promise<unknown> = Promise.resolve();
	#allowance = BURST;
	#counted = 0;

	constructor(settings: IrcSettings, password: string | undefined, pace: Pace) {
		const { host, nick, account = nick, login } = settings;
		this.#settings = settings;
		this.#pace = pace;
		this.#login = {
			host,
			port: settings.port ?? (settings.tls ? 6697 : 6667),
			tls: settings.tls,
			nick,
			user: nick.toLowerCase().slice(0, 9),
			account,
			password,
			login,
		};
	}

	async account(signal: AbortSignal): Promise<PlatformAccount> {
		const connection = this.#line.now ?? new IrcConnection(this.#login);
		if (connection !== this.#line.now) {
			await connection.register(this.#login, signal);
			connection.write("QUIT");
			connection.end();
			await connection.closed;
		}
		return { id: this.#settings.nick, name: this.#settings.nick, address: `${this.#settings.nick} on ${this.#settings.host}` };
	}

	async run(on: PlatformEvents, signal: AbortSignal): Promise<void> {
		const [backoff, queue] = [new Backoff(this.#pace), new InOrder(on, this.#pace, signal)];
		while (!signal.aborted) {
			const connection = new IrcConnection(this.#login);
			const quit = (): void => {
				connection.write("QUIT :leaving");
				connection.end();
			};
			signal.addEventListener("abort", quit);
			try {
				await connection.register(this.#login, signal);
				connection.listen((line) => {
					const message = ircIncoming(line, connection.nick, () => randomBytes(9).toString("base64url"));
					if (message) void queue.message(message);
					if (line.command === "NICK" && nickOf(line) === ircLower(connection.nick)) connection.nick = line.params[0] ?? connection.nick;
				});
				for (const channel of this.#settings.channels) connection.write(`JOIN ${channel}`);
				const regain = setInterval(() => connection.nick !== this.#settings.nick && connection.write(`NICK ${this.#settings.nick}`), this.#pace.longestMs);
				this.#line.came(connection);
				on.connection({ up: true });
				backoff.reset();
				const why = await connection.closed;
				clearInterval(regain);
				this.#line.went();
				if (!signal.aborted) on.connection({ up: false, why });
			} catch (error) {
				connection.end();
				if (error instanceof PlatformError && error.kind === "key" && !signal.aborted) throw this.#line.failed(error);
				if (!signal.aborted) on.connection({ up: false, why: wordsOf(error) });
			} finally {
				signal.removeEventListener("abort", quit);
			}
			await backoff.wait(signal);
		}
	}

	/** One message after another, so that their lines do not mix. */
	send(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string }> {
		const turn = this.#sending.then(() => this.#send(out, signal));
		this.#sending = turn.catch(() => undefined);
		return turn;
	}

	async #send(out: Outgoing, signal: AbortSignal): Promise<{ readonly id: string }> {
		const target = out.chat.id;
		if (!/^[^\s,:\0]+$/.test(target)) throw new PlatformError("refused", `"${target}" is no name on IRC`);
		const connection = await this.#line.up(signal);
		const failure = new AbortController();
		const stop = connection.listen((line) => {
			const kind = NOT_DELIVERED[line.command];
			if (kind && ircLower(line.params[1] ?? "") === ircLower(target)) failure.abort(new PlatformError(kind, `IRC: ${line.params.at(-1) ?? line.command}`));
		});
		try {
			let begun = false;
			for (const piece of ircPieces(ircText(out.text), roomFor(connection.nick, target))) {
				await this.#allowed(anySignal([signal, failure.signal]));
				if (failure.signal.aborted) throw failure.signal.reason;
				if (signal.aborted) throw new PlatformError(begun ? "unsure" : "not-sent", "the sending was ended");
				connection.write(`PRIVMSG ${target} :${piece}`);
				begun = true;
			}
			if (!begun) throw new PlatformError("refused", "IRC takes no empty message");
			await answered(connection, anySignal([signal, AbortSignal.timeout(ANSWER_MS)]));
			if (failure.signal.aborted) throw failure.signal.reason;
			return { id: out.id };
		} finally {
			stop();
		}
	}

	/** Waits until one more line may be sent. */
	async #allowed(signal: AbortSignal): Promise<void> {
		const { lineMs } = this.#settings;
		if (lineMs === 0) return;
		const now = Date.now();
		this.#allowance = Math.min(BURST, this.#allowance + Math.max(0, now - this.#counted) / lineMs);
		this.#counted = now;
		if (this.#allowance < 1) await pause((1 - this.#allowance) * lineMs, signal);
		this.#allowance -= 1;
	}

	measure(markdown: string): number {
		return Buffer.byteLength(ircText(markdown));
	}
}

/** Resolves when the server has read everything up to here. */
async function answered(connection: IrcConnection, signal: AbortSignal): Promise<void> {
	const token = randomBytes(6).toString("hex");
	const limit = anySignal([signal, connection.gone]);
	let stop = (): void => undefined;
	let cut = (): void => undefined;
	try {
		await new Promise<void>((resolve, reject) => {
			stop = connection.listen((line) => line.command === "PONG" && line.params.at(-1) === token && resolve());
			cut = () => {
				const why = connection.gone.aborted ? String(connection.gone.reason) : "the server did not answer in time";
				reject(new PlatformError("unsure", `${why}; the message may have arrived`));
			};
			limit.addEventListener("abort", cut);
			if (limit.aborted) cut();
			connection.write(`PING :${token}`);
		});
	} finally {
		stop();
		limit.removeEventListener("abort", cut);
	}
}

/** Bytes for text in a line, as the server passes it on with our name in front: 63 for the host, 10 for the user. */
const roomFor = (nick: string, target: string): number => Math.min(400, LINE - 2 - `:${nick}!0123456789@${"h".repeat(63)} PRIVMSG ${target} :`.length);

const nickOf = ({ from }: IrcLine): string => ircLower(from.split("!")[0] ?? "");
