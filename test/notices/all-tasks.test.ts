/** Notices of all tasks in one stream. */
import fs from "node:fs";
import { expect, test } from "vitest";
import { testRuntime, until } from "../support/home.js";
import { Listener, spawnArmed, taskDir, testNotices } from "./support.js";

const NOTIFY = { notifyOnComplete: true };

test("one stream has the notices of every task, also of tasks that come later; each goes to one", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const early = await spawnArmed(runtime, notices, { command: "true", task: "early" }, NOTIFY);
	const all = new Listener(notices, undefined, { all: true });
	await all.has(1);
	const late = await spawnArmed(runtime, notices, { command: "true", task: "late" }, NOTIFY);
	await all.has(2);
	await until("nothing is left to look after", () => !fs.readdirSync(taskDir(runtime, "late")).some((name) => /^(armed|notice|taken)\./.test(name)));
	const again = await spawnArmed(runtime, notices, { command: "exit 3", task: "late" }, NOTIFY); // its directory is there already
	expect((await all.has(3)).map(({ session_id, task }) => [session_id, task])).toEqual([
		[early.id, "early"],
		[late.id, "late"],
		[again.id, "late"],
	]);
	await all.stop();
	expect([await notices.take("early"), await notices.take("late")]).toEqual([[], []]);
});

test("what is only shown is shown while another has it in hand, and stays for its task", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const shown = new Listener(notices, undefined, { all: true, leave: true });
	const { id } = await spawnArmed(runtime, notices, { command: "true", task: "t" }, NOTIFY);
	expect(await shown.has(1)).toMatchObject([{ session_id: id }]);
	expect(await notices.take("t")).toMatchObject([{ session_id: id }]);
	const mine = new Listener(notices, "t"); // it has each in hand for a moment only
	const second = await spawnArmed(runtime, notices, { command: "true", task: "t" }, NOTIFY);
	expect(await mine.has(1)).toMatchObject([{ session_id: second.id }]);
	expect((await shown.has(2))[1]).toMatchObject({ session_id: second.id });
	await mine.stop();
	const third = await spawnArmed(runtime, notices, { command: "read x", task: "t" }, NOTIFY);
	const other = await testRuntime({ home: runtime.home.root });
	const theirs = new Listener(testNotices(other), "t"); // another program hands them out: the one that only shows them gives way
	await third.write("\n");
	expect(await theirs.has(1)).toMatchObject([{ session_id: third.id }]);
	await Promise.all([shown.stop(), theirs.stop()]);
});

test("a stream with a wrong option is refused", async () => {
	const notices = testNotices(await testRuntime());
	for (const bad of [{ task: "" }, { task: 7 }, { leave: "yes" }, { signal: {} }, { tasks: ["t"] }, null, 7])
		expect(() => notices.stream(bad as never), JSON.stringify(bad)).toThrow(/^notices\.stream: /);
});
