import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentHome } from "../../src/base/index.js";
import { stateDir } from "../../src/turn/index.js";
import { calls, say } from "../model-server/index.js";
import { bench, ME, type Talk } from "./support.js";

const SLEEP = ["terminal", { command: "sh -c 'echo $$; exec sleep 600'" }] as const;
const results = (talk: Talk) => talk.it.log.entries.flatMap((entry) => (entry.t === "result" ? [entry] : []));
const never = new Promise<never>(() => {});

/** Until the command of a call has printed its pid. */
async function untilPrinted(on: { readonly runtime: import("holdfast").Runtime }, talk: Talk): Promise<number> {
	for (;;) {
		for (const process of on.runtime.list({ task: talk.it.task.name })) {
			const text = process.spec.call === undefined ? "" : process.read(0, 100).bytes.toString();
			if (/^\d+\n/.test(text)) return Number(text);
		}
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

const isGone = (pid: number): boolean => {
	try {
		process.kill(pid, 0);
		return false;
	} catch {
		return true;
	}
};

describe("Esc", () => {
	it("while text streams ends the turn, keeps the text, and the next request is valid", async () => {
		await using on = await bench([{ ...say("The answer begins here and never ends"), pause: { at: "text", until: never } }, say("Yes?")]);
		const talk = await on.open();
		await talk.it.send("tell me", ME);
		await talk.until("text");
		expect(await talk.it.interrupt()).toBe(true);
		expect(talk.it.busy).toBe(false);
		expect(talk.lines().slice(2)).toEqual([
			{ t: "partial", text: expect.stringMatching(/^The a/), why: "interrupted" },
			{ t: "stopped", why: "interrupted", text: "Stopped." },
		]);
		expect(await talk.say("hello")).toMatchObject({ why: "answered", text: "Yes?" });
	});

	it("before the first word ends the turn, and it does not begin again when the conversation is opened", async () => {
		await using on = await bench([{ ...say("never"), pause: { at: "headers", until: never } }]);
		const talk = await on.open();
		await talk.it.send("tell me", ME);
		await on.server.arrived(1);
		await talk.it.interrupt();
		await talk.close();
		const again = await on.open({ id: talk.it.id });
		expect(await again.it.idle()).toBeUndefined();
		expect(on.server.requests).toHaveLength(1);
	});

	it("while sleep 600 runs kills its tree with 130, skips later calls, and leaves the shell alive", async () => {
		await using on = await bench([
			calls(["terminal", { command: "cd /usr && NAME=Jo" }], SLEEP, ["terminal", { command: "touch /tmp/never-made" }]),
			calls(["terminal", { command: "pwd; echo $NAME" }]),
			say("In /usr, Jo."),
		]);
		const talk = await on.open();
		await talk.it.send("wait", ME);
		const pid = await untilPrinted(on, talk);
		await talk.it.interrupt();
		expect(isGone(pid)).toBe(true);
		expect(results(talk).map(({ how, text }) => `${how}: ${text}`)).toEqual([
			"ran: [exited, exit code 0]",
			`ran: [interrupted, exit code 130]\n${pid}`,
			"skipped: Not run: the user stopped the turn.",
		]);
		expect(await talk.say("where are you?")).toMatchObject({ why: "answered" });
		expect(results(talk).at(-1)?.text).toBe("[exited, exit code 0]\n/usr\nJo");
	});

	it("when nothing is under way does nothing", async () => {
		await using on = await bench();
		const talk = await on.open();
		expect(await talk.it.interrupt()).toBe(false);
	});
});

describe("a message to a busy conversation", () => {
	it("steers: the answer so far is kept, and the next one has heard it", async () => {
		await using on = await bench([{ ...say("Blue is a very good choice because"), pause: { at: "text", until: never } }, say("Then red.")]);
		const talk = await on.open();
		await talk.it.send("which colour?", ME);
		await talk.until("text");
		expect(await talk.it.send("no blue please", ME, { mode: "steer" })).toMatchObject({ did: "steered" });
		expect(await talk.it.idle()).toMatchObject({ why: "answered", text: "Then red." });
		expect(talk.lines().slice(2)).toEqual([
			{ t: "partial", text: expect.any(String), why: "interrupted" },
			{ t: "user", text: "no blue please" },
			{ t: "assistant", text: "Then red.", calls: [], stop: "done" },
		]);
	});

	it("steers while sleep 600 runs: it goes on as a process, later calls are skipped, and the message is heard", async () => {
		await using on = await bench([calls(SLEEP, ["terminal", { command: "touch /tmp/never-made" }]), say("It sleeps on.")]);
		const talk = await on.open();
		await talk.it.send("sleep", ME);
		const pid = await untilPrinted(on, talk);
		expect(await talk.it.send("what are you doing?", ME, { mode: "steer" })).toMatchObject({ did: "steered" });
		expect(await talk.it.idle()).toMatchObject({ why: "answered", text: "It sleeps on." });
		expect(isGone(pid)).toBe(false);
		expect(results(talk)).toEqual([
			expect.objectContaining({ how: "ran", process: expect.stringMatching(/^proc_/), text: expect.stringContaining("[running, proc_") }),
			expect.objectContaining({ how: "skipped", text: expect.stringContaining("the user wrote again") }),
		]);
		expect(talk.it.underWay.processes).toEqual([expect.stringContaining("sleep 600")]);
	});

	it("waits in the queue until the turn is over, is shown as waiting, and can be taken back", async () => {
		let go = (): void => {};
		const gate = new Promise<void>((resolve) => {
			go = resolve;
		});
		await using on = await bench([{ ...say("first answer"), pause: { at: "text", until: gate } }, say("second answer")]);
		const talk = await on.open();
		await talk.it.send("one", ME);
		await on.server.arrived(1);
		expect(await talk.it.send("two", ME, { mode: "queue" })).toMatchObject({ did: "queued" });
		await talk.it.send("three", ME, { mode: "queue" });
		expect(await talk.it.takeBack()).toBe("three");
		await talk.until("waiting", ({ texts }) => texts.join() === "two");
		go();
		expect(await talk.it.idle()).toMatchObject({ text: "second answer" });
		expect(talk.lines().map(({ t, text }) => `${t} ${text ?? ""}`)).toEqual([
			"begun ",
			"user one",
			"assistant first answer",
			"user two",
			"assistant second answer",
		]);
	});

	it("interrupts: the command is killed, the turn is over, and the message begins the next", async () => {
		await using on = await bench([calls(SLEEP), say("Stopped, as you wished.")]);
		const talk = await on.open();
		await talk.it.send("sleep", ME);
		const pid = await untilPrinted(on, talk);
		expect(await talk.it.send("stop that", ME, { mode: "interrupt" })).toMatchObject({ did: "interrupted" });
		expect(await talk.it.idle()).toMatchObject({ text: "Stopped, as you wished." });
		expect(isGone(pid)).toBe(true);
		expect(talk.lines().map(({ t }) => t)).toEqual(["begun", "user", "assistant", "result", "stopped", "user", "assistant"]);
	});

	it("ten times is one turn with all ten, in order", async () => {
		let go = (): void => {};
		const gate = new Promise<void>((resolve) => {
			go = resolve;
		});
		await using on = await bench([{ ...say("first"), pause: { at: "headers", until: gate } }, say("to all ten")]);
		const talk = await on.open();
		await talk.it.send("start", ME);
		await on.server.arrived(1);
		for (let n = 1; n <= 10; n++) await talk.it.send(`message ${n}`, ME, { mode: "queue" });
		go();
		await talk.it.idle();
		expect(on.server.requests).toHaveLength(2);
		const users = talk.it.log.entries.flatMap((entry) => (entry.t === "user" ? [entry.text] : []));
		expect(users).toEqual(["start", ...Array.from({ length: 10 }, (_, n) => `message ${n + 1}`)]);
	});

	it("that comes twice with one id is taken once", async () => {
		await using on = await bench([say("one")]);
		const talk = await on.open();
		await talk.it.send("hi", ME, { id: "m1" });
		expect(await talk.it.send("hi", ME, { id: "m1" })).toMatchObject({ did: "known" });
		await talk.it.idle();
		expect(on.server.requests).toHaveLength(1);
	});
});

describe("leaving in the middle", () => {
	it("of an answer asks for it again when the conversation is opened", async () => {
		await using on = await bench([{ ...say("half of it"), pause: { at: "text", until: never } }, say("all of it")]);
		const talk = await on.open();
		await talk.it.send("tell me", ME);
		await talk.until("text");
		await talk.close();
		expect(talk.lines().map(({ t }) => t)).toEqual(["begun", "user"]);
		const again = await on.open({ id: talk.it.id });
		expect(await again.it.idle()).toMatchObject({ why: "answered", text: "all of it" });
	});

	it("of a command lets it go on, makes later calls when the turn goes on, and each once", async () => {
		await using on = await bench([calls(SLEEP, ["terminal", { command: "echo later" }]), say("done")]);
		const talk = await on.open();
		await talk.it.send("go", ME);
		const pid = await untilPrinted(on, talk);
		await talk.close();
		expect(isGone(pid)).toBe(false);
		const again = await on.open({ id: talk.it.id });
		expect(await again.it.idle()).toMatchObject({ why: "answered" });
		expect(results(again).map(({ how }) => how)).toEqual(["ran", "ran"]);
		expect(results(again)[1]?.text).toContain("later");
	});
});

describe("a request that was cut short as often as it may be", () => {
	/** As if the program had been killed: nothing says that it was left in good order. */
	const killed = (on: { readonly home: AgentHome }, talk: Talk): void => fs.rmSync(path.join(stateDir(on.home, talk.it.id), "cut.json"));

	it("is not made again by itself; the person is asked, and goes on by writing", async () => {
		await using on = await bench([{ ...say("never"), pause: { at: "headers", until: never } }, say("Here I am.")]);
		const talk = await on.open();
		await talk.it.send("tell me", ME);
		await on.server.arrived(1);
		await talk.close();
		killed(on, talk);
		const again = await on.open({ id: talk.it.id, crashes: 1 });
		expect(await again.it.idle()).toMatchObject({ why: "crashes", text: expect.stringContaining("cut short twice") });
		expect(on.server.requests).toHaveLength(1);
		expect(await again.say("go on")).toMatchObject({ why: "answered", text: "Here I am." });
	});

	it("is made with what the person has written meanwhile", async () => {
		await using on = await bench([{ ...say("never"), pause: { at: "headers", until: never } }, say("Here I am.")]);
		const talk = await on.open();
		await talk.it.send("tell me", ME);
		await on.server.arrived(1);
		await talk.close();
		killed(on, talk);
		const again = await on.open({ id: talk.it.id, crashes: 1, resume: false });
		expect(await again.say("are you there?")).toMatchObject({ why: "answered", text: "Here I am." });
	});
});
