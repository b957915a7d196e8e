/** Bad luck and bad input at the chat: words, and nothing lost. */
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { openAgentHome } from "../../src/base/index.js";
import { Log, listSessions } from "../../src/talk/index.js";
import { fails, modelServer } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
import { obeys } from "../support/obeys.js";
import { configFor, newWorld, run, sit, type World } from "../support/seat.js";

const homeOf = (world: World) => openAgentHome(world.env.HOLDFAST_AGENT_HOME as string);
const lastId = (world: World): string => listSessions(homeOf(world))[0]?.id ?? "";

describe("bad luck", () => {
	it("an endpoint that answers with a web page, and a model without tools, are said in words; the message stays", async () => {
		const page = http.createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Sign in</body></html>"));
		await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
		atEnd(() => page.close());
		const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}/v1`;
		await using server = await modelServer({
			script: [fails(400, { message: "this model does not support tools", type: "invalid_request_error" }), "Now it does."],
		});
		const world = newWorld({ ...configFor(server), endpoints: { page: { url }, scripted: { url: server.url } }, endpoint: "page" });
		const seat = await sit(world, []);
		await seat.shows("new conversation");
		await seat.type("hello<ENTER>");
		await seat.shows(/web page|HTML|no model endpoint/i);
		await seat.type("<CTRL+D>");
		expect(await seat.ended()).toBe(0);
		const next = await sit(world, ["--continue", "--endpoint", "scripted"]);
		await next.shows("continues (1 message)");
		await next.type("again<ENTER>");
		await next.shows(/does not support tools/);
		await next.type("once more<ENTER>");
		await next.shows("Now it does.");
		const sent = JSON.stringify(server.requests.at(-1)?.body);
		for (const said of ["hello", "again", "once more"]) expect(sent).toContain(said);
	});

	it("a torn last line is cut off; a damaged line in the middle is named, and the file is left alone", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		expect((await run(world, ["-q", "first"])).code).toBe(0);
		const id = lastId(world);
		const { file } = Log.read(homeOf(world), id);
		fs.appendFileSync(file, '{"n":3,"at":"2026-01');
		const torn = await run(world, ["--resume", id, "--quiet"], { input: "second\n" });
		expect(torn).toMatchObject({ code: 0, stdout: "You said: second\n", stderr: expect.stringContaining("20 bytes were cut off and are kept in") });
		const lines = fs.readFileSync(file, "utf8").split("\n");
		fs.writeFileSync(file, [lines[0], "{ torn", ...lines.slice(2)].join("\n"));
		const before = fs.readFileSync(file);
		const broken = await run(world, ["--resume", id], { input: "third\n" });
		expect(broken).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/line 2 of \S+ is damaged, and the file was left as it is/) });
		expect(fs.readFileSync(file)).toEqual(before);
		expect((await run(world, ["sessions"])).stdout).toContain("(damaged: line 2");
	});

	it("two chats have one conversation: what either says is answered once, and both show it", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const one = await sit(world, []);
		await one.shows("new conversation");
		await one.type("hello<ENTER>");
		await one.shows("tokens in");
		const two = await sit(world, ["--resume", lastId(world)]);
		await two.shows("continues (2 messages)");
		await one.type("run echo begun > begun; until [ -e go ]; do sleep 0.1; done; echo went<ENTER>");
		await until("the command runs", () => fs.existsSync(`${world.work}/begun`)); // whichever of them has taken the turn
		await two.type("/queue from the other<ENTER>");
		await two.shows("waits: from the other");
		fs.writeFileSync(`${world.work}/go`, "");
		for (const seat of [one, two]) {
			const shown = await seat.shows(/▸ \$ echo begun[\s\S]*went[\s\S]*Done: [\s\S]*› from the other[\s\S]*You said: from the other/);
			expect(shown).not.toContain("waits:");
		}
		const { entries } = Log.read(homeOf(world), lastId(world));
		expect(entries.filter(({ t }) => t === "user")).toHaveLength(3);
		expect(entries.filter(({ t }) => t === "result")).toHaveLength(1);
		expect(server.requests).toHaveLength(4);
	});

	it("a paste of 10 MB is taken in one piece, is not sent if it can never fit, and is not lost", async () => {
		await using server = await modelServer({ script: obeys });
		const seat = await sit(newWorld(configFor(server)), []);
		await seat.shows("new conversation");
		const line = `${"x".repeat(99)}\n`;
		await seat.type("see ");
		await seat.send(`\u001b[200~${line.repeat(104_858)}\u001b[201~`);
		await seat.shows("› see [pasted 104,859 lines]");
		await seat.type("<ENTER>");
		const shown = await seat.shows("so it was not sent");
		expect(shown).toMatch(/has about 2,99\d,\d{3} tokens, and the window of\s+scripted has 100,000/);
		expect(shown).toMatch(/› \[pasted 104,858 lines\]/);
		expect(server.requests).toEqual([]);
		await seat.type("<CTRL+C>small<ENTER>");
		await seat.shows("You said: small");
	});
});
