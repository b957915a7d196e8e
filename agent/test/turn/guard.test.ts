import { expect, it } from "vitest";
import { agentConfigSchema } from "../../src/base/index.js";
import { Guard } from "../../src/turn/guard.js";

const { limits } = agentConfigSchema.parse({});

it("notes the fifth equal call with an equal result, once, and stops the eighth", () => {
	const guard = new Guard(limits);
	const said = Array.from({ length: 8 }, () => guard.called("terminal", '{"command":"ls"}', "same"));
	expect(said.map(({ note, stop }) => (stop ? "stop" : note ? "note" : ""))).toEqual(["", "", "", "", "note", "", "", "stop"]);
	expect(said[4]?.note).toContain("same call of terminal 5 times");
	expect(said[7]?.stop).toMatchObject({ why: "loop" });
});

it("lets a call be made again and again whose result changes, and finds a loop of two calls", () => {
	const guard = new Guard(limits);
	for (let n = 0; n < 50; n++) expect(guard.called("process", "{}", `line ${n}`)).toEqual({});
	const two = Array.from({ length: 16 }, (_, n) => guard.called(n % 2 ? "a" : "b", "{}", "same"));
	expect(two.at(-1)?.stop).toMatchObject({ why: "loop" });
});

it("stops after ninety steps", () => {
	const guard = new Guard(limits);
	const stops = Array.from({ length: 91 }, () => guard.step());
	expect(stops.slice(0, 90)).toEqual(Array.from({ length: 90 }, () => undefined));
	expect(stops[90]).toMatchObject({ why: "steps", text: expect.stringContaining("90 steps") });
});

it("takes an empty answer once again, then with a note, then ends the turn", () => {
	const guard = new Guard(limits);
	expect(guard.answered(true)).toEqual({});
	expect(guard.answered(true)).toEqual({ note: expect.stringContaining("empty") });
	expect(guard.answered(true)).toEqual({ stop: expect.objectContaining({ why: "empty" }) });
	const other = new Guard(limits);
	other.answered(true);
	other.answered(false);
	expect(other.answered(true)).toEqual({});
});
