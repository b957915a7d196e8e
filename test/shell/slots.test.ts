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
		{ deadlines: runtime.home.deadlines, ahead: true, atOnce: 4 },
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

/** Slots of which two are made at a time, and each only when the test says so: until `letAll`, which also answers what is asked for later. */
async function madeByHand() {
	const runtime = await testRuntime();
	const { local } = runtime;
	const asked: { resolve(): void; fail(): void }[] = [];
	let all = false;
	const letAll = () => {
		all = true;
		for (const one of asked) one.resolve();
	};
	const hold: Machine["keepers"]["hold"] = async (...args) => {
		await new Promise<void>((resolve, reject) => {
			asked.push({ resolve, fail: () => reject(new Error("no room")) });
			if (all) resolve();
		});
		return local.keepers.hold(...args);
	};
	const machine: Machine = Object.create(local, { keepers: { value: { hold } } });
	const slots = new Slots(
		() => machine,
		() => runtime.boundaries,
		{ deadlines: runtime.home.deadlines, ahead: false, atOnce: 2 },
	);
	atEnd(() => {
		letAll(); // a busy machine may take more than a second for one, and then another is asked for
		return slots.close();
	});
	return { slots, asked };
}

test("commands that come at once pass on the slots that others give back, in order, and few new ones are made", async () => {
	const { slots, asked } = await madeByHand();
	const order: number[] = [];
	const taken = Array.from({ length: 6 }, (_, at) =>
		slots.take().then((slot) => {
			order.push(at);
			return slot;
		}),
	);
	await until("two are being made", () => asked.length === 2);
	for (const one of asked) one.resolve();
	const [first, second] = await Promise.all(taken.slice(0, 2));
	await until("two more are being made", () => asked.length >= 4);
	slots.giveBack(first as Slot);
	slots.giveBack(second as Slot);
	expect(await Promise.all(taken.slice(2, 4))).toEqual([first, second]);
	slots.giveBack(first as Slot);
	slots.giveBack(second as Slot);
	expect(await Promise.all(taken.slice(4))).toEqual([first, second]);
	expect(order).toEqual([0, 1, 2, 3, 4, 5]);
	slots.giveBack(first as Slot);
	slots.giveBack(second as Slot);
});

test("a slot that cannot be made is the failure of one waiting command; one that is long in the making holds up no other", async () => {
	const { slots, asked } = await madeByHand();
	const taken = Array.from({ length: 3 }, () => slots.take());
	const results = Promise.allSettled(taken);
	await until("two are being made", () => asked.length === 2);
	asked[0]?.fail();
	await expect(taken[0]).rejects.toThrow("no room");
	await until("one more is being made, and after a second another", () => asked.length >= 4);
	for (const one of asked.slice(2)) one.resolve();
	const [, ...others] = await results; // though the second is still in the making
	expect(others.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
	asked[1]?.resolve();
	for (const one of others) slots.giveBack((one as PromiseFulfilledResult<Slot>).value);
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
