/** The chat on narrow, dumb and colourless terminals, when the terminal changes its size, and through a pipe. */
import { describe, expect, it } from "vitest";
import { width } from "../../src/chat/index.js";
import { modelServer } from "../model-server/index.js";
import { HELLO, obeys } from "../support/obeys.js";
import { configFor, newWorld, run, sit } from "../support/seat.js";

const SGR = /\u001b\[\d*(?:;\d+)*m/;
const MOVES = /\u001b\[\d*[A-HJK]/;

describe("the chat on other terminals", () => {
	it("is readable at 40 columns, questions included, and follows a terminal that becomes narrower", async () => {
		await using server = await modelServer({ script: obeys });
		const seat = await sit(newWorld(configFor(server)), [], { cols: 60, rows: 40 });
		await seat.shows("new conversation");
		await seat.type("a draft that is long enough to be broken at forty columns");
		await seat.resize(40, 40);
		await seat.type("!");
		const shown = await seat.shows(/› a draft that is long enough to be bro\n {2}ken at forty columns!/);
		expect(shown.match(/› a draft/g)).toHaveLength(1);
		await seat.type("<CTRL+U>hello<ENTER>");
		const answer = await seat.shows(/const x = 1;[\s\S]*tokens in/);
		expect(answer).toContain("Some bold words, code and a link\n(https://example.org).");
		await seat.type("run git push --force origin main<ENTER>");
		const asked = await seat.shows("(and why)");
		expect(asked).toMatch(/\[o\]nce, \[t\]his conversation, \[a\]lways,\n\[n\]o \(and why\): ?\n›/);
		expect(asked.split("\n").filter((line) => width(line) > 40)).toEqual([]);
		await seat.type("n<ENTER>");
		await seat.shows("Done: [blocked");
	});

	it("uses no colours with NO_COLOR, and keeps the marks that they stand for", async () => {
		await using server = await modelServer({ script: obeys });
		const seat = await sit(newWorld(configFor(server)), [], { env: { NO_COLOR: "1" } });
		await seat.shows("new conversation");
		await seat.type("hello<ENTER>");
		const shown = await seat.shows(/const x = 1;[\s\S]*tokens in/);
		for (const line of ["# Hello", "Some **bold** words, `code`", "```ts"]) expect(shown).toContain(line);
		expect(seat.printed()).not.toMatch(SGR);
	});

	it("only adds lines on a dumb terminal: messages, questions, interrupts", async () => {
		await using server = await modelServer({ script: obeys });
		const seat = await sit(newWorld(configFor(server)), [], { env: { TERM: "dumb" }, rows: 60 });
		await seat.shows("Ctrl-D leaves");
		await seat.send("hello\r");
		await seat.shows("const x = 1;");
		await seat.send("run git push --force origin main\r");
		await seat.shows("(and why)");
		await seat.send("n not now\r");
		await seat.shows("Done: [blocked");
		await seat.send("slow one\r");
		await seat.shows("A slow answer");
		await seat.send("\x03");
		await seat.shows("Stopped.");
		await seat.send("ask me\r");
		await seat.shows("1-2, or your own words:");
		await seat.send("1\r");
		await seat.shows("Done: The user answers: db1");
		await seat.send("\x04");
		expect(await seat.ended()).toBe(0);
		expect(seat.printed()).not.toMatch(SGR);
		expect(seat.printed()).not.toMatch(MOVES);
	});

	it("takes the lines of a pipe one after the other, and gives answers as the model wrote them", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const { code, stdout, stderr } = await run(world, ["--quiet"], { input: "hello\n/title Piped\nrun echo one\nlast\n" });
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
		expect(stdout).toBe(`${HELLO}\nI will run it.\nDone: [exited, exit code 0] / one\nYou said: last\n`);
		expect(server.requests.map(({ said }) => said)).toEqual(["hello", "run echo one", "run echo one", "last"]);
		const told = await run(world, ["--quiet"], { input: "!!echo told\n/retry\nlast\n/quit\nnever\n" });
		expect(told).toMatchObject({ code: 0, stderr: "" });
		const ran = expect.stringMatching(/^I ran this command.*told\s*$/s);
		expect(server.requests.slice(4).map(({ said }) => said)).toEqual([ran, ran, "last"]); // each is answered before the next
		const asked = await run(world, ["--continue"], { input: "run git push --force origin main\n" });
		expect(asked.code).toBe(3);
		expect(asked.stdout).toMatch(/appr_[0-9a-f]{12}|\/approve [0-9a-f]{4}/);
		const binary = await run(world, ["--quiet"], { input: Buffer.from([0x7f, 0x45, 0, 0x0a, 0xfc, 0x0a, 0x6f, 0x6b, 0x0a]) });
		const refused = "holdfast-agent: a line of the input is no UTF-8 text, so it was not sent\n";
		expect(binary).toEqual({ code: 1, stdout: "You said: ok\n", stderr: refused.repeat(2) });
	});
});
