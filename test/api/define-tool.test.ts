/** `defineTool`: tools of other programs get the same passage as ours, and whatever they do wrong is said in words. */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { agentOf } from "../../src/api/index.js";
import { createServer } from "../../src/doors/mcp/library.js";
import { type DefinedTool, defineTool, openRuntime, type Runtime, readAudit, renderResult, type ToolDefinition, toolsWith } from "../../src/index.js";
import { atEnd, endAll, tempDir, until } from "../support/home.js";

async function library(): Promise<Runtime> {
	const runtime = await openRuntime({ warm: 0, home: tempDir("home") });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime;
}

const SECRET = `AKIA${"QRSTUVWXYZABCDEF"}`;
const empty = z.object({});
const quick = (run: ToolDefinition["run"], more: Partial<ToolDefinition> = {}): DefinedTool =>
	defineTool({ name: "mine", description: "A tool.", schema: empty, run, ...more });

test("it gets the task's files, terminal and deadline, and its result is masked, bounded and on record", async () => {
	const runtime = await library();
	const task = runtime.task("t", { cwd: tempDir("work") });
	const count = defineTool({
		name: "count_lines",
		description: "Counts the lines of a file.",
		schema: z.object({ path: z.string().min(1).describe("Which file."), twice: z.boolean().optional() }),
		changes: false,
		run: async ({ path, twice }, context) => {
			expect(context).toMatchObject({ task: "t", place: "local" });
			expect(context.deadline.getTime()).toBeGreaterThan(Date.now() + 100_000);
			context.progress("counting");
			await context.files.write("seen", path);
			const { output } = await context.terminal({ command: `wc -l < ${path}; cat seen` });
			return { output: `${output} ${SECRET}`, data: { lines: Number.parseInt(output, 10) * (twice ? 2 : 1), SECRET }, note: "Counted." };
		},
	});
	const told: string[] = [];
	await task.files.write("f", "1\n2\n3\n");
	const result = await task.call(count, { path: "f", twice: true, wrong: 1 }, { progress: (text) => told.push(text) });
	expect(result).toMatchObject({ status: "ok", error: null, data: { lines: 6 }, duration_ms: expect.any(Number) });
	expect(result.output).toMatch(/^3\nf /);
	expect(JSON.stringify(result)).not.toContain(SECRET);
	expect(result.note).toMatch(/Counted\.(.|\n)*masked/);
	expect(result.note).toContain('"wrong"');
	expect(told).toEqual(["counting"]);
	expect(renderResult(result)).toMatch(/^\[ok\]\n3\nf/);
	const recorded = () => readAudit(runtime, { task: "t" }).filter(({ event }) => event === "tool");
	await until("its end is on record", () => recorded().length === 2);
	expect(recorded()).toMatchObject([
		{ tool: "count_lines", command: 'count_lines {"path":"f","twice":true}', place: "local", by: "library" },
		{ tool: "count_lines", status: "ok" },
	]);
	expect(await task.call(count, { path: 5 })).toMatchObject({
		status: "error",
		error: "path must be a string, not the number 5; nothing was done, correct the call and send it again",
	});
	expect(await task.call(count, undefined)).toMatchObject({ status: "error", error: expect.stringContaining("path is missing") });
	const shown = toolsWith(runtime.limits, [count]);
	expect(shown.map(({ name }) => name).slice(-2)).toEqual(["download", "count_lines"]);
	expect(count.inputSchema).toMatchObject({ type: "object", required: ["path"], properties: { path: { type: "string", description: "Which file." } } });
	expect(await count.run(runtime, { path: "nowhere" }, { task: "t" })).toMatchObject({ status: "ok", data: { lines: null } });
	expect(count.annotations.readOnlyHint).toBe(true);
});

describe("what a tool does wrong is said", () => {
	let runtime: Runtime;
	beforeAll(async () => {
		const home = fs.mkdtempSync("/tmp/hf-tool-");
		runtime = await openRuntime({ warm: 0, home });
		return async () => {
			await runtime.close();
			fs.rmSync(home, { recursive: true });
		};
	});
	const circle: Record<string, unknown> = {};
	circle.self = circle;

	test.each<[string, ToolDefinition["run"], object]>([
		["it throws", () => Promise.reject(new Error(`broken ${SECRET}`)), { status: "error", error: expect.stringMatching(/^mine failed: broken .*redacted/) }],
		["it throws something else", () => Promise.reject("words"), { status: "error", error: "mine failed: words" }],
		["it throws at once", () => JSON.parse("{"), { status: "error", error: expect.stringMatching(/^mine failed: /) }],
		["it returns nothing", () => undefined as never, { status: "error", error: expect.stringMatching(/^mine has run, but what it returned cannot be used/) }],
		["it returns a number", () => 5 as never, { status: "error", error: expect.stringContaining("it is 5") }],
		[
			"it returns other names",
			() => ({ result: 1 }) as never,
			{ status: "error", error: expect.stringContaining('no key "result"; there are output, data, error, note') },
		],
		["it returns a circle", () => ({ data: circle }), { status: "error", error: expect.stringContaining("nothing that JSON can hold") }],
		["it returns an Error", () => new Error("boo") as never, { status: "error", error: expect.stringContaining("it is of the class Error") }],
		["it is a generator", async function* () {} as never, { status: "error", error: expect.stringContaining("what it returned cannot be used") }],
		["it returns an error", () => ({ error: "no such page; give another" }), { status: "error", error: "no such page; give another" }],
		["it returns only data", () => ({ data: { a: 1 } }), { status: "ok", output: '{"a":1}', data: { a: 1 } }],
		["it returns nothing much", () => "", { status: "ok", output: "", error: null }],
	])("%s", async (_, run, expected) => {
		expect(await runtime.task("t").call(quick(run), {})).toMatchObject(expected);
	});

	test("a schema or an asCommand that throws is the program's fault, and nothing is done", async () => {
		const broken = (): never => {
			throw new Error("boo");
		};
		const run = () => expect.unreachable();
		const schema = z.object({ a: z.string().refine(async () => true) });
		const call = (tool: ToolDefinition) => runtime.task("t").call(defineTool(tool), { a: "x" });
		const words = /^(schema|asCommand) of the tool own failed \(.+\), so nothing was done; this is for the program that defines it$/;
		for (const given of [{ schema }, { schema: z.object({}), asCommand: broken }])
			expect(await call({ name: "own", description: "d", run, ...given })).toMatchObject({ status: "error", error: expect.stringMatching(words) });
	});

	test("a program that has nothing else to do waits for the answer of a tool that never returns", async () => {
		const code = `const { defineTool, openRuntime } = await import(${JSON.stringify(path.resolve("dist/lib/index.js"))});
			const z = await import("zod");
			const runtime = await openRuntime({ home: ${JSON.stringify(tempDir("home"))}, warm: 0 });
			const tool = defineTool({ name: "mine", description: "d", schema: z.object({}), timeout: 1, run: () => new Promise(() => {}) });
			console.log((await runtime.task("t").call(tool, {})).status);
			await runtime.close();`;
		const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
		expect(stdout).toBe("timeout\n");
	});

	test("it returns 100 MB: the beginning and the end are shown, and half a secret at the cut is not", async () => {
		const text = `first ${"x".repeat(100 * 1024 * 1024)} last`;
		const result = await runtime.task("t").call(
			quick(() => text),
			{},
		);
		expect(result.output.length).toBeLessThanOrEqual(runtime.limits.outputChars);
		expect(result.output).toMatch(/^first x+\n\[… \d+ of 104857611 characters left out …\]\nx+ last$/);
		expect(result.truncated).toMatchObject({ total_chars: text.length });
		const data = await runtime.task("t").call(
			quick(() => ({ output: "short", data: { text } })),
			{},
		);
		expect(data).toMatchObject({ status: "ok", output: "short", note: expect.stringContaining("was left out") });
		expect(data.data).toBeUndefined();
		const head = Math.floor((runtime.limits.outputChars - 80) * 0.4);
		const cut = await runtime.task("t").call(
			quick(() => `${"y".repeat(head - 9)} ${SECRET} ${"y".repeat(100_000)}`),
			{},
		);
		expect(cut.output).not.toContain(SECRET.slice(0, 8));
	});

	test("it never returns: the call answers at its deadline, and when it is interrupted, and says that it may go on", async () => {
		const task = runtime.task("t");
		const hangs = quick(() => new Promise<string>(() => {}), { timeout: 1 });
		expect(await task.call(hangs, {})).toMatchObject({ status: "timeout", error: expect.stringMatching(/did not finish within 1 s; .* may still be at work/) });
		const call = task.call(
			quick(() => new Promise<string>(() => {})),
			{},
		);
		await until("it runs", () => task.isBusy);
		await task.interrupt();
		expect(await call).toMatchObject({ status: "interrupted", error: expect.stringContaining("may still be at work") });
		const obeys = quick((_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))), {
			timeout: 1,
		});
		expect(await task.call(obeys, {})).toMatchObject({ status: "timeout", error: expect.stringContaining("and has stopped") });
		expect(await task.call(hangs, {}, { within: 700 })).toMatchObject({ status: "timeout" });
		expect(await task.call(hangs, {}, { signal: AbortSignal.abort() })).toMatchObject({
			status: "interrupted",
			error: expect.stringContaining("nothing was done"),
		});
	});

	test.each<[string, object, RegExp]>([
		["a name of ours", { name: "terminal" }, /terminal is a tool of Holdfast's own; choose another name/],
		["a name that cannot be one", { name: "My Tool" }, /name is "My Tool", but must be 1 to 64 characters/],
		["no schema", { schema: undefined }, /schema is missing; it must be an object of zod 4/],
		["a schema that is no object", { schema: z.string() }, /must be an object of zod 4/],
		["a JSON schema", { schema: { type: "object" } }, /must be an object of zod 4/],
		["a schema that no model can be shown", { schema: z.object({ at: z.date() }) }, /has something that a model cannot be shown \(.*[Dd]ate/],
		["no description", { description: "" }, /description is "", but must not be empty/],
		["no function", { run: "echo" }, /run is "echo", but must be a function/],
		["an unknown key", { execute: 1 }, /there is no key "execute"; there are name, title/],
		["a timeout of 0", { timeout: 0 }, /timeout is 0, but must be at least 1/],
	])("%s is refused when it is defined", (_, wrong, words) => {
		expect(() => defineTool({ name: "mine", description: "A tool.", schema: empty, run: () => "", ...wrong } as ToolDefinition)).toThrow(words);
	});

	test("two of one name, and what defineTool has not made, are refused", async () => {
		const [one, two] = [quick(() => ""), quick(() => "")];
		expect(() => toolsWith(runtime.limits, [one, two])).toThrow("two of the tools are called mine; rename one");
		expect(() => toolsWith(runtime.limits, [{ ...one }])).toThrow("this takes a tool that defineTool() of this copy of holdfast has returned");
		await expect(runtime.task("t").call({ ...one }, {})).rejects.toMatchObject({ code: "INVALID" });
	});
});

test("rules decide about what it stands for, and it may ask a person itself", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const ran: string[] = [];
	const push = quick(
		() => {
			ran.push("push");
			return "done";
		},
		{ name: "push", asCommand: () => "git push --force origin main" },
	);
	const asks = quick(async (_, context) => {
		await context.ask({ text: "send the letter to everybody", reason: "it cannot be taken back" });
		ran.push("sent");
		return "sent";
	});
	expect(await task.call(push, {})).toMatchObject({ status: "pending_approval", rule: "force-push", note: expect.stringContaining("call push again") });
	expect(await task.call(asks, {})).toMatchObject({ status: "pending_approval", rule: "tool mine", reason: "it cannot be taken back" });
	const answers: string[] = [];
	const approver = (answer: "once" | "no") => async (approval: { command: string }) => {
		answers.push(approval.command);
		return { answer, by: "a test" } as const;
	};
	expect(await task.call(asks, {}, { approver: approver("no") })).toMatchObject({
		status: "blocked",
		outcome: "denied",
		approval_id: expect.stringMatching(/^appr_/),
	});
	expect(ran).toEqual([]);
	expect(await task.call(asks, {}, { approver: approver("once") })).toMatchObject({
		status: "ok",
		output: "sent",
		note: expect.stringContaining("A person allowed this"),
	});
	expect(await task.call(push, {}, { approver: approver("once") })).toMatchObject({ status: "ok", output: "done" });
	expect(ran).toEqual(["sent", "push"]);
	expect(answers).toEqual(["send the letter to everybody", "send the letter to everybody", "git push --force origin main # push"]);
});

test("an MCP server shows it beside ours, and calls it", async () => {
	const runtime = await library();
	const hello = quick((args) => ({ output: `hello ${(args as { name: string }).name}`, data: { ok: true } }), {
		name: "hello",
		schema: z.object({ name: z.string() }),
	});
	const server = createServer(runtime, { task: "t", tools: [hello] });
	const [near, far] = InMemoryTransport.createLinkedPair();
	const client = new Client({ name: "test", version: "1" });
	await Promise.all([server.connect(far), client.connect(near)]);
	atEnd(() => client.close());
	const { tools } = await client.listTools();
	expect(tools.map(({ name }) => name)).toEqual([...toolsWith(runtime.limits).map(({ name }) => name), "hello"]);
	expect(tools.at(-1)?.inputSchema).toMatchObject({ properties: { name: { type: "string" } } });
	expect(await client.callTool({ name: "hello", arguments: { name: "you" } })).toMatchObject({
		structuredContent: { status: "ok", output: "hello you", data: { ok: true } },
		content: [{ type: "text", text: "[ok]\nhello you" }],
	});
	expect(await client.callTool({ name: "hello", arguments: {} })).toMatchObject({
		isError: true,
		structuredContent: { error: expect.stringContaining("name is missing") },
	});
	expect(() => createServer(runtime, { task: "t", tools: [hello, hello] })).toThrow("two of the tools are called hello");
});
