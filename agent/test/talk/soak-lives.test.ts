import fc from "fast-check";
import { expect, it } from "vitest";
import { openAgentHome } from "../../src/base/index.js";
import { memoryRoot, tempDir } from "../support/dirs.js";
import { seedOf } from "../support/seed.js";
import { lives, play } from "./support/life.js";

it("twenty thousand random lives of a conversation", { timeout: 3_600_000 }, async () => {
	const home = openAgentHome(tempDir("lives", memoryRoot()));
	let requests = 0;
	const life = fc.asyncProperty(lives(60), async (ops) => {
		requests += await play(home, ops);
	});
	await fc.assert(life, { numRuns: Number(process.env.LIVES ?? 20_000), seed: seedOf("lives") });
	console.log(`${requests} requests, each checked in four formats`);
	expect(requests).toBeGreaterThan(0);
});
