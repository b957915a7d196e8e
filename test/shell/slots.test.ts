import { expect, test, vi } from "vitest";
import { namesIn } from "../../src/base/index.js";
import type { Machine } from "../../src/places/machine.js";
import type { Slot } from "../../src/shell/slot.js";
import { Slots } from "../../src/shell/slots.js";
import { openSettledAgent } from "../../src/tools/index.js";
import { atEnd, endAll, tempDir, testRuntime, until } from "../support/home.js";
import { testShell } from "./harness.js";

test("a slot that is made while idle ones are given up is there for the next command, and closes with the others", async () => {
	const runtime = await testRuntime();
	let go = () => {};
	let making: Promise<void> = Promise.resolve();
	let waits = false;
	const { local } = runtime;
	const hold: Machine["keepers"]["hold"] = async (...args) => {
		waits = true;
		await making;
		return local.keepers.hold(...args);
	};
	const machine: Machine = Object.create(local, { keepers: { value: { hold } } });
	const slots = new Slots(
		() => machine,
		() => runtime.boundaries,
		{ deadlines: runtime.home.deadlines, ahead: true },
	);
	atEnd(() => slots.close());
	const many = await Promise.all(Array.from({ length: 4 }, () => slots.take()));
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
	atEnd(() => vi.useRealTimers());
	for (const slot of many) slots.giveBack(slot); // more than are kept for long
	for (const _ of many) slots.takeReady(); // and all are at work again
	making = new Promise((resolve) => {
		go = resolve;
	});
	waits = false;
	slots.fill();
	for (let turns = 0; !waits && turns < 100; turns++) await new Promise(setImmediate);
	expect(waits).toBe(true);
	vi.advanceTimersByTime(10_000); // the idle ones are looked for
	vi.useRealTimers();
	go();
	let made: Slot | undefined;
	await until("the slot is ready", () => {
		made = slots.takeReady();
		return made !== undefined;
	});
	for (const slot of [...many, made as Slot]) slots.giveBack(slot);
});

test("a command whose end another program notes before its answer is in no list afterwards, and in the transcript", async () => {
	const { shells, runtime, task } = await testShell();
	const result = await shells.run({ task, command: "echo seen", timeoutMs: 30_000, onTimeout: "kill" });
	expect(result.process.status().status).toBe("exited"); // notes its end, as any list of another program does
	expect(runtime.list({ task }).map(({ id }) => id)).toEqual([result.process.id]);
	result.release();
	const lists: string[][] = [];
	await until("it is in the transcript", () => {
		lists.push(runtime.list({ task }).map(({ id }) => id));
		return namesIn(runtime.home.ended).some((hour) => runtime.registry.ended(hour).some((ticket) => ticket.ranges));
	});
	lists.push(runtime.list({ task }).map(({ id }) => id));
	expect(lists.flat()).toEqual([]);
});

test("a runtime that does one thing and ends makes the slot of its command and no other", async () => {
	const opened = await openSettledAgent({ home: tempDir("home"), warm: 0, once: true });
	atEnd(() => endAll(opened));
	const { shells, runtime, task } = await testShell(opened);
	const made = vi.spyOn(runtime.local.keepers, "hold");
	shells.prepare(task);
	(await shells.run({ task, command: "true", timeoutMs: 30_000, onTimeout: "kill" })).release();
	await shells.close();
	expect(made).toHaveBeenCalledTimes(1);
});
