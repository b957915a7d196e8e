/** Fetches a URL: each hop passes the filter, is connected to the very addresses that were checked, and is bounded in size and time. */
import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, buildConnector, type Dispatcher, request } from "undici";
import { anySignal, messageOf, oneLine, WebError } from "../base/index.js";
import { type ReadBody, readBody } from "./body.js";
import { type Address, type Filter, parseUrl } from "./filter.js";
import { NET_LIMITS, type NetLimits } from "./limits.js";

export interface FetchOptions {
	readonly filter: Filter;
	readonly limits?: Partial<NetLimits>;
	readonly signal?: AbortSignal;
	readonly headers?: Readonly<Record<string, string>>;
	readonly method?: "GET" | "POST";
	readonly body?: string;
	/** Called before each hop, after the filter: for robots.txt and for rates. */
	readonly before?: (url: URL) => Promise<void>;
}

export interface Fetched extends ReadBody {
	/** The last address, after redirects. */
	readonly url: string;
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly redirects: readonly string[];
}

export const USER_AGENT = "holdfast/0.1 (+web_extract)";
const AGAIN = new Set([429, 502, 503, 504]);
const MOVED = new Set([301, 302, 303, 307, 308]);
/** Headers that go to another origin: any other may be a key. */
const OPEN = /^(accept|content-type)$/i;

export async function fetchUrl(text: string, options: FetchOptions): Promise<Fetched> {
	const limits = { ...NET_LIMITS, ...options.limits };
	const late = new AbortController();
	const signal = options.signal ? anySignal([options.signal, late.signal]) : late.signal;
	let left = limits.totalMs;
	let timer: NodeJS.Timeout | undefined;
	const count = (): (() => void) => {
		const began = performance.now();
		timer = setTimeout(() => late.abort(), left);
		return () => {
			clearTimeout(timer);
			left -= performance.now() - began;
		};
	};
	let pause = count();
	// This program's own waits before a request are no fault of the host.
	const before = async (url: URL): Promise<void> => {
		pause();
		await options.before?.(url);
		pause = count();
	};
	try {
		return await withRetries(parseUrl(text), { ...options, before }, limits, signal);
	} catch (error) {
		if (late.signal.aborted && !options.signal?.aborted)
			throw new WebError(`${hostIn(text)} did not deliver within ${limits.totalMs / 1000} s; try again later`);
		throw wordsFor(error, text);
	} finally {
		pause();
	}
}

async function withRetries(url: URL, options: FetchOptions, limits: NetLimits, signal: AbortSignal): Promise<Fetched> {
	for (let attempt = 0; ; attempt++) {
		const last = attempt >= limits.retries || (options.method ?? "GET") !== "GET";
		try {
			const fetched = await followed(url, options, limits, signal);
			if (last || !AGAIN.has(fetched.status)) return fetched;
			const wanted = secondsIn(fetched.headers["retry-after"] ?? "");
			if (wanted > 10) return fetched; // the caller says so
			await sleep(wanted > 0 ? wanted * 1000 : pauseOf(attempt), undefined, { signal });
		} catch (error) {
			if (last || signal.aborted || !isPassing(error)) throw error;
			await sleep(pauseOf(attempt), undefined, { signal });
		}
	}
}

/** Reads `Retry-After`, which has seconds or a date. NaN: neither. */
const secondsIn = (text: string): number => (/^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000);

const pauseOf = (attempt: number): number => 300 * 2 ** attempt * (0.75 + Math.random() / 2);

const isPassing = (error: unknown): boolean => ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "EAI_AGAIN"].includes((error as NodeJS.ErrnoException).code ?? "");

async function followed(start: URL, options: FetchOptions, limits: NetLimits, signal: AbortSignal): Promise<Fetched> {
	const redirects: string[] = [];
	let url = start;
	let { method = "GET", body, headers = {} } = options;
	for (;;) {
		const addresses = await options.filter.check(url);
		await options.before?.(url);
		const got = await hop(url, { ...options, method, body, headers }, addresses, limits, signal);
		const location = got.headers.location;
		if (!MOVED.has(got.status) || location === undefined) return { ...got, url: url.href, redirects };
		redirects.push(url.href);
		if (redirects.length > limits.redirects)
			throw new WebError(`${url.host} redirects more than ${limits.redirects} times; give the address of the page itself`);
		const next = parseUrl(location, url);
		if (next.origin !== url.origin) headers = Object.fromEntries(Object.entries(headers).filter(([name]) => OPEN.test(name)));
		if (got.status === 303 || (got.status < 303 && method === "POST")) [method, body] = ["GET", undefined];
		url = next;
	}
}

async function hop(
	url: URL,
	options: FetchOptions,
	addresses: readonly Address[],
	limits: NetLimits,
	signal: AbortSignal,
): Promise<Omit<Fetched, "url" | "redirects">> {
	const agent = pinned(url, options.filter, addresses, limits);
	try {
		const answer = await request(url, {
			dispatcher: agent,
			method: (options.method ?? "GET") as Dispatcher.HttpMethod,
			body: options.body ?? null,
			headers: { "user-agent": USER_AGENT, accept: "text/html,application/xhtml+xml,*/*;q=0.8", "accept-encoding": "gzip, deflate, br", ...options.headers },
			signal,
			headersTimeout: limits.idleMs,
			bodyTimeout: limits.idleMs,
		});
		answer.body.on("error", () => {}); // it is told by the reader, or no one reads it
		const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]));
		if (MOVED.has(answer.statusCode) && headers.location !== undefined) {
			answer.body.destroy();
			return { status: answer.statusCode, headers, bytes: Buffer.alloc(0), cut: false };
		}
		return { status: answer.statusCode, headers, ...(await readBody(answer.body, headers["content-encoding"], limits.bytes)) };
	} finally {
		await agent.destroy();
	}
}

/** An agent whose connections go to these addresses, and are looked at once more when they are there. */
function pinned(url: URL, filter: Filter, addresses: readonly Address[], limits: NetLimits): Agent {
	const lookup = ((_host: string, options: { all?: boolean }, done: (...args: unknown[]) => void) => {
		if (options.all) done(null, addresses);
		else done(null, addresses[0]?.address, addresses[0]?.family);
	}) as unknown as LookupFunction;
	const connect = buildConnector({ lookup, timeout: limits.connectMs, autoSelectFamily: addresses.length > 1 });
	return new Agent({
		maxHeaderSize: limits.headerBytes,
		connect: (options, done) =>
			connect(options, (...args: Parameters<typeof done>) => {
				const [error, socket] = args;
				if (error || !socket) return done(...args);
				try {
					filter.checkPeer(url, socket.remoteAddress);
				} catch (refused) {
					socket.destroy();
					return done(refused as Error, null);
				}
				done(null, socket);
			}),
	});
}

const WORDS: Readonly<Record<string, string>> = {
	ECONNREFUSED: "refuses the connection",
	ECONNRESET: "broke off the connection",
	UND_ERR_SOCKET: "broke off the connection",
	UND_ERR_CONNECT_TIMEOUT: "cannot be reached: no connection in time",
	UND_ERR_HEADERS_TIMEOUT: "did not answer in time",
	UND_ERR_BODY_TIMEOUT: "stopped sending in the middle",
	UND_ERR_HEADERS_OVERFLOW: "sends more headers than are read",
	ENETUNREACH: "cannot be reached from this machine",
	EHOSTUNREACH: "cannot be reached from this machine",
	ETIMEDOUT: "cannot be reached: no connection in time",
	CERT_HAS_EXPIRED: "has an expired certificate",
	DEPTH_ZERO_SELF_SIGNED_CERT: "has a certificate that no authority has signed",
	SELF_SIGNED_CERT_IN_CHAIN: "has a certificate that no authority has signed",
	ERR_TLS_CERT_ALTNAME_INVALID: "has a certificate for another name",
};

function wordsFor(error: unknown, url: string): Error {
	if (error instanceof WebError) return error;
	if ((error as Error).name === "AbortError") return error as Error;
	const code = (error as NodeJS.ErrnoException).code ?? ((error as AggregateError).errors?.[0] as NodeJS.ErrnoException | undefined)?.code ?? "";
	return new WebError(`${hostIn(url)} ${WORDS[code] ?? `could not be fetched (${oneLine(code || messageOf(error), 120)})`}; try another page, or again later`, {
		cause: error,
	});
}

const hostIn = (url: string): string => (URL.canParse(url) ? oneLine(new URL(url).host, 100) : "the page");
