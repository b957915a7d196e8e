/** Commands that reach beyond the conversation: processes, terminals, model, place, sudo, and how the gateway is. */
import path from "node:path";
import { createSite } from "holdfast/http";
import { expect, test } from "vitest";
import { type DeliverOptions, deliveries, type NewsMode } from "../../src/gateway/deliver.js";
import { sitePart } from "../../src/page/index.js";
import type { Entry } from "../../src/talk/index.js";
import { calls } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { startProgram } from "../support/program.js";
import { gateWorld } from "./support.js";

test("/processes, /link, /model and /place: anyone who may write looks, and only an admin changes what the agent reaches", async () => {
	const world = await gateWorld({
		script: (request) => (request.results.length > 0 ? "It waits." : calls(["terminal", { command: "cat", background: true, pty: true }])),
	});
	await world.start();
	world.chats.write("open a terminal");
	await world.shows("It waits.");
	const says = async (text: string, shows: string | RegExp, options: { chat?: string; person?: string } = {}): Promise<void> => {
		world.chats.write(text, options);
		await world.shows(shows, options.chat);
	};
	await says("/processes", /^proc_\w+ {2}running {2}cat$/);
	await says("/link keyboard", "No page is served; start `holdfast serve` in another terminal, then ask again.");
	const server = startProgram(path.resolve("dist/bin/holdfast.js"), ["serve", "--port", "0"], { HOLDFAST_HOME: world.runtime.home.root });
	for (let line = await server.line(); !line.includes("#token="); ) line = await server.line();
	await says("/link keyboard", /^http:\/\/127\.0\.0\.1:\d+\/#keys=\S+\nThe first browser that opens it may type, for 10 minutes\.$/);
	await says("/model", /^scripted at http/);
	await says("/model other", /^The model is other now\.\nscripted does not list other/);
	await says("/place", "Commands run at local.");
	await says("/place nowhere:at-all", /nowhere/);
	const tim = { chat: "c2", person: "tim" };
	await says("/processes", "No process runs.", tim);
	await says("/link keyboard", "/link needs the role admin, which you do not have", tim);
	await says("/model other", "/model needs the role admin, which you do not have", tim);
	await says("/place local+sandbox", "/place needs the role admin, which you do not have", tim);
	await says("/model", /^scripted at http/, { ...tim, chat: "c3" });
	await says("/place", "Commands run at local.");
	await Promise.all(world.runtime.list({ task: "agent/tele/direct/c1" }).map((process) => process.kill()));
	await says("/processes", /^proc_\w+ {2}killed \d+ {2}cat$/);
	expect(world.model.requests).toHaveLength(2);
});

test("a sudo that wants a password gets none; the chat is told what to configure, and offered the link", async () => {
	const world = await gateWorld({ script: ["Hello."] });
	const asked: { ask?: (question: { task: string }) => Promise<string | null> } = {};
	const attend = (ask: typeof asked.ask): (() => void) => {
		if (ask) asked.ask = ask;
		return () => undefined;
	};
	Object.defineProperty(world.runtime, "sudo", { value: { attend } });
	await world.start();
	world.chats.write("hi");
	await world.shows("Hello.");
	expect(await asked.ask?.({ task: "agent/tele/direct/c1" })).toBeNull();
	expect(await asked.ask?.({ task: "somebody/else" })).toBeNull();
	await world.shows(/NOPASSWD.*\/link keyboard/);
	expect(world.chats.in()).toHaveLength(2);
});

test("the page has the gateway's health and counters", async () => {
	const world = await gateWorld({ script: ["Hello."] });
	const site = createSite(world.runtime, {
		url: "http://page.test",
		token: "right-token-right-token-right-token",
		parts: [sitePart({ home: world.runtime.home.root, runtime: world.runtime, agentHome: world.home.root })],
	});
	atEnd(() => site.close());
	const health = async (): Promise<{ running: boolean; status?: { counters: Record<string, number> } }> => {
		const headers = { host: "page.test", authorization: "Bearer right-token-right-token-right-token" };
		return (await site.fetch(new Request("http://page.test/api/parts/agent/gateway", { headers }))).json() as never;
	};
	expect(await health()).toEqual({ running: false });
	const gateway = await world.start();
	world.chats.write("hi");
	await world.shows("Hello.");
	const seen: { last?: Awaited<ReturnType<typeof health>> } = {};
	await until("it has written how it is", () => {
		void health().then((now) => (seen.last = now));
		return seen.last?.status?.counters.sent === 1;
	});
	expect(seen.last).toMatchObject({ running: true, status: { counters: { received: 1, sent: 1 }, platforms: [{ name: "tele", up: true, waiting: 0 }] } });
	await gateway.stop();
	expect((await health()).running).toBe(false);
});

test("news: all shows updates too, result ends, error failed ones, off none; what comes within two seconds is one message; secrets are masked, and lines are whole", () => {
	const notice = (n: number, id: string, text: string): Entry => ({ n, at: "2026-01-01T00:00:00.000Z", t: "notice", id, text }) as Entry;
	const entries = [
		notice(0, "proc_a-update-1", `proc_a has said more\n${"a long line of output that goes on\n".repeat(60)}key hunter2`),
		notice(1, "proc_b-completed", "proc_b ended after 2 s with exit code 0\nfine"),
		notice(2, "proc_c-completed", "proc_c ended after 2 s with exit code 1\nbroken"),
	];
	const platform = { traits: { limit: { size: 4_000, unit: "characters" } }, measure: (text: string) => text.length } as never;
	const options = (news: NewsMode): DeliverOptions => ({
		...{ conversation: "x", from: 0, chat: { id: "c1", kind: "direct" }, name: "tele", platform, news, now: Date.parse("2026-01-01T01:00:00Z") },
		redact: (text) => text.replaceAll("hunter2", "***"),
		known: () => false,
	});
	const shown = (news: NewsMode, some = entries): string[] => deliveries(some, options(news)).items.map(({ text }) => text);
	const [all = "", ...more] = shown("all");
	expect(more).toEqual([]);
	expect(all.split("▸ ").map((one) => one.split("\n")[0])).toEqual(
		["", "proc_a has said more", entries[1], entries[2]].map((one) => (typeof one === "string" ? one : (one as { text: string }).text.split("\n")[0])),
	);
	expect(all).toContain("\nkey ***\n");
	expect(
		all
			.split("\n")
			.filter((line) => line.startsWith("a long"))
			.every((line) => line === "a long line of output that goes on"),
	).toBe(true);
	expect(all.length).toBeLessThan(1_400);
	expect(shown("result")).toEqual(["▸ proc_b ended after 2 s with exit code 0\nfine\n▸ proc_c ended after 2 s with exit code 1\nbroken"]);
	expect(shown("error")).toEqual(["▸ proc_c ended after 2 s with exit code 1\nbroken"]);
	expect(shown("off")).toEqual([]);
	expect(shown("error", [notice(0, "proc_d-completed", "proc_d (echo ended with exit code 0; false) ended after 2 s with exit code 1.")])).toHaveLength(1);
	const second = { ...options("all"), now: Date.parse("2026-01-01T00:00:00.500Z") }; // more may come within two seconds
	expect(deliveries(entries, second)).toEqual({ items: [], told: 0, again: 1_500 });
});
