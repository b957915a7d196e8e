/** The log of each process as a resource, `holdfast://process/ID/log`, for the task whose process it is. Shells are none: what they print belongs to commands. */
import { type ListResourcesResult, type ReadResourceResult, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { counted, HoldfastError, isId, plainText, REMOTE_MS, wholeCharacters } from "../../base/index.js";
import { reveal } from "../../base/secrets/index.js";
import { hiddenText, isOver, maskedCommand, nameOf, type Process, type Runtime } from "../../process/index.js";

const MIME = "text/plain";
const TAIL_BYTES = 200_000;
const TITLE_CHARS = 100;

export const LOG_TEMPLATE = {
	name: "process-log",
	title: "Log of a process",
	uriTemplate: "holdfast://process/{session_id}/log",
	description: `What a process has printed: the last ${TAIL_BYTES} bytes. Can be subscribed to.`,
	mimeType: MIME,
};

export const logUri = (id: string): string => `holdfast://process/${id}/log`;

export async function listLogs(runtime: Runtime, task: string): Promise<ListResourcesResult> {
	await runtime.sync({ task, ms: REMOTE_MS.call });
	const resources = runtime.list({ task }).map((process) => ({
		uri: logUri(process.id),
		name: process.secrets.redact(nameOf(process) ?? process.id),
		title: oneLine(maskedCommand(process)),
		description: `The log of ${process.id} (${process.status().status})`,
		mimeType: MIME,
		size: process.log.bounds().end,
	}));
	return { resources };
}

export async function readLog(runtime: Runtime, task: string, uri: string): Promise<ReadResourceResult> {
	const process = processAt(runtime, task, uri);
	const unreached = await process.sync(undefined, REMOTE_MS.call);
	const { end } = process.log.bounds();
	const slice = process.read(Math.max(0, end - TAIL_BYTES), TAIL_BYTES);
	const bytes = slice.bytes.subarray(0, wholeCharacters(slice.bytes));
	const from = slice.offset === 0 ? 0 : lineStart(bytes);
	const offset = slice.offset + from;
	const hidden = hiddenText(process, { bytes: bytes.subarray(from), offset }, { end, live: !isOver(process.status()) });
	const text = reveal(process.spec.terminal ? hidden.text : plainText(hidden.text));
	const left =
		offset === 0
			? ""
			: `[${counted(offset, "byte before this is", "bytes before this are")} left out; process(action="log", session_id="${process.id}", byte_offset=…) reads them]\n`;
	const behind = unreached === undefined ? "" : `\n[${unreached}]\n`;
	return { contents: [{ uri, mimeType: MIME, text: left + text + behind, _meta: { byte_offset: offset, next_offset: offset + hidden.bytes } }] };
}

/** The process a URI names; another task's is as good as none. */
export function processAt(runtime: Runtime, task: string, uri: string): Process {
	const id = /^holdfast:\/\/process\/([^/]+)\/log$/.exec(uri)?.[1];
	if (id === undefined || !isId(id)) throw new ResourceNotFoundError(uri);
	try {
		const process = runtime.get(id);
		if (process.spec.task === task && process.spec.kind === undefined) return process;
	} catch (error) {
		if (!(error instanceof HoldfastError) || error.code !== "NOT_FOUND") throw error;
	}
	throw new ResourceNotFoundError(uri);
}

/** Behind the first line break, so that no half line is shown; 0 if it is all one line. */
function lineStart(bytes: Uint8Array): number {
	const at = bytes.indexOf(0x0a) + 1;
	return at < bytes.length ? at : 0;
}

function oneLine(text: string): string {
	const flat = text.replace(/\s+/g, " ").trim();
	return flat.length > TITLE_CHARS ? `${flat.slice(0, TITLE_CHARS - 1)}…` : flat;
}
