import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type McpServerConfig, mcpServerSchema } from "../../src/base/index.js";
import { type AgentTool, chooseTools, describeToolsets, McpServers, recallTool, type ToolCallContext, toolsetsWith } from "../../src/tools/index.js";

const FIXTURE = fileURLToPath(new URL("fixtures/mcp-server.mjs", import.meta.url));
const keys = { read: async () => "the-secret-of-the-server" };
const stdio = (more: Record<string, unknown> = {}): McpServerConfig => mcpServerSchema.parse({ command: process.execPath, args: [FIXTURE], ...more });

const context = (more: Partial<ToolCallContext> = {}): ToolCallContext => ({
	id: "call_1",
	signal: new AbortController().signal,
	yield: new AbortController().signal,
	...more,
});

interface Loaded extends AsyncDisposable {
	readonly servers: McpServers;
	readonly tools: AgentTool[];
	call(name: string, args?: unknown, more?: Partial<ToolCallContext>): ReturnType<AgentTool["run"]>;
}

async function loaded(config: McpServerConfig, env?: NodeJS.ProcessEnv): Promise<Loaded> {
	const servers = new McpServers({ servers: { fix: config }, keys, ...(env ? { env } : {}) });
	const tools = await servers.load(["fix"]);
	const call = (name: string, args: unknown = {}, more: Partial<ToolCallContext> = {}) =>
		(tools.find((one) => one.name === `fix__${name}`) as AgentTool).run(args, context(more));
	return { servers, tools, call, [Symbol.asyncDispose]: () => servers.close() };
}

describe("a server over stdio", () => {
	it("has its tools under its name, and answers calls", async () => {
		await using it = await loaded(stdio());
		expect(it.tools.find(({ name }) => name === "fix__add")).toMatchObject({
			changes: false,
			description: "does add",
			schema: { type: "object", required: ["a", "b"] },
		});
		expect(await it.call("add", { a: 2, b: 3 })).toEqual({ text: "5", failed: false });
		expect(await it.call("picture")).toEqual({ text: "[image image/png, 3 bytes, not shown]", failed: false });
	});

	it("gives names that every model takes, whatever the server calls its tools", async () => {
		await using it = await loaded(stdio());
		const names = it.tools.map(({ name }) => name);
		expect(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
		expect(new Set(names).size).toBe(names.length);
		const nasty = it.tools.find(({ name }) => name.startsWith("fix__nasty")) as AgentTool;
		expect(nasty.name).toMatch(/^fix__nasty__2J_name__n_code_[0-9a-f]{8}$/);
		expect(await nasty.run({}, context())).toMatchObject({ text: "nasty" });
		expect(nasty.description).not.toContain("\u001b");
	});

	it("starts with nothing of our environment but what is harmless, and the keys that it was given", async () => {
		const env = { ...process.env, OPENAI_API_KEY: "planted", SSH_AUTH_SOCK: "/planted" };
		await using it = await loaded(stdio({ env: { MODE: "test", TOKEN: { file: "token" } } }), env);
		const { text } = await it.call("environment");
		expect(text.split(" ").filter((name) => !["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"].includes(name))).toEqual(["MODE", "TOKEN"]);
		expect(await it.call("value", { name: "TOKEN" })).toMatchObject({ text: "the-secret-of-the-server" });
	});

	it("that dies is a failed result in words, and the next call starts it again", async () => {
		await using it = await loaded(stdio());
		const { text: first } = await it.call("pid");
		expect(await it.call("die")).toEqual({
			failed: true,
			text: expect.stringMatching(/^Error: the MCP server fix was gone before it answered .*look before you repeat it\. The next call starts it again$/),
		});
		const { text: second } = await it.call("pid");
		expect(Number(second)).toBeGreaterThan(0);
		expect(second).not.toBe(first);
	});

	it("that was killed between two calls is started again without a word", async () => {
		await using it = await loaded(stdio());
		const { text: first } = await it.call("pid");
		process.kill(Number(first), "SIGKILL");
		while (isAlive(Number(first))) await new Promise((resolve) => setTimeout(resolve, 5));
		const again = await it.call("pid");
		// Whether the end was seen before the call is a race; the call after it works in any case.
		if (again.failed) expect(await it.call("pid")).toMatchObject({ failed: false });
		else expect(again.text).not.toBe(first);
	});

	it("that gives no answer is given up after its time; one that does not react at all is ended", async () => {
		const config = stdio();
		await using it = await loaded(config);
		/** With so little time for this one call. */
		const hurried = async (name: string) => {
			config.seconds = 0.1;
			const outcome = await it.call(name);
			config.seconds = 60;
			return outcome;
		};
		const { text: first } = await it.call("pid");
		expect(await hurried("hang")).toEqual({
			failed: true,
			text: "Error: the MCP server fix gave no answer within 0.1 s. It may still be at work, so look before you repeat this",
		});
		expect(await it.call("pid")).toMatchObject({ text: first });
		expect(await hurried("freeze")).toEqual({
			failed: true,
			text: "Error: the MCP server fix gave no answer within 0.1 s. It does not react at all and was ended; the next call starts it again",
		});
		expect(isAlive(Number(first))).toBe(false);
		expect(await it.call("pid")).toMatchObject({ failed: false });
	});

	it("is interrupted at once", async () => {
		await using it = await loaded(stdio());
		const stop = new AbortController();
		const running = it.call("hang", {}, { signal: stop.signal });
		stop.abort();
		expect(await running).toMatchObject({ failed: true, text: expect.stringContaining("[interrupted]") });
		expect(await it.call("add", { a: 1, b: 1 })).toMatchObject({ text: "2" });
	});

	it("that prints garbage between its answers is understood all the same", async () => {
		await using it = await loaded(stdio());
		expect(await it.call("garbage")).toMatchObject({ text: "said garbage" });
		expect(await it.call("add", { a: 1, b: 1 })).toMatchObject({ text: "2" });
		const only = it.tools.find(({ name }) => name.startsWith("fix__only_garbage")) as AgentTool;
		expect(await only.run({}, context())).toMatchObject({ failed: true });
	});

	it("that throws, or is called wrongly, answers in words", async () => {
		await using it = await loaded(stdio());
		expect(await it.call("throw")).toMatchObject({ failed: true, text: expect.stringContaining("the fixture throws") });
		expect(await it.call("add", { a: "x" })).toMatchObject({ failed: true });
		for (const args of [null, 7, "x", []])
			expect(await it.call("add", args)).toMatchObject({ failed: true, text: expect.stringContaining("must be an object") });
	});

	it("may answer megabytes: the model is shown a little, and recall shows the rest exactly", async () => {
		await using it = await loaded(stdio());
		const { text, whole, failed } = await it.call("big", {}, { id: "call_9" });
		expect(failed).toBe(false);
		expect((whole as string).length).toBeGreaterThan(1_000_000);
		expect(text.length).toBeLessThan(13_000);
		const [, from, lines] = /recall\(call="call_9", offset=(\d+), limit=(\d+)\)/.exec(text) as unknown as [string, string, string];
		const recall = recallTool((call) => (call === "call_9" ? whole : undefined));
		let read = "";
		for (let args: Record<string, unknown> | undefined = { call: "call_9", offset: Number(from), limit: 500 }; args; ) {
			const answer: string = (await recall.run(args, context())).text;
			const more = /\n\[\d+ more characters: recall\(call="call_9", char=(\d+)\)\]$/.exec(answer);
			read += more ? answer.slice(0, more.index) : answer;
			args = more && read.length < 50_000 ? { call: "call_9", char: Number(more[1]) } : undefined;
		}
		expect(Number(lines)).toBeGreaterThan(50_000);
		const start = (whole as string).split("\n").slice(0, Number(from)).join("\n").length + 1;
		expect(read).toBe((whole as string).slice(start, start + read.length));
	});

	it("that cannot be started is a toolset that is off, with the reason and a remedy", async () => {
		const config = {
			broken: stdio({ args: [FIXTURE, "broken"] }),
			mute: stdio({ args: [FIXTURE, "mute"] }),
			missing: mcpServerSchema.parse({ command: "no-such-program-anywhere" }),
			off: stdio({ enabled: false }),
		};
		await using servers = new McpServers({ servers: config, keys, startSeconds: 3 });
		expect(await servers.load(Object.keys(config))).toEqual([]);
		const { sets } = chooseTools(Object.keys(config), toolsetsWith({ servers: servers.sets }), "run");
		const said = describeToolsets(sets);
		expect(said).toMatch(/^broken off: it did not start .*it printed: no such module \(check mcpServers\.broken, then open the conversation again\) · /);
		expect(said).toMatch(/mute off: it did not start within 3 s .*I never speak MCP/);
		expect(said).toContain("missing off: no-such-program-anywhere is not installed (install it, or change mcpServers.missing.command)");
		expect(said).toContain("off off: it is switched off (set mcpServers.off.enabled to true)");
	});

	it("offers only the tools that were chosen", async () => {
		await using it = await loaded(stdio({ tools: ["add", "pid"] }));
		expect(it.tools.map(({ name }) => name)).toEqual(["fix__add", "fix__pid"]);
	});
});

describe("a server over HTTP", () => {
	async function served(port = 0): Promise<{ url: string; child: ChildProcess; stop(): Promise<void> }> {
		const child = spawn(process.execPath, [FIXTURE, "http", String(port)], { stdio: ["ignore", "pipe", "ignore"] });
		const [line] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
		const stop = async () => {
			const gone = once(child, "exit");
			child.kill("SIGKILL");
			await gone;
		};
		return { url: line.toString().trim(), child, stop };
	}

	it("answers calls, and is found again after it was gone", async () => {
		const first = await served();
		await using it = await loaded(mcpServerSchema.parse({ url: first.url, key: { file: "k" } }));
		expect(await it.call("add", { a: 2, b: 3 })).toEqual({ text: "5", failed: false });
		await first.stop();
		expect(await it.call("add", { a: 2, b: 3 })).toMatchObject({ failed: true, text: expect.stringContaining("the MCP server fix") });
		const second = await served(Number(new URL(first.url).port));
		expect(await it.call("add", { a: 2, b: 4 })).toEqual({ text: "6", failed: false });
		await second.stop();
	});

	it("that dies while it answers is a failed result in words", async () => {
		const { url } = await served();
		await using it = await loaded(mcpServerSchema.parse({ url }));
		expect(await it.call("die")).toMatchObject({ failed: true, text: expect.stringContaining("was gone before it answered") });
	});

	it("that is not there is a toolset that is off", async () => {
		await using it = await loaded(mcpServerSchema.parse({ url: "http://127.0.0.1:1/mcp", seconds: 2 }));
		expect(it.tools).toEqual([]);
		expect(it.servers.sets[0]?.available()).toMatchObject({ ok: false, fix: expect.stringContaining("mcpServers.fix") });
	});
});

function isAlive(pid: number): boolean {
	try {
		return !/^State:\s*[ZX]/m.test(fs.readFileSync(path.join("/proc", String(pid), "status"), "utf8"));
	} catch {
		return false;
	}
}
