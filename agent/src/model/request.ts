/**
 * One HTTP request to an endpoint. The key is asked for each time and is only in its header; no error that leaves has it in it, whatever the endpoint writes.
 * A redirect is not followed: `fetch` would take the key along.
 */
import { type EndpointSettings, hostOf } from "./endpoints.js";
import { type FailedResponse, readBody, responseError } from "./errors.js";
import { masked } from "./mask.js";
import { ModelError } from "./model.js";

export interface Connection {
	readonly settings: EndpointSettings;
	readonly headers?: Readonly<Record<string, string>>;
	readonly fetch: typeof fetch;
	readonly now: () => number;
}

export interface OutgoingRequest {
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	/** A body makes it a POST. */
	readonly body?: string;
	readonly long?: boolean;
}

/** Returns a response whose status is a success. Throws `ModelError`, or the signal's reason. */
export async function send({ settings, headers, fetch, now }: Connection, outgoing: OutgoingRequest, signal: AbortSignal): Promise<Response> {
	const host = hostOf(outgoing.url);
	const all = { ...settings.headers, ...headers, ...(outgoing.body === undefined ? {} : { "content-type": "application/json" }), ...outgoing.headers };
	let response: Response;
	try {
		const method = outgoing.body === undefined ? "GET" : "POST";
		response = await fetch(outgoing.url, { method, headers: all, body: outgoing.body, redirect: "manual", signal });
	} catch (error) {
		signal.throwIfAborted();
		throw unreachable(host, error);
	}
	if (response.ok) return response;
	const { status } = response;
	const to = response.headers.get("location");
	if (status >= 300 && status < 400) {
		await response.body?.cancel();
		throw new ModelError("wrong", `${host} redirects${to === null ? "" : ` to ${to}`}; set the address of the endpoint to where it really is`, { status });
	}
	const failed: FailedResponse = { host, status, headers: response.headers, body: await readBody(response), now: now(), long: outgoing.long === true };
	signal.throwIfAborted();
	throw responseError(failed);
}

/** Asks for the key, runs `use` with it, and takes the key out of whatever that throws. */
export async function withKey<T>(key: () => Promise<string>, use: (key: string) => Promise<T>): Promise<T> {
	const value = await readKey(key);
	try {
		return await use(value);
	} catch (error) {
		throw withoutKey(error, value);
	}
}

export async function readKey(key: () => Promise<string>): Promise<string> {
	try {
		return (await key()).trim();
	} catch (error) {
		throw new ModelError("key", error instanceof Error ? error.message : "the key cannot be read");
	}
}

/** An error in whose texts the key is masked. A cause is dropped: it may have the request in it. */
export function withoutKey(error: unknown, key: string): unknown {
	if (!(error instanceof ModelError)) return error;
	const { text, cause: _, ...details } = error.details;
	return new ModelError(error.kind, masked(error.message, key), { ...details, ...(text === undefined ? {} : { text: masked(text, key) }) });
}

/** Errors of a server without TLS. */
const NO_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$|^EPROTO$/;
const TLS = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/;

function unreachable(host: string, error: unknown): ModelError {
	const cause = (error as { cause?: { code?: unknown } } | undefined)?.cause;
	const code = typeof cause?.code === "string" ? cause.code : "";
	if (NO_TLS.test(code)) return new ModelError("wrong", `${host} does not speak TLS (${code}); its address may begin with http://`);
	if (TLS.test(code))
		return new ModelError("wrong", `cannot trust the certificate of ${host} (${code}); NODE_EXTRA_CA_CERTS names a file with those of your own`);
	if (code === "UND_ERR_HEADERS_TIMEOUT") return new ModelError("cut", `${host} has not begun to answer within 5 minutes`);
	// Without a code the request itself was refused: a header that is none. Its text has the header in it, so it is not taken.
	if (code === "" && !/fetch failed|terminated|network/i.test(String((error as Error | undefined)?.message)))
		return new ModelError(
			"key",
			`the request to ${host} cannot be made: the key or a header has characters that no header may have; store the key again with \`holdfast-agent setup key\``,
		);
	return new ModelError("again", `cannot reach ${host}${code === "" ? "" : ` (${code})`}; check that it runs and that this machine is online`);
}
