/** Receivers of notifications, real servers on loopback. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { atEnd } from "../support/home.js";

export interface Received {
	readonly path: string | undefined;
	readonly headers: http.IncomingHttpHeaders;
	readonly body: string;
}

/** A server that answers each request with what `answer` says; `undefined` is never an answer. */
export async function receiver(answer: (request: Received, number: number) => number | undefined): Promise<{ url: string; received: Received[] }> {
	const received: Received[] = [];
	const server = http.createServer((request, response) => {
		let body = "";
		request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
		request.once("end", () => {
			const one = { path: request.url, headers: request.headers, body };
			received.push(one);
			const status = request.method === "POST" ? answer(one, received.length) : 405;
			if (status !== undefined) response.writeHead(status, status === 302 ? { Location: "/elsewhere" } : {}).end();
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	atEnd(async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const NTFY_HEADERS = ["title", "tags", "priority", "click", "actions"];
const OF_HTTP = [
	"host",
	"connection",
	"content-type",
	"content-length",
	"user-agent",
	"accept",
	"accept-language",
	"accept-encoding",
	"sec-fetch-mode",
	"authorization",
];

export interface NtfyMessage {
	readonly title: string;
	readonly message: string;
	readonly click: string | undefined;
	readonly actions: readonly { action: string; label: string; url: string; clear: boolean }[];
}

/** A double of ntfy: it takes messages for one topic, and refuses whatever it does not know. */
export async function ntfyDouble(topic: string): Promise<{ url: string; messages: NtfyMessage[]; refused: string[] }> {
	const messages: NtfyMessage[] = [];
	const refused: string[] = [];
	const { url } = await receiver(({ path, headers, body }) => {
		try {
			if (path !== `/${topic}`) throw new Error(`no topic ${path}`);
			const unknown = Object.keys(headers).filter((name) => !NTFY_HEADERS.includes(name) && !OF_HTTP.includes(name));
			if (unknown.length > 0) throw new Error(`unknown headers ${unknown}`);
			if (!["min", "low", "default", "high", "max"].includes(String(headers.priority))) throw new Error(`priority ${headers.priority}`);
			if (Buffer.byteLength(body) > 4_096) throw new Error("this would become an attachment");
			messages.push({
				title: decoded(String(headers.title)),
				message: body,
				click: headers.click as string,
				actions: actionsIn(headers.actions as string | undefined),
			});
			return 200;
		} catch (error) {
			refused.push((error as Error).message);
			return 400;
		}
	});
	return { url: `${url}/${topic}`, messages, refused };
}

const decoded = (text: string): string => text.replace(/^=\?UTF-8\?B\?(.*)\?=$/, (_, base64: string) => Buffer.from(base64, "base64").toString("utf8"));

/** `view, LABEL, URL, clear=true; …`, at most three. */
function actionsIn(header: string | undefined): NtfyMessage["actions"] {
	const actions = (header ?? "").split(";").filter((one) => one.trim() !== "");
	if (actions.length > 3) throw new Error("more than three actions");
	return actions.map((text) => {
		const [action = "", label = "", url = "", ...options] = text.split(",").map((part) => part.trim());
		if (action !== "view" || label === "" || !URL.canParse(url)) throw new Error(`action ${text}`);
		const unknown = options.filter((option) => option !== "clear=true");
		if (unknown.length > 0) throw new Error(`options ${unknown}`);
		return { action, label, url, clear: options.includes("clear=true") };
	});
}
