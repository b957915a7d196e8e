/** One connection to an IRC server, from the handshake to its end. */

import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { anySignal } from "../../base/index.js";
import { fromNetwork } from "./failures.js";
import { type IrcLine, parseIrcLine } from "./irc-line.js";
import { PlatformError } from "./platform.js";

export interface IrcLogin {
	readonly host: string;
	readonly port: number;
	readonly tls: boolean;
	readonly nick: string;
	readonly user: string;
	readonly account: string;
	readonly password: string | undefined;
	readonly login: "sasl" | "nickserv" | "server";
}

const WANTED = ["server-time", "message-tags", "account-tag"];
const HANDSHAKE_MS = 30_000;
const LONGEST_LINE = 16_384;
/** The server hears from us at least this often, so that a dead line is noticed. */
const IDLE_MS = 120_000;

export class IrcConnection {
	readonly #socket: net.Socket;
	readonly #lines = new Set<(line: IrcLine) => void>();
	readonly #handshakeMs: number;
	readonly #gone = new AbortController();
	#buffer = "";
	#why = "the server closed the connection";
	nick: string;
	/** Settles when the connection has ended, with the reason in words. */
	readonly closed: Promise<string>;

	constructor(login: IrcLogin, handshakeMs = HANDSHAKE_MS) {
		this.nick = login.nick;
		this.#handshakeMs = handshakeMs;
		const where = { host: login.host, port: login.port };
		this.#socket = login.tls ? tls.connect({ ...where, servername: login.host }) : net.connect(where);
		this.#socket.setEncoding("utf8");
		this.#socket.setTimeout(IDLE_MS, () => this.#idle());
		this.#socket.on("data", (chunk: string) => this.#read(chunk));
		this.closed = new Promise((resolve) => {
			this.#socket.on("error", (error) => {
				this.#why = fromNetwork(error, "the IRC server").message;
			});
			this.#socket.on("close", () => {
				resolve(this.#why);
				this.#gone.abort(this.#why);
			});
		});
	}

	/** Aborts when the connection has ended. Nothing is left behind of who has waited for it, as is of who has waited for a promise. */
	get gone(): AbortSignal {
		return this.#gone.signal;
	}

	/** Registers; rejects with kind `key` if the password is wrong. */
	async register(login: IrcLogin, signal: AbortSignal): Promise<void> {
		const limit = anySignal([signal, AbortSignal.timeout(this.#handshakeMs)]);
		const tooLate = (): void => this.end();
		limit.addEventListener("abort", tooLate);
		try {
			await this.#welcomed(login, limit);
		} finally {
			limit.removeEventListener("abort", tooLate); // the time is that of the handshake, not of the connection
		}
		if (login.login === "nickserv" && login.password !== undefined) this.write(`PRIVMSG NickServ :IDENTIFY ${login.account} ${login.password}`);
	}

	async #welcomed(login: IrcLogin, limit: AbortSignal): Promise<void> {
		const welcome = new Promise<void>((resolve, reject) => {
			const stop = this.listen((line) => {
				const failure = failureOf(line);
				if (failure) reject(failure);
				this.#handshake(line, login);
				if (line.command === "001") {
					this.nick = line.params[0] ?? this.nick;
					stop();
					resolve();
				}
			});
			void this.closed.then((why) => reject(new PlatformError("not-sent", why)));
		});
		welcome.catch(() => this.end());
		try {
			await Promise.race([once(this.#socket, login.tls ? "secureConnect" : "connect", { signal: limit }), welcome]);
			if (login.login === "server" && login.password !== undefined) this.write(`PASS ${login.password}`);
			this.write("CAP LS 302");
			this.write(`NICK ${login.nick}`);
			this.write(`USER ${login.user} 0 * :${login.nick}`);
		} catch (error) {
			this.end();
			await welcome.catch((failure: unknown) => {
				throw failure instanceof PlatformError ? failure : fromNetwork(error, "the IRC server");
			});
		}
		await welcome;
	}

	#handshake({ command, params }: IrcLine, login: IrcLogin): void {
		const sasl = login.login === "sasl" && login.password !== undefined;
		if (command === "CAP" && params[1] === "LS" && params[2] !== "*") {
			const offered = (params.at(-1) ?? "").split(" ").map((cap) => cap.split("=")[0] ?? "");
			const wanted = [...WANTED, ...(sasl ? ["sasl"] : [])].filter((cap) => offered.includes(cap));
			if (sasl && !wanted.includes("sasl")) this.#why = 'the server has no SASL; set "login" to "nickserv" or "server"';
			this.write(wanted.length > 0 ? `CAP REQ :${wanted.join(" ")}` : "CAP END");
		} else if (command === "CAP" && params[1] === "ACK" && sasl && (params.at(-1) ?? "").split(" ").includes("sasl")) this.write("AUTHENTICATE PLAIN");
		else if (command === "CAP" && (params[1] === "ACK" || params[1] === "NAK")) this.write("CAP END");
		else if (command === "AUTHENTICATE") for (const part of saslParts(login)) this.write(`AUTHENTICATE ${part}`);
		else if (command === "903") this.write("CAP END");
		else if (command === "433" || command === "436") {
			this.nick = `${this.nick}_`; // another client has the nick, perhaps a connection of ours that has not ended yet
			this.write(`NICK ${this.nick}`);
		}
	}

	/** Calls with every line until the returned function is called. */
	listen(heard: (line: IrcLine) => void): () => void {
		this.#lines.add(heard);
		return () => this.#lines.delete(heard);
	}

	write(line: string): void {
		this.#socket.write(`${line.replace(/[\r\n\0]/g, " ")}\r\n`);
	}

	end(): void {
		this.#socket.destroy();
	}

	#read(chunk: string): void {
		this.#buffer += chunk;
		const lines = this.#buffer.split(/\r?\n/);
		this.#buffer = (lines.pop() ?? "").slice(-LONGEST_LINE);
		for (const raw of lines) {
			const line = parseIrcLine(raw);
			if (line.command === "PING") this.write(`PONG :${line.params[0] ?? ""}`);
			if (line.command === "ERROR") this.#why = `the server closed the connection: ${line.params[0] ?? ""}`;
			for (const heard of [...this.#lines]) heard(line);
		}
	}

	/** After two silent spans the line is dead: the server would have answered. */
	#idle(): void {
		this.write("PING :alive");
		const timer = setTimeout(() => this.end(), IDLE_MS / 2).unref();
		const stop = this.listen(() => {
			clearTimeout(timer);
			stop();
		});
	}
}

function failureOf({ command, params }: IrcLine): PlatformError | undefined {
	const words = params.at(-1) ?? "";
	const wrong = ["464", "904", "905", "902"].includes(command) || (command === "ERROR" && /bad password|password incorrect|access denied/i.test(words));
	if (wrong) return new PlatformError("key", `the IRC server does not take the password (${words}); check it, and "login" in the settings`);
	if (command === "465") return new PlatformError("key", `the IRC server has banned this address or account (${words})`);
	return undefined;
}

/** Parts of 400 bytes; an empty one after a last part that is full. */
function saslParts({ account, password = "" }: IrcLogin): string[] {
	const whole = Buffer.from(`\0${account}\0${password}`).toString("base64");
	const parts = whole.match(/.{1,400}/g) ?? [];
	return parts.at(-1)?.length === 400 ? [...parts, "+"] : parts;
}
