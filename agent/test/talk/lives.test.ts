/** Random lives of a conversation: whatever happens, every request is valid in every format and every accepted message is there once. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { openAgentHome } from "../../src/base/index.js";
import { memoryRoot, tempDir } from "../support/dirs.js";
import { seedOf } from "../support/seed.js";
import { lives, play } from "./support/life.js";
import { MISTAKES } from "./support/mistakes.js";

const home = () => openAgentHome(tempDir("lives", memoryRoot()));

it("a thousand random lives: each request is valid in each format, each accepted message is in log or inbox exactly once", async () => {
	const at = home();
	let requests = 0;
	await fc.assert(
		fc.asyncProperty(lives(25), async (ops) => {
			requests += await play(at, ops);
		}),
		{ numRuns: 1_000, seed: seedOf("lives") },
	);
	expect(requests).toBeGreaterThan(2_000);
});

for (const [name, mistake] of Object.entries(MISTAKES))
	it(`a mistake is found within 200 lives: ${name}`, async () => {
		const at = home();
		const found = await fc.check(
			fc.asyncProperty(lives(50), async (ops) => {
				await play(at, ops, mistake);
			}),
			{ numRuns: 200, seed: 1, endOnFailure: true },
		);
		expect(found.failed).toBe(true);
		const [ops] = found.counterexample ?? [[]];
		await play(at, ops); // and it is the mistake that was found, not another
	});
