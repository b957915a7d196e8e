import { expect, test, vi } from "vitest";
import { AT_ONCE, Births } from "../../src/shell/births.js";
import { atEnd } from "../support/home.js";

const patience = (signal?: AbortSignal) => ({ signal, deadline: Number.POSITIVE_INFINITY });

/** Its time passes only when the test says so: a busy machine may stop a test for longer than a turn lasts. */
function testBirths() {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	atEnd(() => vi.useRealTimers());
	const closing = new AbortController();
	const births = new Births(closing.signal);
	const all = () => Promise.all(Array.from({ length: AT_ONCE }, () => births.turn(patience())));
	/** Whether a turn is there at once; it is given back. */
	const isFree = async (): Promise<boolean> => {
		const stop = new AbortController();
		const turn = births.turn(patience(stop.signal)).then(
			(end) => {
				end();
				return true;
			},
			() => false,
		);
		await new Promise(setImmediate);
		stop.abort();
		return turn;
	};
	return { closing, births, all, isFree };
}

test("a turn goes to the longest waiter; ending it twice releases it once", async () => {
	const { births, all, isFree } = testBirths();
	const [first, second, ...rest] = await all();
	const order: string[] = [];
	const wait = async (name: string) => {
		const end = await births.turn(patience());
		order.push(name);
		return end;
	};
	const waiting = [wait("a"), wait("b"), wait("c")];
	first?.();
	first?.();
	await waiting[0];
	await new Promise(setImmediate);
	expect(order).toEqual(["a"]);
	second?.();
	(await waiting[0])?.();
	for (const end of [...rest, ...(await Promise.all(waiting))]) end();
	expect(order).toEqual(["a", "b", "c"]);
	for (const end of await all()) end();
	expect(await isFree()).toBe(true);
});

test("a waiter that gives up has no turn, and blocks no other", async () => {
	const { births, all, isFree } = testBirths();
	const turns = await all();
	expect(await isFree()).toBe(false);
	for (const end of turns) end();
	const others = await Promise.all(turns.slice(1).map(() => births.turn(patience())));
	expect(await isFree()).toBe(true);
	for (const end of others) end();
});

test("a birth that takes long lets the next one begin", async () => {
	const { births, all, isFree } = testBirths();
	const turns = await all();
	const next = births.turn(patience());
	vi.advanceTimersByTime(1_000);
	const end = await next;
	for (const end of turns) end(); // they are over by now, and give nothing back
	const others = await Promise.all(turns.slice(1).map(() => births.turn(patience())));
	expect(await isFree()).toBe(false);
	for (const one of others) one();
	end();
});

test("a birth that still waits when the runtime closes does not begin", async () => {
	const { births, closing, all } = testBirths();
	const [first] = await all();
	const waiting = births.turn(patience());
	closing.abort();
	first?.();
	await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
});
