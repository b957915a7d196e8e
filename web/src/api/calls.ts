/** The page's requests to the server, a function each. */
import type {
	EndedTask,
	FileView,
	Killed,
	LinePage,
	LoggedIn,
	OpenedLink,
	Ports,
	ProcessDetail,
	ProcessItem,
	Screen,
	SearchResult,
	Session,
	SpawnRequest,
	StartedProcess,
	TaskList,
	TaskLog,
	TaskLogOutput,
	TaskLogs,
	Ticket,
	TicketRequest,
	ViewerLink,
} from "../../../src/doors/http/schemas.js";
import type { LogPart } from "../terminal/history.js";
import { address, get, mounted, post, type Query, send } from "./client.js";

const OUTPUT_BYTES = 65_536; // of one command, in its transcript

const process = (id: string, rest = ""): string => `/api/processes/${encodeURIComponent(id)}${rest}`;

export const login = (token: string) => post<LoggedIn>("/api/login", { token });
export const openKeyboardLink = (secret: string) => post<OpenedLink>("/api/viewers/open", { secret });
export const session = () => get<Session>("/api/session");
export const detail = (id: string, signal?: AbortSignal) => get<ProcessDetail>(process(id), {}, signal);
export const ports = (id: string, signal: AbortSignal) => get<Ports>(process(id, "/ports"), {}, signal);
export const screen = (id: string, signal: AbortSignal) => get<Screen>(process(id, "/screen"), {}, signal);
export const lines = (id: string, limit: number, signal: AbortSignal) => get<LinePage>(process(id, "/lines"), { limit }, signal);
export const endIfGone = (task: string) => post<EndedTask>("/api/tasks/end", { task, if_gone: true });
export const tasks = () => get<TaskList>("/api/tasks");
export const spawn = (request: SpawnRequest) => post<StartedProcess>("/api/processes", request);
export const rename = (id: string, name: string) => post<ProcessItem>(process(id, "/rename"), { name });
export const kill = (id: string) => post<Killed>(process(id, "/kill"));
export const search = (query: Query, signal?: AbortSignal) => get<SearchResult>("/api/search", query, signal);
export const taskLogs = (signal?: AbortSignal) => get<TaskLogs>("/api/tasks/logs", {}, signal);
export const taskLog = (query: Query, signal?: AbortSignal) => get<TaskLog>("/api/tasks/log", query, signal);
export const taskLogOutput = (session_id: string, signal?: AbortSignal) =>
	get<TaskLogOutput>("/api/tasks/log/output", { session_id, limit: OUTPUT_BYTES }, signal);
export const taskLogPath = (task: string, format: string): string => address("/api/tasks/log/export", { task, format });
export const viewerLink = (session_id: string, seconds: number, keyboard: boolean) => post<ViewerLink>("/api/viewers", { session_id, seconds, keyboard });
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
	anchor.href = mounted(url);
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
