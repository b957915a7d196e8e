import { expect, it } from "vitest";
import { bootstrap, mcnemar, passAtK, percentile, wilson } from "../../src/report/estimates.js";
import { numbersOf } from "../../src/report/index.js";
import { progressOf } from "../../src/run/index.js";
import { failed, items, result, scored, start } from "./rows.js";

it("rates, both denominators and sums equal a table that was worked out by hand, with the tokens of every attempt", () => {
	const rows = [start(0), result(0, scored(1)), start(1), result(1, scored(0), { seconds: 3 })];
	rows.push(start(2), { ...result(2, failed), t: "failed" } as (typeof rows)[number], start(2, 2), result(2, scored(1), { attempt: 2, seconds: 9 }));
	rows.push(start(3), result(3, failed), start(4), { t: "lost", at: "2026-01-01T00:01:00.000Z", index: 4, attempt: 1, ended: [] });
	const numbers = numbersOf(items(6), progressOf(rows));
	expect(numbers).toMatchObject({ episodes: 6, done: 4, scored: 3, errors: { place: 1 }, codes: { "place/unavailable": 1 }, repeated: 2, unknownUsage: 1 });
	expect(numbers.tokens).toEqual({ input: 50, output: 10, cached: 0 }); // five attempts that said what they used
	expect(numbers.mean?.value).toBeCloseTo(2 / 3);
	expect(numbers.solved?.value).toBeCloseTo(2 / 3);
	expect(numbers.solvedOfAll?.value).toBe(0.5);
	expect(numbers.solvedByAttempts).toEqual({ first: 0.5, repeated: 1 });
	expect(numbers.tools).toEqual([{ tool: "terminal", count: 8, failure: 4 }]);
	expect(numbers.wall).toEqual({ p50: 1, p90: 9, total: 14 });
	expect(numbers.took).toBe(60);
	expect(numbersOf(items(1), progressOf([]))).toMatchObject({ mean: null, solved: null, solvedOfAll: null, passAt: [], wall: null });
});

it("pass@k and Wilson are what the formulas give", () => {
	// 1 - C(7,k)/C(10,k): 0.3, 0.5333, 0.7083, and 1 when fewer than k have failed
	expect([1, 2, 3, 8].map((k) => passAtK(10, 3, k))).toEqual([expect.closeTo(0.3), expect.closeTo(1 - 21 / 45), expect.closeTo(1 - 35 / 120), 1]);
	expect(wilson(8, 10)).toMatchObject({ value: 0.8, low: expect.closeTo(0.4902, 4), high: expect.closeTo(0.9433, 4) });
	const rows = [1, 0, 0, 0, 1, 1].flatMap((reward, index) => [start(index), result(index, scored(reward))]);
	expect(numbersOf(items(2, 3), progressOf(rows)).passAt).toEqual([
		{ k: 1, rate: expect.closeTo(0.5) },
		{ k: 2, rate: expect.closeTo((2 / 3 + 1) / 2) },
		{ k: 3, rate: 1 },
	]);
});

it("the bootstrap is the same each time, and holds the mean between its bounds", () => {
	const values = Array.from({ length: 40 }, (_, at) => (at % 4 === 0 ? 1 : 0));
	const found = bootstrap(values);
	expect(found).toEqual(bootstrap(values));
	expect(found).toMatchObject({ value: 0.25, low: expect.closeTo(0.125, 1), high: expect.closeTo(0.375, 1) });
	expect(bootstrap([])).toBeUndefined();
	expect(bootstrap([0.5])).toEqual({ value: 0.5, low: 0.5, high: 0.5 });
});

it("McNemar's test counts both tails of the coin, exactly", () => {
	expect(mcnemar(0, 0)).toBe(1);
	expect(mcnemar(5, 0)).toBeCloseTo(2 / 32);
	expect(mcnemar(8, 2)).toBeCloseTo((2 * (1 + 10 + 45)) / 1024);
	expect(mcnemar(3, 3)).toBe(1);
	expect(mcnemar(900, 1_100)).toBeCloseTo(0.0000086, 5);
	expect(percentile([5, 1, 3], 0.5)).toBe(3);
});
