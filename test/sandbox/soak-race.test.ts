import { expect, test } from "vitest";
import { noExchange } from "../support/exchange.js";
import { noSandbox } from "../support/sandbox.js";
import { raceInSandbox } from "./race.js";

test.skipIf(noExchange || noSandbox !== undefined)("2,000 rounds of uploads and downloads do not leave the sandbox", { timeout: 7_200_000 }, async () => {
	const { made, refused } = await raceInSandbox(2_000);
	console.log(`${made} copies, ${refused} refused`);
	expect(made).toBeGreaterThan(100);
	expect(refused).toBeGreaterThan(100);
});
