import { beforeAll, expect, test } from "vitest";
import { loadParser } from "../../src/policy/index.js";
import { seeded } from "../support/seed.js";
import { lowered, WRAPPED } from "./lowered.js";

beforeAll(loadParser);

test("no wrapping lowers the decision about any of the commands, alone or in pairs", () => {
	const random = seeded("soak wrappings");
	expect(lowered(WRAPPED.once)).toEqual([]);
	expect(lowered(Array.from({ length: 10_000 }, () => WRAPPED.twice(random)))).toEqual([]);
}, 3_600_000);
