/**
 * One connection to an XMPP server. A new one is made each time, without stream management (XEP-0198): the library would send what it had not heard of again
 * when it resumes a session, behind the back of the gateway, which looks into the archive first; and it miscounts stanzas, for which servers close the
 * connection ("acknowledged more stanzas than sent"). The archive has what a lost connection loses.
 */
import type { XmlElement, XmppClient } from "@xmpp/client";
import { fromNetwork } from "./failures.js";
import { PlatformError } from "./platform.js";
import { useScram } from "./xmpp-scram.js";

export type Xmpp = typeof import("@xmpp/client");

export interface XmppLogin {
	readonly service: string;
	readonly domain: string;
	readonly username: string;
	readonly password: string;
	readonly resource: string;
}

const TIMEOUT_MS = 10_000;
const FAREWELL_MS = 2000;

export class XmppConnection {
	readonly lib: Xmpp;
	readonly client: XmppClient;
	readonly bare: string;
	#error: PlatformError | undefined;
	/** Resolves when the connection has ended: with an error of kind `key` or `taken`, or another that a new connection may mend. */
	readonly closed: Promise<PlatformError>;

	constructor(lib: Xmpp, login: XmppLogin) {
		this.lib = lib;
		this.bare = `${login.username}@${login.domain}`;
		this.client = lib.client({ ...login, timeout: TIMEOUT_MS });
		this.client.reconnect.stop();
		useScram(this.client);
		this.client.prependListener("element", (element) => {
			if (element.name.endsWith("features")) withoutManagement(element);
		});
		this.closed = new Promise((resolve) => {
			this.client.on("error", (error) => {
				this.#error ??= failureOf(error);
				this.client.socket?.destroy?.();
			});
			this.client.on("disconnect", () => resolve(this.#error ?? new PlatformError("not-sent", "the XMPP server closed the connection")));
		});
	}

	/** Connects and logs in; others are told that we are here only by `appear`. */
	async open(signal: AbortSignal): Promise<void> {
		const abort = (): void => this.client.socket?.destroy?.();
		signal.addEventListener("abort", abort);
		try {
			await Promise.race([this.client.start(), this.closed.then((error) => Promise.reject(error))]);
		} catch (error) {
			throw this.#error ?? (error instanceof PlatformError ? error : failureOf(error as Error));
		} finally {
			signal.removeEventListener("abort", abort);
		}
	}

	/** Asks the server and waits for its answer; a cut is `unsure`. */
	async request(stanza: XmlElement): Promise<XmlElement> {
		const cut = this.closed.then((error) => Promise.reject(new PlatformError("unsure", `${error.message}; the message may have arrived`)));
		try {
			return await Promise.race([this.client.iqCaller.request(stanza), cut]);
		} catch (error) {
			if (error instanceof PlatformError || (error as Error).name === "StanzaError") throw error;
			throw fromNetwork(error, "the XMPP server");
		}
	}

	async send(stanza: XmlElement): Promise<void> {
		try {
			await this.client.send(stanza);
		} catch (error) {
			throw fromNetwork(error, "the XMPP server");
		}
	}

	/** Calls with every stanza until the returned function is called. */
	listen(heard: (stanza: XmlElement) => void): () => void {
		this.client.on("stanza", heard);
		return () => this.client.removeListener("stanza", heard);
	}

	async end(): Promise<void> {
		const late = setTimeout(() => this.client.socket?.destroy?.(), FAREWELL_MS);
		await this.client.stop().catch(() => undefined);
		clearTimeout(late);
	}
}

const MANAGEMENT = "urn:xmpp:sm:3";

/** Takes the offer out of the features, also of those that newer servers nest. */
export function withoutManagement(element: XmlElement): void {
	element.children = element.children.filter((child) => typeof child === "string" || !(child.is("sm", MANAGEMENT) || child.attrs.var === MANAGEMENT));
	for (const child of element.children) if (typeof child !== "string") withoutManagement(child);
}

function failureOf(error: Error & { readonly condition?: string }): PlatformError {
	const { condition = "" } = error;
	const cause = { cause: error };
	if (error.name === "SASLError" || ["not-authorized", "credentials-expired", "account-disabled"].includes(condition))
		return new PlatformError("key", `the XMPP server does not take the password (${condition || error.message}); check the address and the password`, cause);
	if (condition === "conflict")
		return new PlatformError("taken", "another program has logged in to this XMPP account as the gateway; stop it, or set another resource", cause);
	return fromNetwork(error, "the XMPP server");
}
