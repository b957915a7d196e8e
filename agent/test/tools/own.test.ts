/** The tools of our own: a list of steps, questions, reading back. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { askUserTool, describeTodo, readTodo, recallCall, recallTool, registryOf, type ToolCallContext, todoTool } from "../../src/tools/index.js";
import { tempDir } from "../support/dirs.js";

const context = (id = "c1", more: Partial<ToolCallContext> = {}): ToolCallContext => ({
	id,
	signal: new AbortController().signal,
	yield: new AbortController().signal,
	...more,
});

describe("todo", () => {
	it("replaces the list, shows it, and keeps it in a file", async () => {
		const file = path.join(tempDir(), "todo.json");
		const todo = todoTool(() => file);
		expect(await todo.run({}, context())).toEqual({ text: "The list is empty.", failed: false });
		const items = [{ text: "run the tests", state: "done" }, { text: "fix one", state: "doing" }, { text: "  release " }];
		const shown = "1. [x] run the tests\n2. [>] fix one\n3. [ ] release";
		expect(await todo.run({ items }, context())).toEqual({ text: shown, failed: false });
		expect(describeTodo(readTodo(file))).toBe(shown);
		expect(fs.statSync(file).mode & 0o777).toBe(0o600);
		expect(await todo.became?.({ items }, context())).toEqual({ state: "never" });
	});

	it("refuses what is no list, and leaves the one before", async () => {
		const file = path.join(tempDir(), "todo.json");
		const todo = todoTool(() => file);
		await todo.run({ items: [{ text: "one" }] }, context());
		const wrong = [
			{ items: "one" },
			{ items: [{}] },
			{ items: [{ text: "" }] },
			{ items: [{ text: "x", state: "later" }] },
			{ items: [{ text: "x", status: "done" }] },
			{ list: [{ text: "x" }] },
			{ items: Array(101).fill({ text: "x" }) },
			null,
			7,
			{
				items: [
					{ text: "a", state: "doing" },
					{ text: "b", state: "doing" },
				],
			},
		];
		for (const args of wrong)
			expect(await todo.run(args, context())).toMatchObject({ failed: true, text: expect.stringMatching(/^Error: .*nothing was (done|changed)/) });
		expect(readTodo(file)).toEqual([{ text: "one", state: "pending" }]);
	});

	it("begins anew where the file is broken, and says so where it cannot be written", async () => {
		const dir = tempDir();
		fs.writeFileSync(path.join(dir, "todo.json"), '[{"text":');
		expect(readTodo(path.join(dir, "todo.json"))).toEqual([]);
		expect(await todoTool(() => path.join(dir, "nowhere", "todo.json")).run({ items: [{ text: "x" }] }, context())).toMatchObject({
			failed: true,
			text: expect.stringContaining("could not be saved"),
		});
	});
});

describe("ask_user", () => {
	const door = (answer: (signal: AbortSignal) => Promise<string>) => ({ nobody: () => undefined, ask: (_: unknown, signal: AbortSignal) => answer(signal) });
	const aborted = (signal: AbortSignal) => new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

	it("has the answer on the disk before it goes on, so that it is found after a crash, and forgets it when it is settled", async () => {
		const dir = path.join(tempDir(), "answers");
		const ask = askUserTool(
			() => dir,
			door(async () => "blue"),
		);
		expect(await ask.became?.({}, context())).toEqual({ state: "never" });
		expect(await ask.run({ question: "Which colour?" }, context())).toEqual({ text: "The user answers: blue", failed: false });
		const again = askUserTool(
			() => dir,
			door(async () => "asked again"),
		);
		expect(await again.became?.({}, context())).toEqual({ state: "ended", outcome: { text: "The user answers: blue", failed: false } });
		await again.settle?.("c1");
		expect(fs.readdirSync(dir)).toEqual([]);
	});

	it("ends with Esc, is void when the person writes something else, and stays open when the program is left", async () => {
		const ask = askUserTool(() => tempDir(), door(aborted));
		const run = (more: Partial<ToolCallContext>) => ask.run({ question: "Which?" }, context("c", more));
		const [stop, steer, leave] = [new AbortController(), new AbortController(), new AbortController()];
		const running = [run({ signal: stop.signal }), run({ yield: steer.signal }), run({ yield: leave.signal })];
		stop.abort("stop");
		steer.abort("steer");
		leave.abort("leave");
		expect(await Promise.all(running)).toEqual([
			{ text: "[interrupted] The user did not answer.", failed: false },
			{ text: expect.stringContaining("they wrote something else"), failed: false },
			{ text: "", failed: false, pending: "c" },
		]);
	});

	it("refuses what is no question, and says so when nobody is there", async () => {
		const ask = askUserTool(
			() => tempDir(),
			door(async () => "x"),
		);
		for (const args of [{}, { question: "" }, { question: 7 }, null, { question: "x", choices: "a" }])
			expect(await ask.run(args, context())).toMatchObject({ failed: true });
		const alone = askUserTool(() => tempDir(), { nobody: () => "this is a script", ask: async () => "x" });
		expect(await alone.run({ question: "Which?" }, context())).toMatchObject({
			failed: true,
			text: expect.stringContaining("nobody can answer now: this is a script"),
		});
	});
});

describe("recall", () => {
	const text = Array.from({ length: 1_000 }, (_, n) => `line ${n} 😀`).join("\n");
	const recall = recallTool((call) => (call === "c9" ? text : undefined));
	const read = async (args: Record<string, unknown>): Promise<string> => (await recall.run({ call: "c9", ...args }, context())).text;

	it("shows lines exactly, and where to read on", async () => {
		expect(recallCall("c9", { offset: 3, limit: 2 })).toBe('recall(call="c9", offset=3, limit=2)');
		expect(await read({ offset: 3, limit: 2 })).toMatch(/^line 3 😀\nline 4 😀\n\n\[\d+ more characters: recall\(call="c9", char=\d+\)\]$/);
		expect(await read({ offset: 999 })).toBe("line 999 😀");
		let all = "";
		for (let from: number | undefined = 0; from !== undefined; ) {
			const answer: string = await read({ char: from });
			const more = /\n\[\d+ more characters: recall\(call="c9", char=(\d+)\)\]$/.exec(answer);
			all += more ? answer.slice(0, more.index) : answer;
			from = more ? Number(more[1]) : undefined;
		}
		expect(all).toBe(text);
	});

	it("says what is wrong with a call or a place that there is not", async () => {
		expect(await recall.run({ call: "nope" }, context())).toMatchObject({ failed: true, text: expect.stringContaining('no result of a call "nope"') });
		expect(await recall.run({ call: "c9", offset: 5_000 }, context())).toMatchObject({ failed: true, text: expect.stringContaining("has 1000 lines") });
		for (const args of [{}, { call: 7 }, { call: "c9", offset: -1 }, null]) expect(await recall.run(args, context())).toMatchObject({ failed: true });
	});
});

it("shows tools in the order that was chosen, and only those", () => {
	const tools = [recallTool(() => ""), todoTool(() => "")];
	const registry = registryOf(tools, ["todo", "unknown", "recall", "todo"]);
	expect(registry.names).toEqual(["todo", "recall"]);
	expect(registry.shown.map(({ name }) => name)).toEqual(["todo", "recall"]);
	expect(registryOf(tools, ["todo"]).get("recall")).toBeUndefined();
});
