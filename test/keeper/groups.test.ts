/** Cgroups are made for the task that starts something, once, and for nothing else: making and removing one is a good part of what a start costs. */
import { expect, test } from "vitest";
import { Keepers } from "../../src/keeper/index.js";
import { testRuntime } from "../support/home.js";

test("starts of several tasks at once make the cgroups of each task once; a log makes none", async () => {
	const { home } = await testRuntime();
	const made: string[] = [];
	const group = (task: string) => {
		made.push(task);
		return undefined;
	};
	const keepers = new Keepers(home, undefined, undefined, { warm: 0, task: "other", group });
	const tasks = ["a", "b", "c", "d"];
	const prepare = () => {
		throw new Error("far enough");
	};
	const started = await Promise.allSettled(tasks.map((task) => keepers.launch(task, prepare)));
	expect(started.map(({ status }) => status)).toEqual(tasks.map(() => "rejected"));
	expect(made.sort()).toEqual(tasks);
	const log = await keepers.hold();
	await log.letGo();
	log.remove();
	expect(made).toHaveLength(tasks.length);
	await keepers.close();
});
