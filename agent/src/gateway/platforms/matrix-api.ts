/** Calls of Matrix' client-server API. */
import { anySignal } from "../../base/index.js";
import { fromNetwork, later } from "./failures.js";
import { PlatformError } from "./platform.js";

export interface MatrixCall {
	readonly body?: unknown;
	readonly query?: Readonly<Record<string, string>>;
	readonly signal: AbortSignal;
	/** Bytes instead of JSON. */
	readonly bytes?: { readonly data: Uint8Array; readonly type: string };
}

const TIMEOUT_MS = 60_000;

export class MatrixApi {
	readonly homeserver: string;
	readonly #token: string;

	constructor(homeserver: string, token: string) {
		this.homeserver = homeserver.replace(/\/+$/, "");
		this.#token = token;
	}

	get headers(): { readonly authorization: string } {
		return { authorization: `Bearer ${this.#token}` };
	}

	async call<T>(method: "GET" | "POST" | "PUT", path: string, { body, query, signal, bytes }: MatrixCall): Promise<T> {
		const url = `${this.homeserver}${path}${query ? `?${new URLSearchParams(query)}` : ""}`;
		const content = bytes ? { body: bytes.data, type: bytes.type } : { body: body === undefined ? undefined : JSON.stringify(body), type: "application/json" };
		try {
			const response = await fetch(url, {
				method,
				signal: anySignal([signal, AbortSignal.timeout(TIMEOUT_MS)]),
				headers: { ...this.headers, ...(content.body === undefined ? {} : { "content-type": content.type }) },
				...(content.body === undefined ? {} : { body: content.body as NonNullable<RequestInit["body"]> }),
			});
			const answer = (await response.json().catch(() => ({}))) as T & MatrixFailure;
			if (response.ok) return answer;
			throw fromMatrix(response.status, answer, response.headers.get("retry-after"));
		} catch (error) {
			throw fromNetwork(error, "the Matrix server");
		}
	}
}

interface MatrixFailure {
	readonly errcode?: string;
	readonly error?: string;
	readonly retry_after_ms?: number;
}

function fromMatrix(status: number, { errcode = "", error = "", retry_after_ms }: MatrixFailure, header: string | null): PlatformError {
	const words = `Matrix: ${error || errcode || status}`;
	if (status === 429) return later("the Matrix server", retry_after_ms === undefined ? Number(header ?? 30) || 30 : retry_after_ms / 1000);
	if (status === 401 || errcode === "M_UNKNOWN_TOKEN" || errcode === "M_MISSING_TOKEN" || errcode === "M_USER_DEACTIVATED")
		return new PlatformError("key", `the Matrix server does not take the access token (${errcode || status}); log in again and run setup`);
	if (status === 403 || status === 404) return new PlatformError("dead", words);
	if (status >= 500) return new PlatformError("unsure", `${words}; the message may have arrived`);
	return new PlatformError("refused", words);
}
