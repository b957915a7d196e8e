/** `-q` and `-f`: one message for scripts. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { openRuntime } from "holdfast";
import { describe, expect, it } from "vitest";
import { fails, modelServer } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { HELLO, obeys } from "../support/obeys.js";
import { configFor, MAIN, newWorld, run, sit } from "../support/seat.js";

const lines = (text: string): Record<string, unknown>[] =>
	text
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);

describe("one message", () => {
	it("prints the answer and nothing else; --json prints each event as a line", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		expect(await run(world, ["-q", "run echo one"])).toEqual({ code: 0, stdout: "Done: [exited, exit code 0] / one\n", stderr: "" });
		expect(await run(world, ["--continue", "-q", "hello"])).toEqual({ code: 0, stdout: `${HELLO}\n`, stderr: "" });
		expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("run echo one");
		const events = lines((await run(world, ["--json", "-q", "run echo two"])).stdout);
		expect(events[0]).toMatchObject({ type: "session", id: expect.stringMatching(/^\d{8}_/), model: "scripted" });
		expect(events.find(({ type }) => type === "call")).toMatchObject({ name: "terminal", args: '{"command":"echo two"}' });
		expect(events.find(({ type }) => type === "result")).toMatchObject({ failed: false, text: "[exited, exit code 0]\ntwo" });
		expect(events.at(-1)).toMatchObject({ type: "end", why: "answered", usage: { input: 20, output: 10 } });
	});

	it("has failed when nobody reads its answer", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const child = spawn(process.execPath, [MAIN, "-q", "hello"], { cwd: world.work, env: { ...world.env }, stdio: ["ignore", "pipe", "pipe"] });
		atEnd(() => void child.kill("SIGKILL"));
		child.stdout.destroy();
		let said = "";
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			said += text;
		});
		expect(await new Promise((resolve) => child.once("close", resolve))).toBe(1);
		expect(said).toContain("cannot write to stdout: write EPIPE");
	});

	it("says on stderr why it tries again, and when", async () => {
		await using server = await modelServer({ script: [fails(503, { headers: { "retry-after": "1" }, message: "busy" }), "There."] });
		const { code, stdout, stderr } = await run(newWorld(configFor(server)), ["-q", "hello"]);
		expect({ code, stdout }).toEqual({ code: 0, stdout: "There.\n" });
		expect(stderr).toMatch(/^holdfast-agent: \S+ answered 503: busy; again in 1 s \(try 2\)\n$/);
	});

	it("asks for the effort of reasoning that is set, in the words of the format; a flag counts before the file", async () => {
		await using server = await modelServer({ script: (request) => ({ reasoning: "Hm.", ...obeys(request) }) });
		const asked = async (config: Record<string, unknown>, ...args: string[]) => {
			const before = server.requests.length;
			const world = newWorld(configFor(server, { reasoning: "low", ...config }));
			expect(await run(world, [...args, "-q", "run echo one"])).toMatchObject({ code: 0, stdout: expect.stringContaining("one") });
			return server.requests.slice(before).map(({ body }) => body);
		};
		expect(await asked({})).toMatchObject([{ reasoning_effort: "low" }, { reasoning_effort: "low" }]);
		const anthropic = { scripted: { url: server.url.replace(/\/v1$/, ""), format: "anthropic", window: 100_000 } };
		const high = { thinking: { type: "adaptive" }, output_config: { effort: "high" } };
		expect(await asked({ endpoints: anthropic, model: "claude-opus-5" }, "--reasoning", "high")).toMatchObject([high, high]);
	});

	it("takes its message from a file or stdin, and refuses what is no text or has no end", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const file = path.join(world.work, "prompt");
		fs.writeFileSync(file, "from a file\n");
		expect((await run(world, ["-f", file])).stdout).toBe("You said: from a file\n");
		expect((await run(world, ["-q", "explain:", "-f", "-"], { input: "from stdin" })).stdout).toBe("You said: explain:\n\nfrom stdin\n");
		fs.writeFileSync(file, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]));
		expect(await run(world, ["-f", file])).toMatchObject({
			code: 2,
			stdout: "",
			stderr: expect.stringMatching(/prompt is no text \(byte 4 is zero\), so nothing was sent/),
		});
		fs.writeFileSync(file, Buffer.from([0x66, 0xfc, 0x72]));
		expect(await run(world, ["-f", file])).toMatchObject({ code: 2, stderr: expect.stringContaining("no UTF-8 text") });
		fs.writeFileSync(file, "x".repeat(10 * 1024 * 1024 + 1));
		expect(await run(world, ["-f", file])).toMatchObject({ code: 2, stderr: expect.stringContaining("more than 10 MB") });
		fs.truncateSync(file, 1_000_000);
		const long = expect.stringMatching(/about 285,715 tokens, and the window of scripted has 100,000, so it was not sent/);
		expect(await run(world, ["-f", file])).toMatchObject({ code: 2, stdout: "", stderr: long });
		expect(await run(world, ["-f", "nowhere"])).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot read nowhere: there is no such file") });
		expect(await run(world, ["-q", " "])).toMatchObject({ code: 2, stderr: expect.stringContaining("the message is empty") });
		expect(server.requests).toHaveLength(2);
	});

	it("ends with 3 and the id when a person must be asked, and goes on after the answer", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const asked = await run(world, ["-q", "run git push --force origin main"]);
		expect(asked).toMatchObject({ code: 3, stdout: "" });
		const [, id, session] = /(appr_[0-9a-f]{12}) waits for a person: git push[\s\S]*--resume (\S+) -q ""/.exec(asked.stderr) ?? [];
		expect(server.requests).toHaveLength(1);
		const again = await run(world, ["--resume", session ?? "", "-q", ""]);
		expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining(id ?? "none") });
		await using runtime = await openRuntime({ home: world.env.HOLDFAST_HOME as string, warm: 0 });
		await runtime.approvals.answer(id ?? "", { answer: "once", by: "a test" });
		const went = await run(world, ["--resume", session ?? "", "-q", ""]);
		expect(went).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Done: \[exited, exit code 128\]/) });
		expect(server.requests).toHaveLength(2);
		expect(await run(world, ["--resume", session ?? "", "-q", ""])).toMatchObject({ code: 2, stderr: expect.stringContaining("nothing is open") });
	});

	it("is answered when another program of the conversation has heard the message, and made the turn", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const chat = await sit(world, []);
		await chat.shows("new conversation");
		await chat.type("run touch begun; until [ -e go ]; do sleep 0.05; done<ENTER>");
		await until("the command runs", () => fs.existsSync(path.join(world.work, "begun")));
		const once = run(world, ["--continue", "-q", "from the other"]);
		await chat.shows("waits: from the other");
		fs.writeFileSync(path.join(world.work, "go"), "");
		expect(await once).toEqual({ code: 0, stdout: "You said: from the other\n", stderr: "" }); // and nothing of the turn before
	});

	it("ends with 4 after too many steps, and tells the model that nobody answers", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server, { mcpServers: { browser: { command: "no-such-browser" } }, toolsets: ["terminal", "ask", "browser"] }));
		const steps = await run(world, ["--steps", "1", "-q", "run echo one"]);
		const off = /^holdfast-agent: browser off: no-such-browser is not installed .*\nholdfast-agent: One step was made/;
		expect(steps).toMatchObject({ code: 4, stdout: "", stderr: expect.stringMatching(off) });
		expect((await run(world, ["-q", "ask me"])).stdout).toMatch(/nobody can answer|there is no|cannot be used/);
		const none = await run(newWorld({ ...configFor(server), toolsets: undefined }), ["-q", "hello"]);
		expect(none).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("no toolset is named, so nothing was run") });
		expect(await run(world, ["-t", "termnal", "-q", "hello"])).toMatchObject({ code: 2, stderr: expect.stringMatching(/no toolset "termnal".*terminal/) });
	});

	it("ends with 130 when it is interrupted: its command is killed, and the next run knows", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const seat = await sit(world, ["-q", "run touch begun; exec sleep 600"]);
		await until("the command runs", () => fs.existsSync(path.join(world.work, "begun")));
		await seat.type("<CTRL+C>");
		expect(await seat.ended()).toBe(130);
		expect((await run(world, ["--continue", "-q", "well?"])).stdout).toBe("You said: well?\n");
		expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("[interrupted, exit code 130]");
	});

	it("lingers for a process that reports its end, else says that it still runs", async () => {
		const go = () => fs.writeFileSync(path.join(world.work, "go"), "");
		await using server = await modelServer({
			script: (request) => {
				if (request.results.length > 0 && request.said.includes("quick")) go(); // it ends when its start is about to be answered
				return obeys(request);
			},
		});
		const world = newWorld(configFor(server));
		const gone = await run(world, ["-q", "start until [ -e go ]; do sleep 0.1; done; echo over"]);
		expect(gone).toMatchObject({ code: 0, stderr: expect.stringMatching(/proc_\S+ still runs, and will report its end to/) });
		const stayed = await run(world, ["--linger", "60", "-q", "start until [ -e go ]; do sleep 0.1; done; echo quick"]);
		expect(stayed).toMatchObject({ code: 0, stderr: "" });
		expect(stayed.stdout).toMatch(/You said: [\s\S]*\(until[\s\S]* ended [\s\S]*quick/);
		expect(await run(world, ["--linger", "601", "-q", "x"])).toMatchObject({ code: 2, stderr: expect.stringContaining("at most 600") });
	});
});
