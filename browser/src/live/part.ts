/** The browsers of tasks in the page of `holdfast serve`: live, and with mouse and keyboard for a person who takes over. */
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { openRuntime, type Runtime } from "holdfast";
import type { PartVisit, SitePart } from "holdfast/http";
import * as z from "zod";
import { profileOf } from "../chrome/index.js";
import { dropLease, readLease, takeLease } from "../drive/index.js";
import { LiveConnection, liveTabs } from "./cdp.js";
import { commandOf, inputSchema } from "./input.js";

export interface LivePartOptions {
	readonly home: string;
	readonly runtime?: Runtime;
	readonly report?: (text: string) => void;
}

/** From src and from dist alike. */
const FILES = fileURLToPath(new URL("../../dist/live/web/", import.meta.url));
const SCREENCAST = { format: "jpeg", quality: 60, maxWidth: 1280, maxHeight: 900 };
const LOOK_MS = 2_000;
const MOST_WAITING = 3; // frames that a slow viewer has not read

const holdSchema = z.strictObject({ hold: z.boolean(), key: z.string().max(100).optional() });
const inputsSchema = z.strictObject({ key: z.string().max(100), events: z.array(inputSchema).max(100) });

export function sitePart(options: LivePartOptions): SitePart {
	let opened: Promise<Runtime> | undefined;
	const runtimeOf = () => (opened ??= options.runtime ? Promise.resolve(options.runtime) : openRuntime({ home: options.home, warm: 0 }));
	const inputs = new Map<string, LiveConnection>();
	return {
		name: "browser",
		label: "Browser",
		icon: "M1.5 3h13v10h-13zM1.5 6h13M3.5 4.5h1M6 4.5h1",
		files: FILES,
		script: "view.js",
		async fetch(request, visit) {
			const runtime = await runtimeOf();
			if (visit.path === "/tasks" && request.method === "GET") return Response.json(await browsers(runtime));
			const [, name = "", action = ""] = /^\/tasks\/([^/]+)\/(screen|hold|input)$/.exec(visit.path) ?? [];
			const task = decoded(name);
			const port = task === undefined ? undefined : portOf(runtime, task);
			if (task === undefined || port === undefined) return problem(404, "no browser runs in this task");
			if (action === "screen" && request.method === "GET") return screen(runtime, task, port, visit, request.signal);
			if (request.method !== "POST") return problem(405, "this takes POST");
			if (action === "hold") return hold(runtime, task, await visit.json(1_000));
			return input(runtime, task, port, await visit.json(100_000), inputs);
		},
		async close() {
			for (const connection of inputs.values()) connection.close();
			if (!options.runtime) await (await opened)?.close();
		},
	};
}

const problem = (status: number, message: string): Response => Response.json({ error: { code: "INVALID", message } }, { status });

function decoded(name: string): string | undefined {
	try {
		return decodeURIComponent(name) || undefined;
	} catch {
		return undefined;
	}
}

/** Browsers on this machine: those whose port file can be read here. */
function portOf(runtime: Runtime, task: string): number | undefined {
	try {
		return Number(fs.readFileSync(`${profileOf(runtime, task)}/DevToolsActivePort`, "utf8").split("\n", 1)[0]) || undefined;
	} catch {
		return undefined;
	}
}

async function browsers(runtime: Runtime): Promise<object[]> {
	const tasks = new Set(runtime.list({ task: null, ended: false }).flatMap(({ spec }) => (spec.name === "browser" ? [spec.task] : [])));
	const found = await Promise.all(
		[...tasks].map(async (task) => {
			const port = portOf(runtime, task);
			const tabs = port === undefined ? [] : await liveTabs(port).catch(() => []);
			return tabs[0] ? [{ task, url: tabs[0].url, title: tabs[0].title, tabs: tabs.length }] : [];
		}),
	);
	return found.flat();
}

/** Frames as lines of JSON. A viewer that is slow misses some, and the last is always sent. */
async function screen(runtime: Runtime, task: string, port: number, visit: PartVisit, signal: AbortSignal): Promise<Response> {
	const [tab] = await liveTabs(port);
	if (!tab) return problem(404, "the browser has no tab");
	const connection = new LiveConnection(tab.socket);
	const encoder = new TextEncoder();
	const stop = (): void => connection.close();
	signal.addEventListener("abort", stop, { once: true });
	const looks = setInterval(() => visit.isStillValid() || stop(), LOOK_MS).unref(); // a page that stands still sends no frames
	const body = new ReadableStream<Uint8Array>(
		{
			async start(controller) {
				connection.onClose = () => {
					clearInterval(looks);
					try {
						controller.close();
					} catch {
						// the viewer was faster
					}
				};
				connection.onEvent = (method, params) => {
					if (method !== "Page.screencastFrame") return;
					void connection.send("Page.screencastFrameAck", { sessionId: params.sessionId }).catch(() => {});
					if (!visit.isStillValid()) return stop();
					if ((controller.desiredSize ?? 0) <= 0) return;
					const { deviceWidth, deviceHeight } = params.metadata as { deviceWidth: number; deviceHeight: number };
					const line = { data: params.data, width: deviceWidth, height: deviceHeight, held: readLease(runtime.home.root, task)?.by };
					controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
				};
				await connection.send("Page.enable");
				await connection.send("Page.startScreencast", SCREENCAST);
			},
			cancel: stop,
		},
		{ highWaterMark: MOST_WAITING },
	);
	return new Response(body, { headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" } });
}

function hold(runtime: Runtime, task: string, given: unknown): Response {
	const parsed = holdSchema.safeParse(given);
	if (!parsed.success) return problem(400, "give hold: true or false");
	const { hold: wanted, key } = parsed.data;
	if (!wanted) {
		if (key !== undefined) dropLease(runtime.home.root, task, key);
		return Response.json({ held: false });
	}
	const lease = takeLease(runtime.home.root, task, "a person", key);
	return lease ? Response.json({ held: true, key: lease.key }) : problem(409, "another page has taken over this browser");
}

async function input(runtime: Runtime, task: string, port: number, given: unknown, inputs: Map<string, LiveConnection>): Promise<Response> {
	const parsed = inputsSchema.safeParse(given);
	if (!parsed.success) return problem(400, "this is no input"); // what it is may be a password, so it is not said
	const { key, events } = parsed.data;
	if (readLease(runtime.home.root, task)?.key !== key) return problem(409, "take over the browser first");
	takeLease(runtime.home.root, task, "a person", key);
	const [tab] = await liveTabs(port);
	if (!tab) return problem(404, "the browser has no tab");
	const connection = inputs.get(tab.socket) ?? new LiveConnection(tab.socket);
	inputs.set(tab.socket, connection);
	connection.onClose = () => inputs.delete(tab.socket);
	for (const event of events) {
		const { method, params } = commandOf(event);
		await connection.send(method, params);
	}
	return Response.json({ done: events.length });
}
