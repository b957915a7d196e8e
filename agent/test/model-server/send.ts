/** Sends the events of an answer, and does on the way what its step says: a fault, a pause, an oddity of the wire. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Frame } from "./frames.js";
import type { Fault, Place, Step } from "./step.js";

/** `closed` aborts when the client or the server closes the connection. */
export async function sendFrames(
	response: ServerResponse,
	frames: readonly Frame[],
	step: Step,
	errorFrame: (fault: Fault & { kind: "error" }) => Frame,
	closed: AbortSignal,
): Promise<void> {
	const { fault, pause, wire = {} } = step;
	const stopAt = fault && "at" in fault ? reach(frames, fault.at) : frames.length;
	const pauseAt = pause ? reach(frames, pause.at) : -1;
	if (pause?.at === "headers") await pause.until;
	if (fault && "at" in fault && fault.at === "headers") return end(response, fault, closed);

	response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", ...wire.headers });
	response.flushHeaders();
	if (fault && "at" in fault && fault.at === "first byte") {
		await write(response, Buffer.from(text(frames[0] as Frame, wire.crlf)).subarray(0, 5));
		return end(response, fault, closed);
	}
	for (const [index, frame] of frames.slice(0, stopAt).entries()) {
		if (index === pauseAt) await pause?.until;
		if (closed.aborted) return;
		if (wire.dripMs) await sleep(wire.dripMs);
		if (frame.data === null) continue; // a place without an event
		if (wire.comments) await write(response, Buffer.from(`: keep-alive${wire.crlf ? "\r\n\r\n" : "\n\n"}`));
		await writeIn(response, Buffer.from(text(frame, wire.crlf)), wire.bytes);
	}
	if (pauseAt === frames.length) await pause?.until;
	if (fault?.kind === "error") await write(response, Buffer.from(text(errorFrame(fault), wire.crlf)));
	return end(response, fault, closed);
}

/** How many events have been sent when the answer is at this place. */
function reach(frames: readonly Frame[], place: Place): number {
	if (place === "headers" || place === "first byte") return 0;
	const last = frames.findLastIndex((frame) => frame.place === place);
	if (last < 0) throw new Error(`the script breaks an answer at "${place}", and it has no such place`);
	const first = frames.findLastIndex((frame, index) => index <= last && frame.place !== place) + 1;
	if (place === "reasoning" || place === "text" || place === "arguments") return first + Math.ceil((last - first + 2) / 2);
	return place === "finish" ? first + 1 : last + 1;
}

async function end(response: ServerResponse, fault: Fault | undefined, closed: AbortSignal): Promise<void> {
	if (fault?.kind === "stall") {
		if (!closed.aborted) await new Promise<void>((resolve) => closed.addEventListener("abort", () => resolve(), { once: true }));
	} else if (fault?.kind === "cut" && fault.how !== "end") {
		await flushed(response);
		response.socket?.destroy();
	} else if (!response.headersSent) response.socket?.end();
	else response.end();
}

function text(frame: Frame, crlf = false): string {
	const line = crlf ? "\r\n" : "\n";
	const data = typeof frame.data === "string" ? frame.data : JSON.stringify(frame.data);
	return `${frame.event ? `event: ${frame.event}${line}` : ""}data: ${data}${line}${line}`;
}

async function writeIn(response: ServerResponse, bytes: Buffer, size = bytes.length): Promise<void> {
	for (let at = 0; at < bytes.length; at += size) {
		await write(response, bytes.subarray(at, at + size));
		if (size < bytes.length) await new Promise((resolve) => setImmediate(resolve)); // else the kernel sees one write
	}
}

const write = (response: ServerResponse, bytes: Buffer): Promise<void> => new Promise((resolve) => void response.write(bytes, () => resolve()));

/** What was written has left the process, so a cut comes after it and not instead of it. */
const flushed = (response: ServerResponse): Promise<void> => (response.headersSent ? write(response, Buffer.alloc(0)) : Promise.resolve());
