/** Questions about commands, asked where messages are typed. */
import { openRuntime } from "holdfast";
import { describe, expect, it } from "vitest";
import { modelServer } from "../model-server/index.js";
import { obeys } from "../support/obeys.js";
import { configFor, newWorld, sit } from "../support/seat.js";

const PUSH = "run git push --force origin main";

describe("a command that needs a person", () => {
	it("is asked about in place: once, no with a reason, and what was typed stays", async () => {
		await using server = await modelServer({ script: obeys });
		const seat = await sit(newWorld(configFor(server)), []);
		await seat.shows("new conversation");
		await seat.type(`${PUSH}<ENTER>what I was`);
		const asked = await seat.shows("[n]o (and why)");
		expect(asked).toMatch(/May this run\? In \S+work\n +git push --force origin main\n +it overwrites .*\(force-push\)/);
		await seat.type("once more please<ENTER>"); // no answer: it was meant as a message
		await seat.shows("What you typed is kept for later.");
		expect(server.requests).toHaveLength(1);
		await seat.type("n not on main<ENTER>");
		const shown = await seat.shows("Done: [blocked");
		expect(shown).toContain("Refused: not on main");
		expect(shown).toMatch(/› what I was\n +once more please/);
		expect(server.requests[1]?.results[0]?.text).toContain('They say: "not on main"');
		await seat.type(`<CTRL+C>${PUSH}<ENTER>`);
		await seat.shows("[n]o (and why)");
		await seat.type("o<ENTER>");
		await seat.shows(/Allowed once[\s\S]*Done: \[exited, exit code 128\]/);
	});

	it("can be answered by another program, and by a command; Esc takes the question back", async () => {
		await using server = await modelServer({ script: obeys });
		const world = newWorld(configFor(server));
		const seat = await sit(world, []);
		await seat.shows("new conversation");
		await seat.type(`${PUSH}<ENTER>`);
		await seat.shows("[n]o (and why)");
		await using runtime = await openRuntime({ home: world.env.HOLDFAST_HOME as string, warm: 0 });
		const [first] = runtime.approvals.list();
		await runtime.approvals.answer(first?.id ?? "", { answer: "no", by: "the page, Jo", message: "busy" });
		await seat.shows("Answered by the page, Jo: no.");
		await seat.shows("Done: [blocked");
		await seat.type(`${PUSH}<ENTER>`);
		await seat.shows(/Done: \[blocked[\s\S]*\[n\]o \(and why\)/);
		await seat.type("<ESC>");
		await seat.shows(/stopped/i);
		expect(runtime.approvals.list()).toEqual([]);
		await seat.type("/deny<ENTER>");
		await seat.shows("no question waits for an answer");
	});
});
