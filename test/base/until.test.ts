import { expect, it } from "vitest";
import { until, watchAll, watchEnd } from "../../src/base/until.js";

/** Something to watch that tells when it is told to, and how many watch it. */
function source() {
	const pokes = new Set<() => void>();
	return {
		watch: (poke: () => void) => {
			pokes.add(poke);
			return () => pokes.delete(poke);
		},
		tell: () => {
			for (const poke of pokes) poke();
		},
		watchers: () => pokes.size,
	};
}

it("finds at once what is there, and watches no longer", async () => {
	const { watch, watchers } = source();
	expect(await until(watch, () => "there")).toBe("there");
	expect(watchers()).toBe(0);
});

it("looks again with each word, and finds what came between two looks", async () => {
	const { watch, tell } = source();
	let count = 0;
	const found = until(watch, () => {
		count++;
		if (count === 1) tell(); // while the first look is under way
		return count === 3 ? count : undefined;
	});
	setImmediate(tell);
	expect(await found).toBe(3);
});

it("takes a last look at the deadline and at an abort, and answers undefined", async () => {
	const { watch, watchers } = source();
	let looks = 0;
	const look = () => {
		looks++;
		return undefined;
	};
	expect(await until(watch, look, { deadline: performance.now() })).toBe(undefined);
	expect(looks).toBe(1);
	const stop = new AbortController();
	const aborted = until(watch, look, { signal: stop.signal });
	stop.abort();
	expect(await aborted).toBe(undefined);
	expect(looks).toBe(3);
	expect(await until(watch, () => "late", { deadline: 0 })).toBe("late");
	expect(watchers()).toBe(0);
});

it("what a look throws ends the wait and the watch", async () => {
	const { watch, watchers } = source();
	const look = () => {
		throw new Error("broken");
	};
	await expect(until(watch, look)).rejects.toThrow("broken");
	expect(watchers()).toBe(0);
});

it("watches several things and the end of a promise; `every` looks without word", async () => {
	const { watch, watchers } = source();
	let end = () => {};
	const ended = new Promise<void>((resolve) => {
		end = resolve;
	});
	let over = false;
	const found = until(watchAll(watch, watchEnd(ended)), () => over || undefined);
	over = true;
	end();
	expect(await found).toBe(true);
	let looks = 0;
	expect(await until(watch, () => (++looks === 3 ? looks : undefined), { every: 1 })).toBe(3);
	expect(watchers()).toBe(0);
});

it("how long it waits without word may differ from look to look", async () => {
	const asked: number[] = [];
	let looks = 0;
	const every = () => {
		asked.push(looks);
		return looks === 1 ? 1 : 2;
	};
	expect(await until(source().watch, () => (++looks === 3 ? "found" : undefined), { every })).toBe("found");
	expect(asked).toEqual([1, 2]);
});
