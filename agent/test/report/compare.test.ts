import { expect, it } from "vitest";
import { compareRuns } from "../../src/report/index.js";
import { progressOf, type RunItem } from "../../src/run/index.js";
import { failed, items, result, scored, start } from "./rows.js";

const runOf = (all: readonly RunItem[], rewards: readonly (number | null)[], cost?: number) => ({
	items: all,
	progress: progressOf(
		rewards.flatMap((reward, index) => [start(index), result(index, reward === null ? failed : scored(reward), cost === undefined ? {} : { cost })]),
	),
});

it("two runs are paired by key and digest; flips, what cannot be compared and what is in one alone are named", () => {
	const first = runOf(items(5), [1, 0, 1, 0, 1], 0.01);
	const others = items(5).map((item) => ({ ...item, ...(item.index === 3 ? { digest: "changed" } : {}), ...(item.index === 4 ? { key: "new" } : {}) }));
	const second = runOf(others, [0, 1, null, 1, 1], 0.03);
	const found = compareRuns(first, second);
	expect(found.better.map(({ key }) => key)).toEqual(["k1"]);
	expect(found.worse).toEqual([{ key: "k0", repeat: 0, first: { index: 0, reward: 1 }, second: { index: 0, reward: 0 } }]);
	expect(found).toMatchObject({ pairs: 2, p: 1, onlyFirst: ["k4"], onlySecond: ["new"], changed: ["k3"] });
	expect(found.unscored).toEqual([{ key: "k2", repeat: 0, first: "scored", second: "error: place/unavailable" }]);
	expect(found.reward?.value).toBe(0);
	expect(found.cost?.value).toBeCloseTo(0.02);
	expect(compareRuns(first, runOf(items(5), [1, 0, 1, 0, 1])).cost).toBeNull(); // one of them has no prices
});

it("a run has no flips against itself, whatever the order of its items", () => {
	const run = runOf(items(3, 2), [1, 0, 1, 1, 0, 0]);
	expect(compareRuns(run, run)).toMatchObject({ pairs: 6, better: [], worse: [], p: 1, unscored: [], onlyFirst: [], onlySecond: [], changed: [] });
});
