/** The properties of check.test.ts, far more often. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { seedOf } from "../support/seed.js";
import { judgedAlike, validBodies } from "./sequences.js";

it("makes 50,000 bodies of random conversations, none of which breaks a rule", () => {
	fc.assert(validBodies(), { numRuns: 50_000, seed: seedOf("conversations") });
}, 900_000);

it("judges 200,000 broken bodies as the model server does", () => {
	const judged = { valid: 0, broken: 0 };
	fc.assert(judgedAlike(judged), { numRuns: 200_000, seed: seedOf("broken conversations") });
	expect(Math.min(judged.valid, judged.broken)).toBeGreaterThan(20_000);
}, 900_000);
