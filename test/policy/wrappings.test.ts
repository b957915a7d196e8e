import { beforeAll, expect, test } from "vitest";
import { loadParser } from "../../src/policy/index.js";
import { seeded } from "../support/seed.js";
import { lowered, WRAPPED } from "./lowered.js";

beforeAll(loadParser);

test("a wrapping never lowers the decision about a command, and neither do two", () => {
	const random = seeded("wrappings");
	const sample = WRAPPED.once.filter(() => random() < 0.15);
	const twice = Array.from({ length: 100 }, () => WRAPPED.twice(random));
	expect(lowered([...sample, ...twice])).toEqual([]);
});
