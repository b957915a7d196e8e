/** The wizard on a real terminal, its answers from a file, and its tests. */
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { KeyRing, loadAgentConfig, openAgentHome } from "../../src/base/index.js";
import { applyAnswers, checkSetup } from "../../src/setup/index.js";
import { calls, modelServer, type SeenRequest, type Step, say } from "../model-server/index.js";
import { atEnd } from "../support/dirs.js";
import { newWorld, run, type Seat, sit, type World } from "../support/seat.js";

const KEY = "typed-key-0123456789abcdef";

/** A good model: it does what the probe asks for. */
const good = ({ said, results, tools }: SeenRequest): Step => {
	if (results.length === 0 && tools.includes("report") && said.startsWith("Call the tool")) return calls(["report", { word: "ready" }]);
	return say("ready");
};
const deaf = (): Step => say("I cannot call tools.");

function settingsIn(world: World) {
	const home = openAgentHome(world.file("."));
	return { home, ...loadAgentConfig(home) };
}

const configOf = (world: World) => JSON.parse(fs.readFileSync(world.file("agent.json"), "utf8")) as Record<string, unknown>;

/** Chooses "Another one" and types an address. */
async function custom(seat: Seat, url: string): Promise<void> {
	await seat.shows("Which endpoint has your model?");
	await seat.type("<UP><ENTER>");
	await seat.shows("Its address");
	await seat.type(`${url}<ENTER>`);
	await seat.shows("Which format does it speak?");
	await seat.type("<ENTER>");
}

describe("setup", () => {
	it.each([40, 200])("asks, tries and saves, at %i columns; the key is never shown", async (cols) => {
		await using server = await modelServer({ script: good, key: KEY, models: [{ id: "small", window: 8_192 }, "other", { id: "scripted", window: 65_536 }] });
		const world = newWorld();
		const seat = await sit(world, ["setup"], { cols, rows: 60 });
		await custom(seat, server.url);
		await seat.shows("Type or paste it");
		await seat.type("<ENTER>");
		await seat.shows(/The key \(nothing of it is\s+(│\s+)?shown\)/);
		await seat.type(`${KEY}<ENTER>`);
		await seat.shows(/has 3\s+(│\s+)?models/);
		await seat.type("scrip");
		await seat.shows(/scripted \(66k window\)/);
		await seat.type("<ENTER>");
		await seat.shows("calls tools");
		await seat.shows(/Where do its commands run/);
		await seat.type("<ENTER>");
		await seat.shows("Which tools does it get?");
		expect(fs.existsSync(world.file("agent.json"))).toBe(false);
		await seat.type("<ENTER>");
		await seat.shows("Save this?");
		expect(fs.existsSync(world.file("keys/127-0-0-1"))).toBe(false);
		await seat.type("<ENTER>");
		expect(await seat.ended()).toBe(0);
		expect(configOf(world)).toMatchObject({
			endpoints: { "127-0-0-1": { url: server.url, format: "chat", key: { file: "127-0-0-1" } } },
			endpoint: "127-0-0-1",
			model: "scripted",
			place: "local",
			toolsets: ["terminal", "file", "todo", "ask"],
		});
		expect(fs.readFileSync(world.file("keys/127-0-0-1"), "utf8")).toBe(`${KEY}\n`);
		expect(fs.statSync(world.file("keys/127-0-0-1")).mode & 0o777).toBe(0o600);
		expect(seat.printed()).not.toContain(KEY);
	});

	it("says what is wrong with an address, a key and a model before anything is saved, and goes back with Esc", async () => {
		await using server = await modelServer({ script: deaf, key: KEY, models: ["scripted"] });
		const page = http.createServer(({ url }, response) =>
			url === "/unlisted/models" ? response.writeHead(404).end() : response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>"),
		);
		await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
		atEnd(() => page.close());
		const world = newWorld();
		const seat = await sit(world, ["setup"], { cols: 110, rows: 60 });
		await seat.shows("Which endpoint has your model?");
		await seat.type("<UP><ENTER>");
		await seat.shows("Its address");
		await seat.type("<ESC>"); // back to the choice, not out
		await seat.shows(/Its address[\s\S]*Which endpoint has your model\?/);
		await custom(seat, "http://127.0.0.1:9/v1"); // nothing listens there
		await seat.shows(/ECONNREFUSED|refused|cannot be reached|Cannot reach/i);
		await seat.type("<ENTER>"); // no, not all the same
		expect(await seat.screen()).not.toContain("as it is"); // nothing of it is kept
		await custom(seat, `http://127.0.0.1:${(page.address() as AddressInfo).port}`);
		await seat.shows("answered with a web page");
		await seat.type("<ENTER>");
		await custom(seat, `http://127.0.0.1:${(page.address() as AddressInfo).port}/unlisted`);
		await seat.shows(/has no list of models \(it answered 404\)[\s\S]*all the same\?[\s\S]*● Yes/);
		await seat.type("<ENTER>");
		await seat.shows("Type or paste it");
		await seat.type("<ESC>"); // back to the choice
		await seat.shows(/\/unlisted has no list[\s\S]*Which endpoint has your model\?/);
		await custom(seat, server.url);
		await seat.shows("Type or paste it");
		await seat.type("<ENTER>");
		await seat.shows("nothing of it is shown");
		await seat.type("<ESC>"); // back to how it is given
		await seat.shows(/nothing of it is shown[\s\S]*Type or paste it \(/);
		await seat.type("<ENTER>");
		await seat.shows(/nothing of it is shown[\s\S]*nothing of it is shown/);
		await seat.type("wrong-key-0123456789<ENTER>");
		await seat.shows("Go on with this key all the same?");
		await seat.type("<ENTER>");
		await seat.shows(/all the same\?\n│ +No[\s\S]*Type or paste it \(/);
		await seat.type("<ENTER>");
		await seat.shows(/all the same\?\n│ +No[\s\S]*Type or paste it[\s\S]*nothing of it is shown/);
		await seat.type(`${KEY}<ENTER>`);
		await seat.shows("The model (one is listed)");
		await seat.type("<ENTER>");
		await seat.shows("answered with text instead of calling the tool");
		await seat.shows("Save it all the same?");
		await seat.type("<ESC>"); // back to the key
		await seat.shows(/Save it all the same\?[\s\S]*Type or paste it/);
		await seat.type("<CTRL+C>");
		expect(await seat.ended()).toBe(130);
		expect(await seat.screen()).toContain("Nothing was saved.");
		expect(fs.existsSync(world.file("agent.json"))).toBe(false);
		expect(fs.readdirSync(world.file("keys"))).toEqual([]);
	});

	it("changes one step, and leaves the rest as it is", async () => {
		await using server = await modelServer({ script: good, models: ["scripted", "other"] });
		const world = newWorld({ endpoints: { mine: { url: server.url, window: 9_999 } }, model: "scripted", limits: { steps: 5 } });
		const seat = await sit(world, ["setup", "model"], { rows: 40 });
		await seat.shows("The model (2 are listed)");
		await seat.type("scrip<ENTER>");
		await seat.shows("Save this?");
		await seat.type("<ESC>"); // back to the model
		await seat.shows(/Save this\?[\s\S]*The model \(2 are listed\)/);
		await seat.type("oth<ENTER>");
		await seat.shows(/model: "other"[\s\S]*Save this\?/);
		await seat.type("<ENTER>");
		expect(await seat.ended()).toBe(0);
		expect(configOf(world)).toEqual({ endpoints: { mine: { url: server.url, window: 9_999 } }, model: "other", limits: { steps: 5 } });
		expect((await run(world, ["setup", "--check"])).stdout).toContain("window of 9,999 tokens, as the settings say");
	});

	it("takes answers from a file, tries them, and saves nothing that fails unless it is told to", async () => {
		await using server = await modelServer({ script: good, key: KEY, models: [{ id: "scripted", window: 65_536 }] });
		const world = newWorld();
		const json = (answers: unknown) => run(world, ["setup", "--json", "-"], { input: JSON.stringify(answers) });
		const answers = { url: server.url.replace(/\/v1$/, ""), name: "mine", key: KEY, model: "scripted", place: "local", toolsets: ["terminal"] };
		expect(await json({ ...answers, key: "wrong-key-0123456789" })).toMatchObject({
			code: 1,
			stderr: expect.stringMatching(/not ok: [\s\S]*Nothing was saved/),
		});
		expect(fs.existsSync(world.file("agent.json"))).toBe(false);
		const settings = () => settingsIn(world);
		const refused = (answers: unknown) => {
			fs.writeFileSync(`${world.dir}/answers.json`, JSON.stringify(answers));
			return expect(applyAnswers(`${world.dir}/answers.json`, settings(), new KeyRing(settings().home), new AbortController().signal)).rejects;
		};
		await refused({ ...answers, toolsets: ["termnal"] }).toThrow('no toolset "termnal"');
		await refused({ ...answers, colour: "red" }).toMatchObject({ code: "INVALID", message: expect.stringContaining("colour") });
		await refused({ endpoint: "nowhere" }).toMatchObject({ code: "INVALID", message: expect.stringContaining("openrouter") });
		const saved = await json(answers);
		expect(saved).toMatchObject({ code: 0, stderr: expect.stringMatching(/ok: calls tools[\s\S]*Saved in/) });
		expect(configOf(world)).toEqual({
			endpoints: { mine: { url: server.url, format: "chat", key: { file: "mine" } } },
			...{ endpoint: "mine", model: "scripted", place: "local", toolsets: ["terminal"] },
		});
		const check = await run(world, ["setup", "--check"]);
		expect(check).toMatchObject({ code: 0, stdout: expect.stringMatching(/ok {2}scripted at .*: calls tools\n[\s\S]*ok {2}commands run at local/) });
		fs.writeFileSync(world.file("keys/mine"), "another-key-0123456789\n");
		const again = checkSetup(settings(), new KeyRing(settings().home), new AbortController().signal);
		expect((await again.next()).value).toMatchObject({ what: "model", ok: false });
		await again.return(false);
		expect(await json({ keyCommand: ["printf", KEY], model: "scripted" })).toMatchObject({ code: 0 });
		expect(configOf(world)).toMatchObject({ endpoints: { mine: { key: { command: ["printf", KEY] } } } });
	});

	it("refuses without a terminal, and names the file and --json", async () => {
		const world = newWorld();
		const refused = await run(world, ["setup"]);
		expect(refused).toMatchObject({
			code: 1,
			stdout: "",
			stderr: expect.stringMatching(/write \S+agent\.json yourself, or give the answers with --json FILE/),
		});
	});
});
