/** Output of processes: as bytes, as lines, searched, as a recording. */
import { utf8 } from "../../../base/index.js";
import { isOver, type Process, type Slice, starredSlice } from "../../../process/index.js";
import { asciicast } from "../../../recording/index.js";
import { stripAnsi } from "../../../tools/index.js";
import { type Route, route } from "../router.js";
import { type LinePage, linesQuerySchema, linesSchema, logQuerySchema, searchQuerySchema, searchSchema } from "../schemas.js";
import { searchLogs } from "../search.js";
import type { Visitor } from "../visitor.js";
import { type ApiContext, fresh, freshOf } from "./context.js";

const LOG_BYTES = 256 * 1024;
const LINES = 200;
const LINE_CHARS = 4_000;
const WINDOW = 64 * 1024;
const WINDOW_MOST = 2 * 1024 * 1024;
const NEWLINE = 10;

export const outputRoutes = (api: ApiContext): Route[] => [
	route(
		{
			method: "get",
			path: "/api/processes/:id/log",
			who: "viewer",
			summary: "Bytes of its log; headers say which",
			query: logQuerySchema,
			answer: "application/octet-stream",
		},
		async ({ context, params, query, visitor }) => {
			const process = await freshOf(api, params);
			const { first, end } = process.log.bounds();
			const limit = query.limit ?? LOG_BYTES;
			const { bytes, offset, next } = readerFor(process, visitor)(query.offset ?? Math.max(first, end - limit), limit);
			return context.body(new Uint8Array(bytes), 200, {
				...DOWNLOAD,
				"X-Holdfast-Offset": String(offset),
				"X-Holdfast-Next": String(next),
				"X-Holdfast-First": String(first),
				"X-Holdfast-End": String(Math.max(end, next)),
			});
		},
	),
	route(
		{
			method: "get",
			path: "/api/processes/:id/lines",
			who: "viewer",
			summary: "Its log as lines of text, without escape sequences",
			query: linesQuerySchema,
			answer: linesSchema,
		},
		async ({ params, query, visitor }) => {
			const process = await freshOf(api, params);
			const limit = query.limit ?? LINES;
			const source = { bounds: process.log.bounds(), read: readerFor(process, visitor) };
			return query.after === undefined ? linesBefore(source, query.before, limit) : linesAfter(source, query.after, limit);
		},
	),
	route(
		{ method: "get", path: "/api/search", who: "owner", summary: "Text in the logs, the newest first", query: searchQuerySchema, answer: searchSchema },
		async ({ query, context }) => {
			const processes = query.session_id === undefined ? api.runtime.list({ task: query.task ?? null }) : [api.runtime.get(query.session_id)];
			return searchLogs(await fresh(processes), query.q, { limit: query.limit ?? 100, signal: context.req.raw.signal });
		},
	),
	route(
		{
			method: "get",
			path: "/api/processes/:id/recording",
			who: "viewer",
			summary: "What its terminal printed, as asciicast v2",
			answer: "application/x-asciicast",
		},
		async ({ context, params, visitor }) => {
			const process = await freshOf(api, params);
			const lines = asciicast(process, { mask: visitor?.scope !== "owner" });
			const first = await lines.next(); // what is wrong is said before there is an answer
			return context.body(stream(first.value ?? "", lines), 200, {
				...DOWNLOAD,
				"Content-Type": "application/x-asciicast",
				"Content-Disposition": `attachment; filename="${process.id}.cast"`,
			});
		},
	),
];

type Read = (offset: number, limit: number) => Slice;

/** The owner reads what was printed; a read-only link reads stars in place of secrets. */
function readerFor(process: Process, visitor: Visitor | undefined): Read {
	if (visitor?.scope === "owner") return (offset, limit) => process.read(offset, limit);
	const live = !isOver(process.status());
	return (offset, limit) => starredSlice(process, process.read(offset, limit), live);
}

interface Source {
	readonly bounds: { readonly first: number; readonly end: number };
	readonly read: Read;
}

/** Nothing that a process printed, or that is in a file, may become a page of ours. */
export const DOWNLOAD = { "Content-Type": "application/octet-stream", "Content-Disposition": "attachment", "Cache-Control": "no-store" };

export function stream(first: string, lines: AsyncGenerator<string>): ReadableStream<Uint8Array> {
	const encoder = new TextEncoder();
	return new ReadableStream<Uint8Array>(
		{
			start: (controller) => controller.enqueue(encoder.encode(first)),
			pull: async (controller) => {
				let text = "";
				while (text.length < WINDOW) {
					const { value, done } = await lines.next();
					if (done) {
						if (text !== "") controller.enqueue(encoder.encode(text));
						controller.close();
						return;
					}
					text += value;
				}
				controller.enqueue(encoder.encode(text));
			},
			cancel: async () => void (await lines.return(undefined)),
		},
		{ highWaterMark: 1 },
	);
}

function linesBefore({ bounds: { first, end }, read }: Source, before: number | undefined, limit: number): LinePage {
	const upTo = Math.min(before ?? end, end);
	for (let window = WINDOW; ; window *= 4) {
		const { bytes, offset, next } = read(Math.max(first, upTo - window), Math.min(window, Math.max(0, upTo - first)));
		const whole = offset <= first || window >= WINDOW_MOST;
		// The first line of the window may have begun before it.
		const start = whole ? 0 : bytes.indexOf(NEWLINE) + 1;
		const lines = split(bytes.subarray(start), offset + start);
		if (lines.length < limit && !whole) continue;
		const shown = lines.slice(-limit);
		return { lines: shown, first_offset: first, start: shown[0]?.offset ?? next, next, total_bytes: end };
	}
}

function linesAfter({ bounds: { first, end }, read }: Source, after: number, limit: number): LinePage {
	for (let window = WINDOW; ; window *= 4) {
		const { bytes, offset, next } = read(after, window);
		const all = split(bytes, offset);
		const cut = next < end && bytes.at(-1) !== NEWLINE && window < WINDOW_MOST; // the last line goes on
		const lines = cut ? all.slice(0, -1) : all;
		if (lines.length < limit && next < end && window < WINDOW_MOST) continue;
		const shown = lines.slice(0, limit);
		const rest = all[shown.length];
		return { lines: shown, first_offset: first, start: shown[0]?.offset ?? offset, next: rest?.offset ?? next, total_bytes: end };
	}
}

function split(bytes: Buffer, offset: number): LinePage["lines"] {
	const lines: { offset: number; text: string }[] = [];
	for (let at = 0; at < bytes.length; ) {
		const newline = bytes.indexOf(NEWLINE, at);
		const end = newline < 0 ? bytes.length : newline;
		lines.push({ offset: offset + at, text: plain(bytes.subarray(at, end)) });
		at = end + 1;
	}
	return lines;
}

/** Returns a line as a terminal would show it: text behind a carriage return overwrites the text before it. */
function plain(bytes: Buffer): string {
	const text = stripAnsi(utf8(bytes)).replace(/\r+$/, "");
	const last = text.slice(text.lastIndexOf("\r") + 1);
	return last.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "").slice(0, LINE_CHARS);
}
