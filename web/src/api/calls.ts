/** What the page asks of the server, one function each. */
import type {
	FileView,
	Killed,
	LoggedIn,
	ProcessDetail,
	SearchResult,
	Session,
	SpawnRequest,
	Started,
	Ticket,
	TicketRequest,
	ViewerLink,
} from "../../../src/doors/http/schemas.js";
import type { LogPart } from "../terminal/history.js";
import { address, get, post, type Query, send } from "./client.js";

const process = (id: string, rest = ""): string => `/api/processes/${encodeURIComponent(id)}${rest}`;

export const login = (token: string) => post<LoggedIn>("/api/login", { token });
export const session = () => get<Session>("/api/session");
export const detail = (id: string, signal?: AbortSignal) => get<ProcessDetail>(process(id), {}, signal);
export const spawn = (request: SpawnRequest) => post<Started>("/api/processes", request);
export const kill = (id: string) => post<Killed>(process(id, "/kill"));
export const search = (query: Query, signal?: AbortSignal) => get<SearchResult>("/api/search", query, signal);
export const viewerLink = (session_id: string, seconds: number) => post<ViewerLink>("/api/viewers", { session_id, seconds });
export const files = (query: Query, signal?: AbortSignal) => get<FileView>("/api/files", query, signal);
export const terminalTicket = (session_id: string) => ticket({ for: "terminal", session_id });

const ticket = (request: TicketRequest) => post<Ticket>("/api/tickets", request);

/** Bytes of a log; without `from` its last ones. */
export async function log(id: string, limit: number, from?: number): Promise<LogPart> {
	const response = await send("GET", address(process(id, "/log"), { offset: from, limit }));
	const number = (name: string) => Number(response.headers.get(`X-Holdfast-${name}`));
	return { offset: number("Offset"), first: number("First"), end: number("End"), bytes: new Uint8Array(await response.arrayBuffer()) };
}

export const recordingPath = (id: string): string => process(id, "/recording");

export async function recording(id: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
	return (await send("GET", recordingPath(id), { signal })).body as ReadableStream<Uint8Array>;
}

/** The browser follows a link and cannot send our headers: a ticket stands in for them. */
export async function download(path: string): Promise<void> {
	const { url } = await ticket({ for: "download", path });
	const anchor = document.createElement("a");
	anchor.href = url;
	anchor.download = "";
	anchor.click();
}

/** `session_id`: on the machine of that process. */
export const contentPath = (path: string, session_id: string | undefined): string => address("/api/files/content", { path, session_id });

/** The beginning of a file. */
export async function content(path: string, session_id: string | undefined, most: number, signal: AbortSignal): Promise<Uint8Array> {
	const response = await send("GET", contentPath(path, session_id), { signal, more: { Range: `bytes=0-${most - 1}` } });
	return new Uint8Array(await response.arrayBuffer());
}

export async function upload(path: string, session_id: string | undefined, file: Blob, replace: boolean): Promise<void> {
	await send("PUT", address("/api/files/content", { path, session_id, replace: replace || undefined }), { body: file, type: "application/octet-stream" });
}
