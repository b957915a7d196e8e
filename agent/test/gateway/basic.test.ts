/** A message in, a turn, an answer out. */
import { expect, test, vi } from "vitest";
import { Chat } from "../../src/gateway/chat.js";
import { calls } from "../model-server/index.js";
import { atEnd, until } from "../support/dirs.js";
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

test("a start goes on with what was left before it connects", async () => {
	let goOn = (): void => {};
	const held = new Promise<string>((resolve) => (goOn = () => resolve("Too late.")));
	const world = await gateWorld({ script: ({ n }) => (n === 1 ? held : "Hello Jo.") });
	atEnd(goOn);
	const first = await world.start();
	world.chats.write("hi");
	await world.model.arrived(1);
	await first.stop();
	const order: string[] = [];
	const { recover } = Chat.prototype;
	const spies = [
		vi.spyOn(Chat.prototype, "recover").mockImplementation(async function (this: Chat) {
			await recover.call(this);
			order.push(this.conversation === undefined ? "nothing was opened" : "the conversation is open");
		}),
		vi.spyOn(DoublePlatform.prototype, "run").mockImplementationOnce(async () => void order.push("connects")),
	];
	atEnd(() => spies.map((spy) => spy.mockRestore()));
	await world.start();
	await world.model.arrived(2);
	expect(order).toEqual(["the conversation is open", "connects"]);
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
