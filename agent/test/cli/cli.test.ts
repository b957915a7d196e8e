/** The command line: help, mistakes, settings, lists, exports. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { modelServer } from "../model-server/index.js";
import { obeys } from "../support/obeys.js";
import { configFor, newWorld, run, sit } from "../support/seat.js";

const COMMANDS = ["chat", "once", "sessions", "export", "setup", "config", "toolsets", "models", "gateway", "pairing"];

describe("the command line", () => {
	it("has help in groups, below 80 columns, which loads nothing of the agent", async () => {
		const world = newWorld();
		const help = await run(world, ["--help"]);
		expect(help).toMatchObject({ code: 0, stderr: "" });
		for (const group of ["Talk", "Conversations", "Platforms", "Settings"]) expect(help.stdout).toContain(`\n${group}\n`);
		const each = await Promise.all(COMMANDS.map((name) => run(world, ["help", name])));
		for (const { code, stdout } of [help, ...each]) {
			expect(code).toBe(0);
			expect(stdout.split("\n").filter((line) => line.length >= 80)).toEqual([]);
		}
		expect(each[0]?.stdout).toBe((await run(world, ["chat", "--help"])).stdout);
		const traced = await run(world, ["--help"], { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LOADED)}` } });
		expect(traced.stderr).toBe("");
		expect((await run(world, ["version"])).stdout).toMatch(/^holdfast-agent \d+\.\d+\.\d+\n$/);
	});

	it("says what is meant by what is mistyped, with exit code 2", async () => {
		const world = newWorld();
		const said = async (...args: string[]) => {
			const { code, stderr } = await run(world, args);
			return [code, stderr];
		};
		expect(await said("sesions")).toEqual([2, 'holdfast-agent: there is no command "sesions"; did you mean sessions?\n']);
		expect(await said("fix my tests")).toEqual([2, expect.stringContaining("a message goes behind -q")]);
		expect(await said("sessions", "--limt", "3")).toEqual([2, "holdfast-agent: there is no option --limt; see `holdfast-agent help sessions`\n"]);
		expect(await said("sessions", "--limit", "many")).toEqual([2, expect.stringContaining('--limit takes a whole number, not "many"')]);
		expect(await said("config", "a", "b")).toEqual([2, expect.stringContaining('"b" is not expected, only a key')]);
		expect(await said("setup", "modle")).toEqual([2, expect.stringContaining("did you mean model?")]);
		expect(await said("export")).toEqual([2, expect.stringContaining("the id or title of a conversation")]);
		expect(await said()).toEqual([2, "holdfast-agent: no model is set up yet; run `holdfast-agent setup`\n"]);
		expect(JSON.parse((await run(world, ["models", "--json"])).stdout)).toEqual({ error: { code: "CONFIG", message: expect.stringContaining("setup") } });
	});

	it("config shows where each value comes from, and refuses a file that cannot be used", async () => {
		await using server = await modelServer();
		const endpoints = { scripted: { url: server.url, headers: { "X-Team": "blue-secret" } } };
		const world = newWorld(configFor(server, { endpoints }));
		const { stdout } = await run(world, ["config", "--json", "--steps", "7"]);
		const { values } = JSON.parse(stdout) as { values: { key: string }[] };
		const one = (key: string) => values.find((value) => value.key === key);
		expect(one("model")).toMatchObject({ value: "scripted", from: "file", where: expect.stringMatching(/agent\.json line \d+$/) });
		expect(one("endpoints.scripted.headers.X-Team")).toMatchObject({ from: "file", hidden: true });
		expect(stdout).not.toContain("blue-secret");
		expect((await run(world, ["config", "endpoints"])).stdout).toMatch(/headers\.X-Team +agent\.json line 1 +\(not shown\)\n/);
		expect(one("limits.steps")).toMatchObject({ value: 7, from: "flag", where: "--steps" });
		expect(one("busy")).toMatchObject({ value: "steer", from: "default" });
		expect((await run(world, ["config", "limits"])).stdout).toMatch(/^KEY +FROM +VALUE\nlimits\.steps +default +90\n/);
		fs.writeFileSync(world.file("agent.json"), '{\n\t"modle": "x"\n}');
		expect(await run(world, [])).toMatchObject({
			code: 2,
			stdout: "",
			stderr: expect.stringMatching(/agent\.json line 2: modle is no setting; did you mean model\?/),
		});
		fs.writeFileSync(world.file("agent.json"), "{ nonsense");
		expect(await run(world, ["-q", "x"])).toMatchObject({ code: 2, stderr: expect.stringContaining("is no JSON") });
	});

	it("lists conversations, models and toolsets, and exports in three formats", async () => {
		await using server = await modelServer({ script: obeys, models: [{ id: "scripted", window: 8_192 }, "other-one"] });
		const world = newWorld(configFor(server, { mcpServers: { browser: { command: "no-such-browser" } } }));
		await run(world, ["-q", "run echo one"]);
		await run(world, ["-q", "second talk"]);
		const list = JSON.parse((await run(world, ["sessions", "--json"])).stdout) as { id: string; first: string }[];
		expect(list.map(({ first }) => first)).toEqual(["second talk", "run echo one"]);
		expect((await run(world, ["sessions", "echo"])).stdout.split("\n")).toHaveLength(3);
		const file = path.join(world.work, "out.json");
		expect((await run(world, ["export", list[1]?.id ?? "", "--format", "anthropic", "-o", file])).code).toBe(0);
		const { messages } = JSON.parse(fs.readFileSync(file, "utf8")) as { messages: { role: string }[] };
		expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
		expect(fs.statSync(file).mode & 0o777).toBe(0o600);
		expect(await run(world, ["export", list[1]?.id ?? "", "--format", "xml"])).toMatchObject({
			code: 2,
			stderr: expect.stringContaining("openai, anthropic, sharegpt"),
		});
		expect((await run(world, ["models", "scr"])).stdout).toMatch(/scripted +8,192/);
		const toolsets = await run(world, ["toolsets"]);
		expect(toolsets.stdout).toMatch(/^terminal +on /m);
		expect(toolsets.stdout).toMatch(/^browser +off +no-such-browser is not installed \(install it, or change mcpServers\.browser\.command\)$/m);
	});

	it("uses colours on a terminal only, and none with NO_COLOR", async () => {
		const world = newWorld();
		const printed = async (env: Record<string, string>) => {
			const seat = await sit(world, ["help"], { env });
			await seat.ended();
			return seat.printed();
		};
		expect(await printed({})).toContain("\u001b[1m");
		expect(await printed({ NO_COLOR: "1" })).not.toContain("\u001b[");
		expect((await run(world, ["help"])).stdout).not.toContain("\u001b[");
	});
});

/** Complains about every module that is loaded besides those of the command line. */
const LOADED = `
import { register } from "node:module";
register("data:text/javascript," + encodeURIComponent(\`
	export async function load(url, context, next) {
		if (url.startsWith("file:") && !/agent\\\\/dist\\\\/cli\\\\/(main|help|output|table)\\\\.js$/.test(url)) process._rawDebug("loaded " + url);
		return next(url, context);
	}
\`));
`;
