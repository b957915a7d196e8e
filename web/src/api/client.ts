/** Speaks to the server: every request of the page goes through here. */
import type { Problem } from "../../../src/doors/http/schemas.js";
import { headers, lock } from "./credentials.js";

/** A refusal of the server, in its own words. */
export class ApiError extends Error {
	constructor(
		readonly status: number,
		readonly code: string,
		message: string,
	) {
		super(message);
	}
}

/** The path at which the page is mounted: "" at the root of a server of its own. */
const BASE = new URL(".", location.href).pathname.replace(/\/$/, "");

/** Returns the address of a path of ours in this server. */
export const mounted = (path: string): string => BASE + path;

export type Query = Record<string, string | number | boolean | undefined>;

export function address(path: string, query: Query = {}): string {
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
	const text = search.toString();
	return text ? `${path}?${text}` : path;
}

export const get = async <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> => (await send("GET", address(path, query), { signal })).json();

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
	const response = await send("POST", path, { body: JSON.stringify(body), type: "application/json" });
	return response.json();
}

interface Sent {
	readonly body?: BodyInit;
	readonly type?: string;
	readonly signal?: AbortSignal;
	readonly more?: Record<string, string>;
}

/** Resolves only to what went well. */
export async function send(method: string, path: string, { body, type, signal, more }: Sent = {}): Promise<Response> {
	const sent = { ...headers(), ...(type ? { "Content-Type": type } : {}), ...more };
	let response: Response;
	try {
		response = await fetch(mounted(path), { method, headers: sent, body, signal, credentials: "same-origin", cache: "no-store", redirect: "error" });
	} catch (error) {
		if (signal?.aborted) throw error;
		throw new ApiError(0, "UNREACHABLE", "The server does not answer. The page goes on by itself as soon as it does.");
	}
	if (response.ok) return response;
	const problem = await problemOf(response);
	if (response.status === 401) lock();
	throw problem;
}

async function problemOf(response: Response): Promise<ApiError> {
	try {
		const { error } = (await response.json()) as Problem;
		return new ApiError(response.status, error.code, error.message);
	} catch {
		return new ApiError(response.status, "INTERNAL", `The server answered ${response.status}, without saying why.`);
	}
}
