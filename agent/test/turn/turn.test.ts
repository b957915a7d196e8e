import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { calls, empty, fails, say } from "../model-server/index.js";
import { bench, ME } from "./support.js";

describe.each(["chat", "responses", "anthropic"] as const)("over %s", (format) => {
	it("answers, runs calls, and stores each line before the next step", async () => {
		await using on = await bench([calls(["terminal", { command: "echo hello" }]), say("It says hello.")]);
		const talk = await on.open({ format });
		expect(await talk.say("what does echo say?")).toMatchObject({ why: "answered", text: "It says hello." });
		expect(talk.it.task.name).toBe(`agent/${talk.it.id}`);
		expect(talk.lines()).toEqual([
			{ t: "begun" },
			{ t: "user", text: "what does echo say?" },
			{ t: "assistant", text: "", calls: [expect.objectContaining({ name: "terminal" })], stop: "calls" },
			{ t: "result", call: expect.any(String), text: "[exited, exit code 0]\nhello", failed: false, how: "ran" },
			{ t: "assistant", text: "It says hello.", calls: [], stop: "done" },
		]);
		const { type, why, text } = talk.events.at(-1) as { type: string; why: string; text: string };
		expect({ type, why, text }).toEqual({ type: "end", why: "answered", text: "It says hello." });
		expect(JSON.parse(fs.readFileSync(`${on.home.logs}/session_${talk.it.id}.json`, "utf8"))).toMatchObject({
			message_count: 4,
			toolsets: expect.arrayContaining(["terminal"]),
		});
	});

	it("goes on with a valid request after bad arguments, an unknown tool and hostile names", async () => {
		await using on = await bench([
			calls(["terminal", '{"command":"rm -rf build'], ["no_such_tool", {}], ["bad name\u0007 ünï", {}], ["terminal", { command: "echo still here" }]),
			say("Done."),
		]);
		const talk = await on.open({ format });
		expect(await talk.say("try")).toMatchObject({ why: "answered" });
		const texts = talk.it.log.entries.flatMap((entry) => (entry.t === "result" ? [entry.text] : []));
		expect(texts).toEqual([
			expect.stringContaining("at character 24 of 24"),
			expect.stringMatching(/there is no tool "no_such_tool".* There are terminal, process, read_file/),
			expect.stringContaining("there is no tool"),
			"[exited, exit code 0]\nstill here",
		]);
		expect(talk.it.statistics.get("terminal")).toEqual({ calls: 2, failed: 1, skipped: 0, recovered: 0 });
		expect(on.server.requests).toHaveLength(2);
	});
});

it("has the results of many files that are read at once in the order of the calls", async () => {
	await using on = await bench([calls(...[1, 2, 3, 4, 5, 6].map((n) => ["read_file", { path: `file-${n}` }] as const)), say("Read.")]);
	for (const n of [1, 2, 3, 4, 5]) fs.writeFileSync(`${on.dir}/file-${n}`, `content ${n}\n`);
	const talk = await on.open({ cwd: on.dir });
	await talk.say("read them");
	const texts = talk.it.log.entries.flatMap((entry) => (entry.t === "result" ? [entry.text.split("\t")[1] ?? entry.text] : []));
	expect(texts).toEqual(["content 1", "content 2", "content 3", "content 4", "content 5", expect.stringContaining("[not_found")]);
});

it("shows the text of an answer as it arrives", async () => {
	await using on = await bench([say("one two three four")]);
	const talk = await on.open();
	await talk.say("count");
	const pieces = talk.events.flatMap((event) => (event.type === "text" ? [event.text] : []));
	expect(pieces.length).toBeGreaterThan(1);
	expect(pieces.join("")).toBe("one two three four");
});

it("gives every listener all events, and ends them when the conversation is closed", async () => {
	await using on = await bench([say("hello")]);
	const talk = await on.open();
	const second: string[] = [];
	const listening = (async () => {
		for await (const event of talk.it.events) second.push(event.type);
	})();
	await talk.say("hi");
	await talk.close();
	await listening;
	expect(second).toEqual(talk.events.map(({ type }) => type));
});

it("asks again after an empty answer, then with a note, then ends the turn with words", async () => {
	await using on = await bench([empty, empty, empty, "Here I am."]);
	const talk = await on.open();
	expect(await talk.say("hello?")).toMatchObject({ why: "empty", text: expect.stringContaining("3 empty answers") });
	expect(talk.lines().slice(2)).toEqual([
		{ t: "note", text: expect.stringContaining("Your answer was empty") },
		{ t: "stopped", why: "empty", text: expect.any(String) },
	]);
	expect(await talk.say("again")).toMatchObject({ why: "answered", text: "Here I am." });
});

it("runs nothing of a call that the limit of length has cut, and says so to the model", async () => {
	await using on = await bench([
		{ ...calls(["write_file", `{"path":"/tmp/never","content":"${"x".repeat(200)}`]), finish: "length", text: "Writing. " },
		{ ...say("a long story that"), finish: "length" },
		say("All done."),
	]);
	const talk = await on.open();
	expect(await talk.say("write")).toMatchObject({ why: "answered", text: "All done." });
	expect(talk.lines().slice(2)).toEqual([
		{ t: "partial", text: "Writing. ", why: "length" },
		{ t: "note", text: expect.stringContaining("was not run") },
		{ t: "partial", text: "a long story that", why: "length" },
		{ t: "assistant", text: "All done.", calls: [], stop: "done" },
	]);
	expect(fs.existsSync("/tmp/never")).toBe(false);
});

it("stops a model that makes the same call over and over", async () => {
	await using on = await bench(() => calls(["todo", {}]));
	const talk = await on.open();
	expect(await talk.say("find it")).toMatchObject({ why: "loop" });
	expect(on.server.requests).toHaveLength(8);
	expect(talk.lines().filter(({ t }) => t === "note")).toEqual([{ t: "note", text: expect.stringContaining("5 times") }]);
});

it("waits for a silent process as often as the model likes; a poll that shows nothing new is counted", async () => {
	const id = (): string => /proc_[0-9a-f]{12}/.exec(JSON.stringify(on.server.requests.at(-1)?.body))?.[0] ?? "";
	const waits = () => calls(...Array.from({ length: 10 }, () => ["process", { action: "wait", session_id: id(), timeout: 1 }] as const));
	await using on = await bench(({ n }) => {
		if (n === 1) return calls(["terminal", { command: "exec sleep 600", background: true }]);
		return n === 2 ? waits() : calls(["process", { action: "poll", session_id: id() }]);
	});
	const talk = await on.open();
	expect(await talk.say("wait for it")).toMatchObject({ why: "loop", text: expect.stringContaining("process was made 8 times") });
	const results = talk.lines().flatMap(({ t, text }) => (t === "result" ? [String(text)] : []));
	expect(results.filter((text) => text.includes("timed out"))).toHaveLength(10);
	expect(results).toHaveLength(1 + 10 + 8);
	expect(talk.lines().filter(({ t }) => t === "note")).toEqual([{ t: "note", text: expect.stringContaining("5 times") }]);
});

it("stops after the steps that a turn may have, and goes on when the person says so", async () => {
	await using on = await bench(({ n }) => (n <= 4 ? calls(["todo", { items: [{ text: `step ${n}` }] }]) : say("ready")));
	const talk = await on.open({ config: { limits: { steps: 4 } } });
	expect(await talk.say("work")).toMatchObject({ why: "steps", text: expect.stringContaining("4 steps") });
	expect(talk.it.todo).toEqual([{ text: "step 4", state: "pending" }]);
	expect(await talk.say("go on")).toMatchObject({ why: "answered", text: "ready" });
});

it("ends the turn with the endpoint's words when it cannot answer, and keeps the message", async () => {
	await using on = await bench([fails(401, { message: "Incorrect API key provided" }), say("Now it works.")]);
	const talk = await on.open();
	expect(await talk.say("hi")).toMatchObject({ why: "model", text: expect.stringContaining("Incorrect API key provided") });
	expect(await talk.say("and now?")).toMatchObject({ why: "answered" });
	expect(talk.lines().map(({ t }) => t)).toEqual(["begun", "user", "stopped", "user", "assistant"]);
});

describe("a conversation", () => {
	it("takes the last turn back, and says the last message again", async () => {
		await using on = await bench([say("first"), say("second"), say("third")]);
		const talk = await on.open();
		await talk.say("one");
		expect(await talk.it.undo()).toBe("one");
		expect(await talk.it.undo()).toBeUndefined();
		await talk.say("two");
		expect(await talk.it.retry()).toBe(true);
		expect(await talk.it.idle()).toMatchObject({ text: "third" });
		expect(on.server.requests.at(-1)?.body.messages).toEqual([expect.objectContaining({ role: "system" }), { role: "user", content: "two" }]);
	});

	it("has a title, a place and a mode that are found again when it is opened", async () => {
		await using on = await bench([say("hello")]);
		const first = await on.open();
		await first.say("hi");
		await first.it.setTitle("greetings");
		await first.it.setMode("queue");
		await first.it.setPlace("local");
		await first.close();
		const again = await on.open({ id: first.it.id });
		expect({ title: again.it.title, place: again.it.place, busy: again.it.busy }).toEqual({ title: "greetings", place: "local", busy: false });
		expect(again.it.log.entries.filter(({ t }) => t === "user")).toHaveLength(1);
	});

	it("keeps the directory and the variables of its shell when it is closed and opened", async () => {
		await using on = await bench([
			calls(["terminal", { command: "cd /usr && export NAME=Jo" }]),
			say("ok"),
			calls(["terminal", { command: "pwd; echo $NAME" }]),
			say("ok"),
		]);
		const first = await on.open();
		await first.say("go");
		await first.close();
		const again = await on.open({ id: first.it.id });
		await again.say("where?");
		expect(again.lines().find((line) => line.t === "result" && String(line.text).includes("/usr"))).toMatchObject({
			text: expect.stringMatching(/^\[exited, exit code 0\]\n\/usr\nJo\nNote: the last shell of this task has ended/),
		});
	});

	it("refuses tools and a place that there are not, and leaves no conversation behind", async () => {
		await using on = await bench();
		await expect(on.open({ toolsets: ["termnal"] })).rejects.toThrow('there is no toolset "termnal". Perhaps you mean terminal');
		await expect(on.open({ toolsets: [], config: {}, door: { name: "run", kind: "run" } })).rejects.toThrow("no toolset is named");
		await expect(on.open({ config: { place: "nowhere" } })).rejects.toThrow('there is no place "nowhere"');
		expect(fs.readdirSync(on.home.conversations)).toEqual([]);
	});

	it("hears what was said to it, and nothing that was said to another of its task", async () => {
		let go = (): void => {};
		const gate = new Promise<void>((resolve) => {
			go = resolve;
		});
		await using on = await bench(({ said }) => ({ ...say(`heard ${said}`), pause: { at: "headers", until: gate } }));
		const first = await on.open({ begin: { task: "shared" } });
		const second = await on.open({ begin: { task: "shared" } });
		expect([first, second].map(({ it }) => it.task.name)).toEqual(["shared", "shared"]);
		await first.it.send("one", ME);
		await on.server.arrived(1);
		await second.it.send("two", ME, { mode: "queue" });
		expect(first.it.waiting()).toEqual([]);
		go();
		expect(await first.it.idle()).toMatchObject({ text: "heard one" });
		expect(await second.it.idle()).toMatchObject({ text: "heard two" });
		for (const [talk, text] of [
			[first, "one"],
			[second, "two"],
		] as const)
			expect(talk.it.log.entries.flatMap((entry) => (entry.t === "user" ? [entry.text] : []))).toEqual([text]);
	});

	it("that is used by two programs answers each message once", async () => {
		await using on = await bench(({ n }) => say(`answer ${n}`));
		const first = await on.open();
		const second = await on.open({ id: first.it.id });
		await Promise.all([first.it.send("one", ME, { mode: "queue" }), second.it.send("two", ME, { mode: "queue" })]);
		do {
			await first.it.idle();
			await second.it.idle();
		} while (first.it.waiting().length > 0);
		first.it.log.refresh();
		const users = first.it.log.entries.flatMap((entry) => (entry.t === "user" ? [entry.text] : []));
		expect(users.sort()).toEqual(["one", "two"]);
		expect(first.it.log.entries.at(-1)).toMatchObject({ t: "assistant" });
	});
});
