/** The browsers of tasks in the page of `holdfast serve`: live, and with mouse and keyboard for a person who takes over. */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { openRuntime, type Runtime, type TakenKeyboard } from "holdfast";
import type { SitePart } from "holdfast/http";
import * as z from "zod";
import { type LiveBrowser, LiveBrowsers } from "./browsers.js";
import type { LiveConnection } from "./cdp.js";
import { commandOf, inputSchema, MARK_SECRET } from "./input.js";
import { screenOf } from "./screen.js";

export interface LivePartOptions {
	readonly home: string;
	readonly runtime?: Runtime;
	readonly report?: (text: string) => void;
}

/** From src and from dist alike. */
const FILES = fileURLToPath(new URL("../../dist/live/web/", import.meta.url));

const holdSchema = z.strictObject({ hold: z.boolean(), key: z.string().max(100).optional() });
const inputsSchema = z.strictObject({ key: z.string().max(100), events: z.array(inputSchema).max(100) });

/** The seat of a person who has taken over. */
interface Seat {
	readonly browser: LiveBrowser;
	/** Known to their page alone. */
	readonly key: string;
	readonly keyboard: TakenKeyboard;
	/** The target of their input: the tab in front. */
	at?: { readonly tab: string; readonly connection: LiveConnection };
}

export function sitePart(options: LivePartOptions): SitePart {
	let opened: Promise<{ runtime: Runtime; browsers: LiveBrowsers }> | undefined;
	const open = async () => {
		const runtime = options.runtime ?? (await openRuntime({ home: options.home, warm: 0 }));
		return { runtime, browsers: new LiveBrowsers(runtime) };
	};
	const seats = new Map<string, Seat>();
	return {
		name: "browser",
		label: "Browser",
		icon: "M1.5 3h13v10h-13zM1.5 6h13M3.5 4.5h1M6 4.5h1",
		files: FILES,
		script: "view.js",
		async fetch(request, visit) {
			opened ??= open();
			const { runtime, browsers } = await opened;
			if (visit.path === "/tasks" && request.method === "GET") return Response.json(await listed(browsers));
			const [, name = "", action = ""] = /^\/tasks\/([^/]+)\/(screen|hold|input)$/.exec(visit.path) ?? [];
			const task = decoded(name);
			const browser = task === undefined ? undefined : browsers.of(task);
			if (task === undefined || !browser) return problem(404, "no browser runs in this task");
			if (action === "screen" && request.method === "GET") {
				const holder = () => runtime.keyboards.holder(browser.process.id)?.who;
				const body = screenOf({ browser, holder, isStillValid: () => visit.isStillValid(), signal: request.signal });
				return new Response(body, { headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" } });
			}
			if (request.method !== "POST") return problem(405, "this takes POST");
			if (action === "hold") return hold(runtime, browser, await visit.json(1_000), seats);
			return input(browser, await visit.json(100_000), seats);
		},
		async close() {
			for (const seat of seats.values()) leave(seat);
			seats.clear();
			if (!options.runtime) await (await opened)?.runtime.close();
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

/** Lists the browsers; one in another place without its tabs. */
async function listed(browsers: LiveBrowsers): Promise<object[]> {
	const found = await Promise.all(
		browsers.all().map(async (browser) => {
			const { task, place } = browser.process.spec;
			if (!browser.isLocal) return [{ task, place, url: "", title: "", tabs: null }];
			const tabs = await browser.tabs().catch(() => []);
			return tabs[0] ? [{ task, place, url: tabs[0].url, title: tabs[0].title, tabs: tabs.length }] : [];
		}),
	);
	return found.flat();
}

function hold(runtime: Runtime, browser: LiveBrowser, given: unknown, seats: Map<string, Seat>): Response {
	const parsed = holdSchema.safeParse(given);
	if (!parsed.success) return problem(400, "give hold: true or false");
	const { hold: wanted, key } = parsed.data;
	const { task } = browser.process.spec;
	const mine = seatOf(browser, key, seats);
	if (!wanted) {
		if (mine) leave(mine);
		if (mine) seats.delete(task);
		return Response.json({ held: false });
	}
	if (mine?.keyboard.renew()) return Response.json({ held: true, key });
	const keyboard = runtime.keyboards.take(browser.process.id, { who: "a person at the page" });
	if (!keyboard) return problem(409, "another page has taken over this browser");
	const before = seats.get(task); // it has lapsed
	if (before) leave(before);
	const seat = { browser, key: randomBytes(12).toString("hex"), keyboard };
	seats.set(task, seat);
	return Response.json({ held: true, key: seat.key });
}

function seatOf({ process }: LiveBrowser, key: string | undefined, seats: ReadonlyMap<string, Seat>): Seat | undefined {
	const seat = seats.get(process.spec.task);
	return seat && seat.key === key && seat.browser.process.id === process.id ? seat : undefined;
}

function leave({ keyboard, at }: Seat): void {
	at?.connection.close();
	keyboard.release();
}

async function input(browser: LiveBrowser, given: unknown, seats: Map<string, Seat>): Promise<Response> {
	const parsed = inputsSchema.safeParse(given);
	if (!parsed.success) return problem(400, "this is no input"); // what it is may be a password, so it is not said
	const { key, events } = parsed.data;
	const seat = seatOf(browser, key, seats);
	if (!seat?.keyboard.renew()) return problem(409, "take over the browser first");
	const [tab] = await browser.tabs();
	if (!tab) return problem(404, "the browser has no tab");
	if (seat.at?.tab !== tab.id || seat.at.connection.isClosed) {
		seat.at?.connection.close();
		seat.at = { tab: tab.id, connection: browser.connect(tab) };
	}
	const { connection } = seat.at;
	for (const event of events) {
		if (event.kind === "key" || event.kind === "text") await connection.send("Runtime.evaluate", { expression: MARK_SECRET });
		const { method, params } = commandOf(event);
		await connection.send(method, params);
	}
	return Response.json({ done: events.length });
}
