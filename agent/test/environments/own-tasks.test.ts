import path from "node:path";
import { describe, expect, it } from "vitest";
import { loadTasks, type TaskItem } from "../../src/tasks/index.js";
import { dockerField, field, itemIn, OWN_TASKS, wordsOf } from "./support.js";

it("the built-in terminal test gives 1, 0.5 and 0 for exact, containing and other content", async () => {
	const { play } = await field();
	const { items } = loadTasks("terminal-test");
	const [greeting, count, sum] = items as [TaskItem, TaskItem, TaskItem];
	const all = await Promise.all([
		play(greeting, "echo Hello from Holdfast > greeting.txt"),
		play(count, "seq 1 20 > numbers.txt; echo done >> numbers.txt"),
		play(sum, "echo 500501 > answer.txt"),
	]);
	expect(all.map(({ how }) => how)).toEqual(["scored 1", "scored 0.5", "scored 0"]);
});

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
