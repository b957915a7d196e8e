/** Conversations of a chat: when a new one begins, and how one goes back. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { loadAgentConfig } from "../../src/base/index.js";
import { openAgent } from "../../src/chat/index.js";
import { listSessions } from "../../src/talk/index.js";
import { calls } from "../model-server/index.js";
import { until } from "../support/dirs.js";
import type { ShownMessage } from "./double.js";
import { type GateWorld, gateWorld } from "./support.js";

const HOUR = 3_600_000;

/** A clock that can be moved; processes and files have the real time. */
function movedClock() {
	let ahead = 0;
	return { now: () => Date.now() + ahead, move: (ms: number) => (ahead += ms) };
}

const idle = (gateway: Awaited<ReturnType<GateWorld["start"]>>): Promise<void> => {
	const chat = gateway.chats.get("agent/tele/direct/c1");
	return until("nothing is under way", () => chat?.conversation?.busy === false && chat.link.outbox.store.size === 0);
};

test("idle for a day: a new conversation that says so and knows the one before; a young process, an old one, and mode none", async () => {
	const clock = movedClock();
	const world = await gateWorld({
		clock,
		script: (request) => {
			if (request.results.length > 0) return "Sleeps.";
			return request.said === "sleep" ? calls(["terminal", { command: "sleep 1000", background: true }]) : `Answer to ${request.said}`;
		},
	});
	const gateway = await world.start();
	world.chats.write("one");
	await world.shows("Answer to one");
	await idle(gateway);
	clock.move(25 * HOUR);
	world.chats.write("two");
	await world.shows("Answer to two");
	const [reset] = world.chats.texts().filter((text) => text.startsWith("A new conversation"));
	expect(reset).toMatch(/since nothing was said for 25 hours \(2 messages before\)\. \/resume \d{8}_\d{6}_[0-9a-f]{6} goes back\.$/);
	expect(world.chats.texts()).toEqual(["Answer to one", reset, "Answer to two"]);
	expect(world.model.requests[1]?.system).toMatch(/for your information; it is over[\s\S]*User: one\nYou: Answer to one/);
	expect(JSON.stringify(world.model.requests[1]?.body.messages)).not.toContain('"one"');
	expect(listSessions(world.home).map(({ ended, task }) => [ended?.slice(0, 7), task])).toEqual([
		[undefined, "agent/tele/direct/c1"],
		["nothing", "agent/tele/direct/c1"],
	]);

	await idle(gateway);
	clock.move(-25 * HOUR); // set back: nothing is reset
	world.chats.write("sleep");
	await world.shows("Sleeps.");
	await idle(gateway);
	gateway.hall.settings.config.gateway.reset.minutes = 30;
	clock.move(HOUR);
	world.chats.write("three");
	await world.shows("Answer to three");
	expect(world.chats.texts().filter((text) => text.startsWith("A new conversation"))).toHaveLength(1);
	await idle(gateway);
	clock.move(25 * HOUR);
	world.chats.write("four");
	await world.shows("Answer to four");
	const second = world.chats.texts().filter((text) => text.startsWith("A new conversation"))[1];
	expect(second).toMatch(/One process goes on: proc_\w+ sleep 1000\.$/);
	expect(world.runtime.list({ task: "agent/tele/direct/c1", ended: false })).toHaveLength(1);

	await idle(gateway);
	gateway.hall.settings.config.gateway.reset.mode = "none";
	clock.move(1_000 * HOUR);
	world.chats.write("five");
	await world.shows("Answer to five");
	clock.move(-2_000 * HOUR);
	world.chats.write("six");
	await world.shows("Answer to six");
	expect(world.chats.texts().filter((text) => text.startsWith("A new conversation"))).toHaveLength(2);
});

test("a turn under way, a question that is open and something undelivered hold the conversation, however long it was quiet", async () => {
	const clock = movedClock();
	const hold: { open?: () => void } = {};
	const held = new Promise<void>((resolve) => (hold.open = resolve));
	const world = await gateWorld({
		clock,
		gateway: { reset: { minutes: 30 } },
		script: async (request) => {
			if (request.n === 1) await held;
			return `Answer to ${/\w+$/.exec(request.said)?.[0]}`;
		},
	});
	const gateway = await world.start();
	world.chats.write("one");
	await world.model.arrived(1);
	clock.move(HOUR);
	world.chats.write("two"); // it is heard in the turn that is under way
	await until("it is taken", () => world.chats.acknowledged === 2);
	hold.open?.();
	await world.shows("Answer to two");
	await idle(gateway);

	const asked = world.runtime.task("agent/tele/direct/c1").terminal({ command: "git push --force origin main" });
	await until("it is asked", () => world.chats.in().some(({ text }) => text.includes("git push --force")));
	await idle(gateway);
	clock.move(HOUR);
	world.chats.write("three");
	await world.shows("Answer to three");
	const [{ id = "" } = {}] = world.runtime.approvals.list({ task: "agent/tele/direct/c1" });
	await world.runtime.approvals.answer(id, { answer: "no", by: "the test" });
	expect((await asked).status).toBe("blocked");
	await idle(gateway);

	world.chats.faults.push({ kind: "later", ms: 100 * HOUR });
	world.chats.write("four");
	const { outbox } = gateway.chats.get("agent/tele/direct/c1")?.link ?? {};
	await until("its answer waits", () => outbox?.store.isPaused("c1") === true);
	clock.move(HOUR);
	world.chats.write("five");
	await world.model.arrived(5);
	expect(JSON.stringify(world.model.requests[4]?.body.messages)).toContain("Answer to three");
	clock.move(-200 * HOUR); // the pause was noted later than now: it does not count
	outbox?.connection(true);
	await world.shows("Answer to five");
	expect(world.chats.texts().filter((text) => text.startsWith("A new conversation"))).toEqual([]);
	expect(listSessions(world.home)).toHaveLength(1);
});

test("/new, /resume, /sessions, /status, /stop; a conversation of another chat needs the role admin; a second gateway goes on with the same", async () => {
	const world = await gateWorld({ script: (request) => `Answer to ${request.said}` });
	const first = await world.start();
	world.chats.write("one");
	await world.shows("Answer to one");
	world.chats.write("/new");
	await world.shows(/^A new conversation\. \/resume \S+ goes back\.$/);
	const id = /resume (\S+)/.exec(world.chats.texts().find((text) => text.startsWith("A new")) ?? "")?.[1] ?? "";
	world.chats.write("two");
	await world.shows("Answer to two");
	expect(JSON.stringify(world.model.requests[1]?.body.messages)).not.toContain("Answer to one");
	await first.stop();
	await world.start();
	world.chats.write("three");
	await world.shows("Answer to three");
	expect(JSON.stringify(world.model.requests[2]?.body.messages)).toContain("Answer to two");
	world.chats.write(`/resume ${id}`);
	await world.shows(`Goes on with ${id}.`);
	world.chats.write("four");
	await world.shows("Answer to four");
	expect(JSON.stringify(world.model.requests[3]?.body.messages)).toContain("Answer to one");
	expect(world.chats.texts().filter((text) => text === "Answer to one")).toHaveLength(1);
	world.chats.write(`/resume ${id}`, { chat: "c2", person: "tim" });
	await world.shows(/needs the role admin/, "c2");
	world.chats.write("/sessions", { chat: "c2", person: "tim" });
	await until("only his own are listed", () => world.chats.in("c2").length === 2, 30_000);
	expect(world.chats.texts("c2")[1]).not.toContain(id);
	world.chats.write("/stop");
	await world.shows("Nothing is under way.");
	world.chats.write("/status@tele_bot");
	await world.shows(/^holdfast-agent \S+ · scripted at 127\.0\.0\.1/);
	world.chats.write("/nwe");
	await world.shows(/there is no command \/nwe; did you mean \/new/);
	world.chats.write("//new");
	await world.shows("Answer to /new");
});

test("/new names what runs, with a button that ends that and nothing younger", async () => {
	const world = await gateWorld({
		script: (request) => (request.results.length > 0 ? "It sleeps." : calls(["terminal", { command: "sleep 1000", background: true }])),
	});
	await world.start();
	world.chats.write("sleep");
	await world.shows("It sleeps.");
	world.chats.write("/new");
	await world.shows(/^A new conversation\.[\s\S]*One process goes on:\nproc_\w+ sleep 1000$/);
	const named = world.chats.in().at(-1) as ShownMessage;
	world.chats.write("sleep");
	await world.shows((texts) => texts.filter((text) => text === "It sleeps.").length === 2);
	const running = (): string[] => world.runtime.list({ task: "agent/tele/direct/c1", ended: false }).map(({ id }) => id);
	const [, young] = [...running()].sort((a, b) => Number(named.text.includes(b)) - Number(named.text.includes(a)));
	for (const said of ["One process was ended.", "None of them runs any more."]) {
		const tap = world.chats.tap(named, "End them");
		await until(said, () => world.chats.shown.some((one) => one.tap === tap && one.text === said), 30_000);
		expect(running()).toEqual([young]);
	}
});

test("a conversation of the terminal that is resumed in a chat and closed there tells its news in the chat", async () => {
	const world = await gateWorld({
		script: (request) => {
			if (/ended after/.test(request.said)) return "The build is over.";
			if (request.results.length > 0) return "Started.";
			return calls(["terminal", { command: "until [ -e go ]; do sleep 0.05; done", background: true, notify_on_complete: true }]);
		},
	});
	const settings = { home: world.home, flags: [], ...loadAgentConfig(world.home) };
	const agent = await openAgent({ settings, runtime: world.runtime, cwd: path.join(world.dir, "work"), door: { name: "chat", kind: "chat" } });
	const { id } = agent.conversation;
	await agent.conversation.send("build", { platform: "terminal", person: "jo" });
	await agent.conversation.idle();
	await agent.close();
	const gateway = await world.start();
	world.chats.write(`/resume ${id}`);
	await world.shows(`Goes on with ${id}.`);
	const chat = gateway.chats.get("agent/tele/direct/c1");
	await until("it is closed", () => {
		void chat?.leaveIdle(Number.POSITIVE_INFINITY);
		return chat?.conversation === undefined;
	});
	fs.writeFileSync(path.join(world.dir, "work", "go"), "");
	await world.shows("The build is over.");
	expect(world.chats.texts().filter((text) => /^▸ .*ended after/.test(text))).toHaveLength(1);
});

test("a conversation that is closed in the moment in which its turn ends: the answer is told all the same", async () => {
	const world = await gateWorld({ script: (request) => `Answer to ${request.said}` });
	const gateway = await world.start();
	for (let n = 0; n < 5; n++) {
		world.chats.write(`message ${n}`);
		await until("it is answered", () => {
			void gateway.chats.get("agent/tele/direct/c1")?.leaveIdle(Number.POSITIVE_INFINITY);
			return world.chats.texts().includes(`Answer to message ${n}`);
		});
	}
	expect(world.problems).toEqual([]);
});

test("ten messages while it works are heard in one turn, in order; in mode queue each is acknowledged", async () => {
	const hold: { open?: () => void } = {};
	const held = new Promise<void>((resolve) => (hold.open = resolve));
	let n = 0;
	const world = await gateWorld({
		script: async (request) => {
			if (++n === 1) await held;
			return `Heard ${[...JSON.stringify(request.body.messages).matchAll(/word(\d)/g)].map(([, digit]) => digit).join("")}`;
		},
		config: { busy: "queue" },
	});
	await world.start();
	world.chats.write("begin");
	await world.model.arrived(1);
	for (let word = 0; word < 10; word++) world.chats.write(`word${word}`);
	await until("all are acknowledged", () => world.chats.in().filter(({ text }) => text.startsWith("Queued")).length === 10, 30_000);
	hold.open?.();
	await world.shows("Heard 0123456789");
	expect(world.model.requests).toHaveLength(2);
});
