import { expect, it } from "vitest";
import { inLanes } from "../../src/base/lanes.js";

it("acts on all, and on no more at a time than it may", async () => {
	const done: number[] = [];
	let [now, most] = [0, 0];
	await inLanes([...Array(20).keys()], 3, async (one) => {
		most = Math.max(most, ++now);
		await new Promise(setImmediate);
		now--;
		done.push(one);
	});
	expect(done.sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
	expect(most).toBe(3);
	await inLanes([], 3, () => Promise.reject(new Error("nothing to act on")));
});

it("rejects with the first failure once nothing is under way, and begins no more", async () => {
	const begun: number[] = [];
	let over = false;
	const acting = inLanes([0, 1, 2, 3], 2, async (one) => {
		begun.push(one);
		if (one === 0) throw new Error("no");
		await new Promise((resolve) => setTimeout(resolve, 20));
		over = true;
	});
	await expect(acting).rejects.toThrow("no");
	expect(over).toBe(true);
	expect(begun).toEqual([0, 1]);
});
