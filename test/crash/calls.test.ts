import { expect, test } from "vitest";
import { rounds } from "../support/seed.js";
import { killCallers } from "./calls-suite.js";

test("a call is found after its caller was killed: never, running or ended, and never wrongly", { timeout: 1_800_000 }, async () => {
	const seen = await killCallers(rounds(6, 120));
	console.log(JSON.stringify(seen, null, 1));
	expect(Object.keys(seen).some((key) => key.includes("ended"))).toBe(true);
});
