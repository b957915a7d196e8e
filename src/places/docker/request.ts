/** Sends a request to an engine and reads its answer. A request that the caller gives up is torn down, not left running. */
import http from "node:http";
import type net from "node:net";
import type { Duplex } from "node:stream";
import type * as z from "zod";
import { errno } from "../../base/index.js";

/** A request, and how to read its answer. */
export interface EngineCall<T> {
	readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
	/** Without the API version. */
	readonly path: string;
	readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
	/** Bytes (an archive), or a value sent as JSON. */
	readonly body?: unknown;
	/** The connection becomes a byte stream. */
	readonly upgrade?: boolean;
	readonly read: (answer: EngineAnswer) => Promise<T>;
}

export interface EngineAnswer {
	readonly message: http.IncomingMessage;
	/** The connection of an upgraded request. */
	readonly socket?: EngineSocket;
}

/** A connection that has become a byte stream. */
export interface EngineSocket extends Duplex {
	/** Keeps this program alive for the connection. */
	ref(): unknown;
	unref(): unknown;
}

/** The engine refused the request. */
export class EngineRefusal extends Error {
	readonly statusCode: number;

	constructor(statusCode: number, message: string) {
		super(message);
		this.name = "EngineRefusal";
		this.statusCode = statusCode;
	}
}

/** The answer does not come from a Docker engine. */
export class NotUnderstood extends Error {}

/** Answers are held in memory; the longest, a list of thousands of containers, has a few megabytes. */
const MOST_BYTES = 64 * 1024 ** 2;
const REASON_CHARS = 1_000;

export interface Sending {
	readonly agent: http.Agent;
	/** "": the engine's default. */
	readonly version: string;
	readonly signal: AbortSignal;
}

export async function send<T>(call: EngineCall<T>, sending: Sending): Promise<T> {
	const answer = await exchange(call, sending);
	const status = answer.message.statusCode ?? 0;
	if (answer.socket === undefined && (status < 200 || status > 299)) throw new EngineRefusal(status, await reason(answer));
	if (call.upgrade && answer.socket === undefined) {
		answer.message.destroy();
		throw new NotUnderstood("it does not turn a connection into a stream; a proxy in between may not pass that on");
	}
	return await call.read(answer);
}

async function exchange<T>(call: EngineCall<T>, sending: Sending): Promise<EngineAnswer> {
	for (;;) {
		const request = prepared(call, sending);
		try {
			return await answerTo(request);
		} catch (error) {
			// The engine may have closed a kept connection at this moment. Retries only requests that change nothing.
			const again = request.reusedSocket && (call.method === "GET" || call.method === "HEAD") && ["ECONNRESET", "EPIPE"].includes(errno(error) ?? "");
			if (!again || sending.signal.aborted) throw error;
		}
	}
}

function prepared<T>({ method, path, query = {}, body, upgrade }: EngineCall<T>, { agent, version, signal }: Sending): http.ClientRequest {
	const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
	const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
	const bytes = body === undefined ? undefined : body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
	const headers = {
		Host: "docker",
		...(bytes && { "Content-Type": body instanceof Uint8Array ? "application/x-tar" : "application/json" }),
		...(bytes ? { "Content-Length": bytes.length } : method === "POST" && { "Content-Length": 0 }),
		...(upgrade && { Connection: "Upgrade", Upgrade: "tcp" }),
	};
	const request = http.request({ agent, method, path: `${version && `/v${version}`}${path}${search}`, headers, signal });
	request.end(bytes);
	return request;
}

const answerTo = (request: http.ClientRequest): Promise<EngineAnswer> =>
	new Promise((resolve, reject) => {
		request.on("error", reject); // stays: the answer reports later errors
		request.once("response", (message) => resolve({ message }));
		request.once("upgrade", (message, socket, head) => {
			(socket as net.Socket).setTimeout(0); // the timeout of an idle connection
			if (head.length > 0) socket.unshift(head);
			resolve({ message, socket: socket as net.Socket }); // or a StreamSocket
		});
	});

async function reason(answer: EngineAnswer): Promise<string> {
	const body = (await text(answer)).trim();
	try {
		const { message } = JSON.parse(body) as { message?: unknown };
		if (typeof message === "string" && message !== "") return message.trim().slice(0, REASON_CHARS);
	} catch {
		// not JSON: use the text as it is
	}
	const plain = body.replace(/[\0-\x1f\x7f-\x9f]+/g, " ").slice(0, REASON_CHARS);
	return plain || `${answer.message.statusCode} ${answer.message.statusMessage ?? ""}`.trim();
}

export async function bytes({ message }: EngineAnswer): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of message as AsyncIterable<Buffer>) {
		length += chunk.length;
		if (length > MOST_BYTES) throw new NotUnderstood(`its answer is longer than ${MOST_BYTES} bytes`); // leaving the loop destroys the message
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

export const text = async (answer: EngineAnswer): Promise<string> => (await bytes(answer)).toString("utf8");

/** Reads the answer to its end, so that the connection can be reused. */
export async function nothing(answer: EngineAnswer): Promise<void> {
	await bytes(answer);
}

export const json =
	<T>(schema: z.ZodType<T>) =>
	async (answer: EngineAnswer): Promise<T> => {
		const body = await text(answer);
		let value: unknown;
		try {
			value = JSON.parse(body);
		} catch {
			throw new NotUnderstood(`its answer is not JSON: ${JSON.stringify(body.slice(0, 100))}`);
		}
		const { success, data, error } = schema.safeParse(value);
		if (!success) throw new NotUnderstood(`its answer has another form: ${error.issues[0]?.path.join(".")}: ${error.issues[0]?.message}`);
		return data;
	};
