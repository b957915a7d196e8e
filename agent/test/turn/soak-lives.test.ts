import { expect, it } from "vitest";
import { randomLives } from "./lives.js";

it("makes none of 10,000 requests that breaks a rule of its format, runs no call twice, and loses no message", { timeout: 3_600_000 }, async () => {
	expect(await randomLives({ requests: 10_000 })).toBeGreaterThanOrEqual(10_000);
});
