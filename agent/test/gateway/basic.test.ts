/** A message in, a turn, an answer out. */
import { expect, test, vi } from "vitest";
import { calls } from "../model-server/index.js";
import { until } from "../support/dirs.js";
import { DoublePlatform } from "./fixtures/double.mjs";
import { gateWorld } from "./support.js";

test("a message is answered in its chat, and acknowledged once it is stored", async () => {
	const world = await gateWorld({ script: ["Hello Jo.", "Hello again."] });
	await world.start();
	world.chats.write("hi");
	await world.shows("Hello Jo.");
	world.chats.write("again");
	await world.shows("Hello again.");
	await until("both are acknowledged", () => world.chats.acknowledged === 2);
	expect(world.chats.in().map(({ text, rings }) => [text, rings])).toEqual([
		["Hello Jo.", true],
		["Hello again.", true],
	]);
	expect(world.problems).toEqual([]);
});

test("a tool runs in the chat's own task, and its children know the chat", async () => {
	const world = await gateWorld({ script: [calls(["terminal", { command: "echo session $HOLDFAST_SESSION" }]), "Done."] });
	await world.start();
	world.chats.write("who am I?");
	await world.shows("Done.");
	expect(world.model.requests[1]?.results[0]?.text).toContain("session agent/tele/direct/c1");
});

test("a platform is told which message was stored last in each chat, so that it can ask for those behind it", async () => {
	const run = vi.spyOn(DoublePlatform.prototype, "run");
	const world = await gateWorld({ script: ["Hello Jo.", "Hello again."] });
	const gateway = await world.start();
	expect(run.mock.calls[0]?.[2]).toEqual([]);
	world.chats.write("hi");
	await world.shows("Hello Jo.");
	await until("it is acknowledged", () => world.chats.acknowledged === 1);
	await gateway.stop();
	await world.start();
	expect(run.mock.calls[1]?.[2]).toEqual([
		{ chat: expect.objectContaining({ id: "c1", kind: "direct" }), message: expect.any(String), at: expect.any(Number) },
	]);
});
