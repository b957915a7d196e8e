import { describe, expect, it } from "vitest";
import { agentConfigSchema } from "../../src/base/index.js";
import type { EntryBody } from "../../src/talk/index.js";
import { type AgentTool, registryOf, type ToolCallContext, type ToolOutcome } from "../../src/tools/index.js";
import { CallRunner } from "../../src/turn/calls.js";
import type { TurnEvent } from "../../src/turn/events.js";
import { Guard } from "../../src/turn/guard.js";
import { recover } from "../../src/turn/recover.js";
import { Steering } from "../../src/turn/steer.js";

const call = (id: string, name: string, args: unknown = {}) => ({ id, name, args: typeof args === "string" ? args : JSON.stringify(args) });

function tool(
	name: string,
	run: (args: Record<string, unknown>, context: ToolCallContext) => Promise<ToolOutcome> | ToolOutcome,
	more: Partial<AgentTool> = {},
): AgentTool {
	return { name, description: name, schema: {}, changes: false, run: async (args, context) => run(args as Record<string, unknown>, context), ...more };
}

function runner(tools: readonly AgentTool[], options: { readonly resultChars?: number; readonly badCalls?: number; readonly spoken?: boolean } = {}) {
	const lines: EntryBody[] = [];
	const events: TurnEvent[] = [];
	const whole = new Map<string, string>();
	const steering = new Steering();
	const { limits } = agentConfigSchema.parse({});
	const names = tools.map(({ name }) => name);
	const runs = new CallRunner({
		tools: registryOf(tools, names),
		steering,
		guard: new Guard({ ...limits, ...(options.badCalls === undefined ? {} : { badCalls: options.badCalls }) }),
		parallel: limits.parallel,
		resultChars: options.resultChars ?? limits.resultChars,
		turn: 1,
		append: async (body) => {
			lines.push(body);
			return { ...body, n: lines.length, at: "" };
		},
		emit: (event) => events.push(event),
		keep: (id, text) => whole.set(id, text),
		news: async () => {},
		redact: (text) => text.replaceAll("the-key", "…[redacted]"),
		spoken: () => options.spoken ?? false,
	});
	const results = () => lines.flatMap((line) => (line.t === "result" ? [`${line.call} ${line.how}: ${line.text}`] : []));
	return { runs, lines, events, whole, steering, results };
}

describe("calls that only read", () => {
	it("run at most four at once, and their results are stored in the order of the calls", async () => {
		let [now, most] = [0, 0];
		const gates = new Map<string, () => void>();
		const slow = tool("slow", async ({ n }) => {
			most = Math.max(most, ++now);
			await new Promise<void>((resolve) => gates.set(String(n), resolve));
			now--;
			return { text: `result ${n}`, failed: false };
		});
		const { runs, results } = runner([slow]);
		const running = runs.run(Array.from({ length: 7 }, (_, n) => call(`c${n}`, "slow", { n })));
		for (const n of [3, 2, 4, 1, 0, 6, 5]) {
			while (!gates.has(String(n))) await new Promise((resolve) => setImmediate(resolve));
			gates.get(String(n))?.();
		}
		await running;
		expect(most).toBe(4);
		expect(results()).toEqual(Array.from({ length: 7 }, (_, n) => `c${n} ran: result ${n}`));
	});

	it("run one after another as soon as one of them changes something", async () => {
		const order: string[] = [];
		const one = (name: string, changes: boolean) =>
			tool(
				name,
				async () => {
					order.push(`${name} begins`);
					await new Promise((resolve) => setImmediate(resolve));
					order.push(`${name} ends`);
					return { text: name, failed: false };
				},
				{ changes },
			);
		const { runs } = runner([one("read", false), one("write", true)]);
		await runs.run([call("a", "read"), call("b", "write"), call("c", "read")]);
		expect(order).toEqual(["read begins", "read ends", "write begins", "write ends", "read begins", "read ends"]);
	});
});

it("names the position in arguments that are no JSON, runs nothing of them, and stops after three in a row", async () => {
	const { runs, results, lines } = runner([tool("t", () => ({ text: "ran", failed: false }))]);
	const bad = ['{"command":"rm -rf build', '{"a":1,}', "{'a':1}", "[1", "nul"];
	const { stop } = await runs.run(bad.map((args, n) => call(`c${n}`, "t", args)));
	expect(results().slice(0, 3)).toEqual([
		expect.stringMatching(/^c0 ran: Error: the arguments are no JSON: .* at character 24 of 24, at the end, behind ".*rm -rf build"\. Nothing was done/),
		expect.stringMatching(/^c1 ran: Error: .* at character 7 of 8, before "}", behind "{\\"a\\":1,"/),
		expect.stringMatching(/^c2 ran: Error: .* at character 1 of 7, before "'a':1}"/),
	]);
	expect(results().slice(3)).toEqual(["c3 skipped: Not run: the turn was stopped.", "c4 skipped: Not run: the turn was stopped."]);
	expect(stop).toMatchObject({ why: "model", text: expect.stringContaining("3 calls in a row") });
	expect(lines.filter(({ t }) => t === "failure")).toHaveLength(3);
});

it("counts arguments that are no JSON anew after some that are", async () => {
	const { runs } = runner([tool("t", () => ({ text: "ran", failed: false }))]);
	const { stop } = await runs.run(["{", "{", "{}", "{", "{", ""].map((args, n) => call(`c${n}`, "t", args)));
	expect(stop).toBeUndefined();
});

it("lists the tools there are when one is called that there is not, whatever its name is", async () => {
	const { runs, results } = runner([tool("terminal", () => ({ text: "", failed: false })), tool("todo", () => ({ text: "", failed: false }))]);
	const names = ["termnal", "\u001b[2J../../etc", "x".repeat(5_000), "__proto__", "constructor"];
	await runs.run(names.map((name, n) => call(`c${n}`, name)));
	expect(results()[0]).toBe('c0 ran: Error: there is no tool "termnal", nothing was done. Perhaps you mean terminal. There are terminal, todo.');
	for (const text of results()) {
		expect(text).toContain("There are terminal, todo.");
		expect(text.length).toBeLessThan(300);
		expect(text).not.toContain("\u001b");
	}
});

it("makes a result of what a tool throws", async () => {
	const { runs, results, lines } = runner([
		tool("bomb", () => {
			throw new Error("boom");
		}),
	]);
	await runs.run([call("a", "bomb", { long: "x".repeat(500) })]);
	expect(results()).toEqual(["a ran: Error: the tool bomb failed: boom. Look before you repeat it."]);
	expect(lines.at(-1)).toEqual({
		t: "failure",
		turn: 1,
		tool: "bomb",
		args: JSON.stringify({ long: "x".repeat(500) }).slice(0, 200),
		error: "Error: the tool bomb failed: boom. Look before you repeat it.",
	});
});

it("masks keys in results, and cuts what is longer than may be sent, with the call that shows the rest", async () => {
	const text = Array.from({ length: 900 }, (_, n) => `line ${n} of the-key ${"abc".repeat(n % 5)}`).join("\n");
	const { runs, lines, whole } = runner([tool("big", () => ({ text, failed: false }))], { resultChars: 3_000 });
	await runs.run([call("a", "big")]);
	const [line] = lines;
	expect(JSON.stringify(lines)).not.toContain("the-key");
	expect(line?.t === "result" && line.text.length).toBeLessThan(3_300);
	expect(line?.t === "result" && line.text).toMatch(/\[\d+ lines(?: like these)? left out; recall\(call="a", offset=\d+, limit=\d+\) shows them\]/);
	expect(whole.get("a")).toBe(text.replaceAll("the-key", "…[redacted]"));
});

it("settles a call when its result is stored, and not if its process is named", async () => {
	const settled: string[] = [];
	const more: Partial<AgentTool> = { settle: async (id) => void settled.push(id) };
	const { runs, lines } = runner([
		tool("ends", () => ({ text: "", failed: false }), { settle: async (id) => void settled.push(`${id} behind ${lines.length} lines`) }),
		tool("goes_on", () => ({ text: "", failed: false, process: "proc_1" }), more),
	]);
	await runs.run([call("a", "ends"), call("b", "goes_on")]);
	expect(settled).toEqual(["a behind 1 lines"]);
});

it("leaves a call open that waits for a person, and those behind it", async () => {
	const { runs, results } = runner([
		tool("fine", () => ({ text: "fine", failed: false }), { changes: true }),
		tool("asks", () => ({ text: "", failed: false, pending: "appr_1" }), { changes: true }),
	]);
	expect(await runs.run([call("a", "fine"), call("b", "asks"), call("c", "fine")])).toMatchObject({ pending: "appr_1" });
	expect(results()).toEqual(["a ran: fine"]);
});

it("does not wait for a person who has written something else", async () => {
	const { runs, results } = runner([tool("asks", () => ({ text: "a person must allow it", failed: false, pending: "appr_1" }), { changes: true })], {
		spoken: true,
	});
	expect(await runs.run([call("a", "asks"), call("b", "asks")])).toEqual({ notes: [] });
	expect(results()).toEqual(["a skipped: a person must allow it", "b skipped: a person must allow it"]);
});

describe("after a crash", () => {
	const ran: string[] = [];
	const run =
		(text: string) =>
		(_: unknown, { id }: ToolCallContext) => {
			ran.push(id);
			return { text, failed: false };
		};
	const plain = tool("plain", run("done"), { changes: true });
	const reads = tool("reads", run("read"));
	const known = (state: "never" | "ended" | "unknown") =>
		tool(state, run("done"), {
			changes: true,
			became: async () =>
				state === "ended" ? { state, outcome: { text: "true result", failed: false } } : state === "unknown" ? { state, reason: "the box is gone" } : { state },
		});

	it("makes only calls that never began, and tells the truth about the others", async () => {
		ran.length = 0;
		const { runs, results, steering } = runner([plain, reads, known("never"), known("ended"), known("unknown")]);
		await recover(runs, steering, [call("a", "ended"), call("b", "never"), call("c", "unknown"), call("d", "plain"), call("e", "reads"), call("f", "gone")], {
			again: true,
		});
		expect(results()).toEqual([
			"a recovered: true result",
			"b ran: done",
			"c unknown: Not known: whether this was done, and how it ended (the box is gone). Look before you repeat it.",
			"d ran: done",
			"e ran: read",
			expect.stringContaining('f ran: Error: there is no tool "gone"'),
		]);
		expect(ran).toEqual(["b", "d", "e"]);
	});

	it("does not know of the first call if its tool cannot tell, unless it only reads", async () => {
		ran.length = 0;
		const first = runner([plain, reads]);
		await recover(first.runs, first.steering, [call("a", "plain"), call("b", "plain")], { again: true });
		expect(first.results()).toEqual([expect.stringContaining("a unknown: Not known"), "b ran: done"]);
		const second = runner([plain, reads]);
		await recover(second.runs, second.steering, [call("c", "reads")], { again: true });
		expect(second.results()).toEqual(["c ran: read"]);
		expect(ran).toEqual(["b", "c"]);
	});

	it("makes nothing when the step was cut short before", async () => {
		ran.length = 0;
		const { runs, results, steering } = runner([known("never"), known("ended")]);
		await recover(runs, steering, [call("a", "ended"), call("b", "never")], { again: false });
		expect(results()).toEqual(["a recovered: true result", expect.stringContaining("b skipped: Not run: the program was cut short")]);
		expect(ran).toEqual([]);
	});
});
