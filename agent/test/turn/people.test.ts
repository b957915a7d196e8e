/** What waits for a person: approvals, questions of the model; and news of processes. */
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { calls, say } from "../model-server/index.js";
import { bench, ME, type Talk } from "./support.js";

const results = (talk: Talk) => talk.it.log.entries.flatMap((entry) => (entry.t === "result" ? [entry] : []));

describe("a call that a person must allow", () => {
	const PUSH = ["terminal", { command: "git push --force origin main" }] as const;

	it("ends the turn while nobody is there, and is made once when it was allowed", async () => {
		await using on = await bench([calls(PUSH, ["terminal", { command: "echo behind" }]), say("Pushed.")]);
		const talk = await on.open();
		const end = await talk.say("push");
		expect(end).toMatchObject({ why: "approval", text: expect.stringMatching(/appr_[0-9a-f]+/) });
		expect(results(talk)).toEqual([]);
		expect(talk.it.underWay.questions).toEqual([expect.stringContaining("git push --force origin main")]);
		await talk.close();
		const still = await on.open({ id: talk.it.id });
		expect(await still.it.idle()).toMatchObject({ why: "approval" });
		const [question] = on.runtime.approvals.list({ task: talk.it.task.name });
		await on.runtime.approvals.answer(question?.id as string, { answer: "once", by: "test" });
		still.it.resume();
		expect(await still.it.idle()).toMatchObject({ why: "answered", text: "Pushed." });
		expect(results(still).map(({ how, text }) => `${how} ${text.split("\n")[0]}`)).toEqual(["ran [exited, exit code 128]", "ran [exited, exit code 0]"]);
		expect(on.server.requests).toHaveLength(2);
	});

	it("is not waited for when the person writes something else, whether somebody answers questions or not", async () => {
		await using on = await bench([calls(PUSH), say("Then not."), calls(PUSH), say("As you like.")]);
		const talk = await on.open();
		expect(await talk.say("push")).toMatchObject({ why: "approval" });
		expect(await talk.say("no, leave it")).toMatchObject({ why: "answered", text: "Then not." });
		const leave = on.runtime.approvals.attend();
		await talk.it.send("push after all", ME);
		await talk.until("call", ({ id }) => id === "call_3_0");
		await talk.it.send("or rather not", ME, { mode: "steer" });
		expect(await talk.it.idle()).toMatchObject({ why: "answered", text: "As you like." });
		leave();
		expect(results(talk).map(({ how, text }) => `${how} ${text.split(",")[0]}`)).toEqual(["skipped [pending_approval", "skipped [pending_approval"]);
	});

	it("waits for the answer while somebody is there, and the model is told a no with its reason", async () => {
		await using on = await bench([calls(PUSH), say("I will not.")]);
		const talk = await on.open();
		const stop = new AbortController();
		const answering = (async () => {
			for await (const { id } of on.runtime.approvals.stream({ task: talk.it.task.name, signal: stop.signal })) {
				await on.runtime.approvals.answer(id, { answer: "no", message: "not on main", by: "test" });
				stop.abort();
			}
		})();
		expect(await talk.say("push")).toMatchObject({ why: "answered", text: "I will not." });
		await answering;
		expect(results(talk)).toEqual([expect.objectContaining({ how: "refused", failed: true, text: expect.stringContaining("not on main") })]);
	});
});

describe("a question of the model", () => {
	const ASK = ["ask_user", { question: "Which database?", choices: ["db1", "db2"] }] as const;

	it("is shown, and its answer is the result", async () => {
		await using on = await bench([calls(ASK), say("db2 it is.")]);
		const talk = await on.open();
		await talk.it.send("migrate", ME);
		const question = await talk.until("question");
		expect(question).toEqual({ type: "question", id: expect.any(String), text: "Which database?", choices: ["db1", "db2"] });
		talk.it.answer(question.id, "db2");
		expect(() => talk.it.answer(question.id, "db1")).toThrow("does not wait for an answer any more");
		expect(await talk.it.idle()).toMatchObject({ text: "db2 it is." });
		expect(results(talk)).toEqual([expect.objectContaining({ text: "The user answers: db2", how: "ran" })]);
	});

	it("is answered with words where nobody can answer, and the tool is off", async () => {
		await using on = await bench([calls(ASK), say("I decided for db1.")]);
		const talk = await on.open({ door: { name: "run", kind: "run", nobody: () => "this is a run without a person" }, toolsets: ["ask", "terminal"] });
		expect(talk.it.toolsets.find(({ name }) => name === "ask")).toMatchObject({ availability: { ok: false, why: "this is a run without a person" } });
		expect(await talk.say("migrate")).toMatchObject({ why: "answered" });
		expect(results(talk)[0]).toMatchObject({ failed: true, text: expect.stringContaining("ask off: this is a run without a person") });
	});

	it("is void when the person writes something else instead", async () => {
		await using on = await bench([calls(ASK), say("As you say.")]);
		const talk = await on.open();
		await talk.it.send("migrate", ME);
		await talk.until("question");
		await talk.it.send("leave the databases alone", ME, { mode: "steer" });
		expect(await talk.it.idle()).toMatchObject({ text: "As you say." });
		expect(results(talk)[0]?.text).toContain("they wrote something else");
		expect(talk.it.questions).toEqual([]);
		await talk.until("answered");
	});

	it("that was open when the program was left is asked again, once", async () => {
		await using on = await bench([calls(ASK), say("db1 then.")]);
		const talk = await on.open();
		await talk.it.send("migrate", ME);
		await talk.until("question");
		await talk.close();
		const again = await on.open({ id: talk.it.id });
		const question = await again.until("question");
		again.it.answer(question.id, "db1");
		expect(await again.it.idle()).toMatchObject({ text: "db1 then." });
		expect(again.events.filter(({ type }) => type === "question")).toHaveLength(1);
	});
});

describe("news of a background process", () => {
	it("comes into the conversation once, and the model answers to it", async () => {
		await using on = await bench([
			calls(["terminal", { command: "while [ ! -e go ]; do sleep 0.05; done; echo built; exit 4", background: true, notify_on_complete: true }]),
			say("It builds."),
			say("The build failed with 4."),
		]);
		const talk = await on.open({ cwd: on.dir });
		expect(await talk.say("build")).toMatchObject({ text: "It builds." });
		fs.writeFileSync(`${on.dir}/go`, "");
		await talk.until("end", ({ text }) => text === "The build failed with 4.");
		const notices = talk.it.log.entries.filter(({ t }) => t === "notice");
		expect(notices).toEqual([expect.objectContaining({ text: expect.stringContaining("built") })]);
	});

	it("that came while no program was there is told once, when the conversation is opened", async () => {
		await using on = await bench([
			calls(["terminal", { command: "while [ ! -e go ]; do sleep 0.05; done; echo built", background: true, notify_on_complete: true }]),
			say("It builds."),
			say("It is built."),
		]);
		const talk = await on.open({ cwd: on.dir });
		await talk.say("build");
		await talk.close();
		fs.writeFileSync(`${on.dir}/go`, "");
		while (on.runtime.list({ task: talk.it.task.name, ended: false }).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
		const again = await on.open({ id: talk.it.id });
		await again.until("end");
		expect(await again.it.idle()).toMatchObject({ text: "It is built." });
		await again.close();
		const third = await on.open({ id: talk.it.id });
		expect(await third.it.idle()).toBeUndefined();
		expect(third.it.log.entries.filter(({ t }) => t === "notice")).toHaveLength(1);
	});
});
