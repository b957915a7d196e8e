import { expect, it } from "vitest";
import { randomLives } from "./lives.js";

it("makes no request that breaks a rule of its format, runs no call twice, and loses no message, in random lives", async () => {
	expect(await randomLives({ requests: 200 })).toBeGreaterThanOrEqual(200);
});
