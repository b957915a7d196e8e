import path from "node:path";
import { describe, expect, it } from "vitest";
import { dockerField, field, itemIn, OWN_TASKS, wordsOf } from "./support.js";

const TASKS = ["keeps-serving", "asks-twice", "mends-the-sum"];

describe("a task of our own gives the oracle 1.0 and nop 0.0", () => {
	it.each(TASKS)("in the sandbox: %s", async (name) => {
		const { play } = await field();
		const item = itemIn(path.join(OWN_TASKS, name));
		const [oracle, nop] = await Promise.all([play(item, "oracle"), play(item, "nop")]);
		expect([oracle.how, nop.how], wordsOf(oracle) + wordsOf(nop)).toEqual(["scored 1 tamperable", "scored 0 tamperable"]);
		expect([oracle.gone, nop.gone]).toEqual([true, true]);
	});

	it.for(["keeps-serving"])("in a container: %s (the others in the soak)", async (name, context) => {
		const { play } = await dockerField(context);
		const item = itemIn(path.join(OWN_TASKS, name));
		const [oracle, nop] = await Promise.all([play(item, "oracle"), play(item, "nop")]);
		expect([oracle.how, nop.how], wordsOf(oracle) + wordsOf(nop)).toEqual(["scored 1", "scored 0"]);
		expect([oracle.gone, nop.gone]).toEqual([true, true]);
	});
});
