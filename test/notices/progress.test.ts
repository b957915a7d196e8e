/** check_interval: what was printed since the last report, every so many seconds. */
import { expect, test } from "vitest";
import { testRuntime, until } from "../support/home.js";
import { armedState, Listener, spawnArmed, TestClock, testNotices } from "./support.js";

test("new output is reported every interval, and silence is not", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "echo one; cat" }, { checkInterval: 60 });
	await process.wait({ until: { pattern: "one" }, timeout: 100_000 });
	clock.pass(59_999);
	expect(await notices.take("default")).toEqual([]);
	clock.pass(1);
	const [first] = await listener.has(1);
	expect(first).toMatchObject({ kind: "progress", session_id: process.id, byte_offset: 0 });
	expect(first?.text).toMatch(/^Background process proc_\w+ \(echo one; cat\) still runs after (\d+ s|1 min 0 s)\. New output:\none$/); // the clock began before the process did
	clock.pass(60_000);
	expect(await notices.take("default")).toEqual([]); // nothing new
	await process.write("two\n");
	await process.wait({ until: { pattern: "two" }, timeout: 100_000 });
	expect(await notices.take("default")).toEqual([]); // not yet
	clock.pass(60_000);
	expect((await listener.has(2))[1]).toMatchObject({ kind: "progress", byte_offset: 4, text: expect.stringMatching(/New output:\ntwo$/) });
});

test("reports stop at the end, which is told only if that was asked for", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const listener = new Listener(notices);
	const quiet = await spawnArmed(runtime, notices, { command: "echo one" }, { checkInterval: 60 });
	const both = await spawnArmed(runtime, notices, { command: "echo one" }, { checkInterval: 60, notifyOnComplete: true });
	await until("there is nothing more to tell", () => !armedState(runtime, quiet) && !armedState(runtime, both));
	clock.pass(120_000);
	expect(await notices.take("default")).toEqual([]);
	expect(listener.got).toMatchObject([{ kind: "completed", session_id: both.id }]);
});

test("a report shows the last lines of what is new, whole", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const process = await spawnArmed(runtime, notices, { command: "seq 1 1000; read x" }, { checkInterval: 30 });
	await process.wait({ until: { pattern: "^1000$" }, timeout: 100_000 });
	clock.pass(30_000);
	const [notice] = await notices.take("default"); // nobody listens: it is found by who asks
	const shown = notice?.text.split("\n").slice(1) ?? [];
	expect(shown.join("\n").length).toBeLessThanOrEqual(1000);
	expect(shown).toEqual(Array.from({ length: shown.length }, (_, index) => String(1001 - shown.length + index)));
	expect(notice?.text).toMatch(/New output, from byte \d+ of 3893 on; process\(action="log", session_id="proc_\w+"\) has more:/);
});

test.each([1, 29])("an interval of %i seconds is raised to 30, and that is said", async (checkInterval) => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const process = await runtime.spawn({ command: "echo one; read x" });
	expect(notices.arm(process, { checkInterval })).toEqual({
		notes: [],
		check_interval_note: `check_interval was raised from ${checkInterval} to 30 seconds, the shortest there is.`,
	});
	await process.wait({ until: { pattern: "one" }, timeout: 100_000 });
	clock.pass(29_999);
	expect(await notices.take("default")).toEqual([]);
	clock.pass(1);
	expect(await notices.take("default")).toHaveLength(1);
});

test.each([0, -30, 1.5, "60", Number.NaN])("an interval of %s is refused", async (checkInterval) => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await runtime.spawn({ command: "true" });
	expect(() => notices.arm(process, { checkInterval: checkInterval as number })).toThrow(
		expect.objectContaining({ code: "INVALID", message: expect.stringMatching(/^notices: checkInterval is .*, but must be /) }),
	);
});
