/** watch_patterns: a notice when a line of output contains one of some strings; not too many. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { segmentName } from "../../src/keeper/layout.js";
import { tempDir, testRuntime, textOf, until } from "../support/home.js";
import type { Process, Runtime } from "../support/internal.js";
import { armedState, Listener, spawnArmed, TestClock, testNotices } from "./support.js";

const WINDOW = 15_000;

/** A process that prints what it is sent, and waits until the search has come past it. */
async function print(runtime: Runtime, process: Process, text: string): Promise<void> {
	const suppressed = armedState(runtime, process)?.limit.suppressed ?? 0;
	await process.write(text);
	await until("the match was counted", () => (armedState(runtime, process)?.limit.suppressed ?? 0) > suppressed);
}

test("a line with a pattern is told while the process runs, with where it is in the log", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "echo starting; cat" }, { watchPatterns: ["ready", "ERROR"] });
	await process.write("server ready on port 80, no ERROR\n");
	const [notice] = await listener.has(1);
	expect(notice).toMatchObject({ kind: "match", session_id: process.id, byte_offset: 9 });
	expect(notice?.text).toMatch(/^Background process proc_\w+ \(echo starting; cat\) printed 1 line with "ready":\nserver ready on port 80, no ERROR$/);
	expect(notice).not.toHaveProperty("exit_code");
	expect(process.status().status).toBe("running");
});

test("patterns are strings, not expressions; escape sequences and carriage returns are not in their way", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const command = String.raw`printf 'abc\nxa.c\r\n10%%\rdone: a\033[1m.\033[0mc\n'; read x`;
	const process = await spawnArmed(runtime, notices, { command }, { watchPatterns: ["a.c"] });
	await until("all is printed", () => textOf(process).endsWith("c\n"));
	const [notice] = await notices.take("default");
	expect(notice?.text.split("\n").slice(1)).toEqual(["xa.c", "done: a.c"]);
});

test("a prompt counts once it stands there, though its line has no end, and its line counts once", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "printf 'Continue? [y/n] '; cat" }, { watchPatterns: ["[y/n]", "second"] });
	expect((await listener.has(1))[0]?.text).toMatch(/\nContinue\? \[y\/n\]$/);
	clock.pass(WINDOW);
	await process.write("[y/n] is still the first line\nthe second\n");
	expect((await listener.has(2))[1]).toMatchObject({ text: expect.stringMatching(/ 1 line with "second":\nthe second$/), byte_offset: 46 });
});

test("a prompt counts also when the clock was set back since it was printed", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await runtime.spawn({ command: "printf 'Continue? [y/n] '; cat" });
	await until("it is printed", () => textOf(process).endsWith("] "));
	const tomorrow = Date.now() / 1000 + 86_400;
	fs.utimesSync(path.join(process.dir, segmentName(0)), tomorrow, tomorrow);
	notices.arm(process, { watchPatterns: ["[y/n]"] });
	expect((await new Listener(notices).has(1))[0]?.text).toMatch(/\nContinue\? \[y\/n\]$/);
});

test("of very many lines the first are shown and the others counted", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await runtime.spawn({ command: `for i in $(seq 1 500); do echo "hit $i"; done; read x` });
	await process.wait({ until: { pattern: "hit 500" }, timeout: 100_000 });
	notices.arm(process, { watchPatterns: ["hit"] });
	const [notice] = await notices.take("default");
	expect(notice).toMatchObject({ suppressed: 480 });
	const lines = notice?.text.split("\n") ?? [];
	expect(lines[0]).toMatch(/printed 500 lines with "hit":$/);
	expect(lines.slice(1, 21)).toEqual(Array.from({ length: 20 }, (_, index) => `hit ${index + 1}`));
	expect(lines.slice(21)).toEqual([`(480 lines more not shown; process(action="log", session_id="${process.id}", byte_offset=0) has them)`]);
});

test("long lines are cut around the match, and all of them together are not too long", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const long = `perl -e 'print "a" x 3000, "NEEDLE", "b" x 3000, "\\n" for 1..10; print "c" x 200000, "NEEDLE at the end of a very long line\\n"'`;
	await (await spawnArmed(runtime, notices, { command: long }, { watchPatterns: ["NEEDLE"] })).wait({ timeout: 100_000 });
	const [notice] = await notices.take("default");
	const lines = notice?.text.split("\n") ?? [];
	expect(lines[0]).toMatch(/printed 11 lines/);
	for (const line of lines.slice(1, -1)) expect(line).toMatch(/^…a+NEEDLEb+…$/);
	expect(lines.slice(1, -1).join("\n").length).toBeLessThanOrEqual(2000);
});

test("matches just before the end are told, those of leftover processes are not", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	const marker = path.join(tempDir(), "go");
	const late = `until [ -e '${marker}' ]; do sleep 0.02; done; echo hit two; exec sleep 600`;
	const process = await spawnArmed(runtime, notices, { command: `echo hit one; { ${late}; } & exit 0` }, { watchPatterns: ["hit"] });
	expect((await listener.has(1))[0]?.text).toMatch(/:\nhit one$/);
	await until("there is nothing more to tell", () => armedState(runtime, process) === undefined);
	fs.writeFileSync(marker, "");
	await until("it was printed", () => textOf(process).includes("hit two"));
	expect(await notices.take("default")).toEqual([]);
	expect(listener.kinds).toEqual(["match"]);
});

test("one notice in fifteen seconds; what came meanwhile is counted in the next", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "cat" }, { watchPatterns: ["hit"] });
	await process.write("hit 1\n");
	await listener.has(1);
	clock.pass(WINDOW - 1);
	await print(runtime, process, "hit 2\nhit 3\n");
	clock.pass(1);
	await process.write("hit 4\n");
	const [, second] = await listener.has(2);
	expect(second).toMatchObject({ kind: "match", suppressed: 2, byte_offset: 18 });
	expect(second?.text).toMatch(/:\nhit 4\n\(2 lines matched since the last notice and were not reported\.\)$/);
});

test("drops in three windows in a row switch the patterns off, with one explanation, and the end is told", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "cat" }, { watchPatterns: ["hit"] });
	for (let window = 1; window <= 3; window++) {
		await process.write("hit\n");
		await listener.has(window);
		await print(runtime, process, "hit again\n");
		clock.pass(WINDOW);
	}
	await process.write("hit once more\n");
	const disabled = (await listener.has(4))[3];
	expect(disabled).toMatchObject({ kind: "watch_disabled", suppressed: 2 });
	expect(disabled?.text).toMatch(/switched off now; 2 lines matched without being shown\. You get one notice when it ends/);
	clock.pass(WINDOW);
	await process.write("hit in vain\n");
	await process.closeStdin();
	await listener.has(5);
	expect(await notices.take("default")).toEqual([]);
	expect(listener.kinds).toEqual(["match", "match", "match", "watch_disabled", "completed"]);
});

test("a window without drops makes the count of strikes start again", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "cat" }, { watchPatterns: ["hit"] });
	for (const [index, drops] of [true, true, false, true, true].entries()) {
		await process.write("hit\n");
		await listener.has(index + 1);
		if (drops) await print(runtime, process, "hit again\n");
		clock.pass(WINDOW);
	}
	await process.write("hit\n");
	await listener.has(6);
	expect(listener.kinds).toEqual(Array(6).fill("match"));
});

test("after eight well-spaced notices comes one that says it was the last", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "cat" }, { watchPatterns: ["hit"] });
	for (let n = 1; n <= 10; n++) {
		await process.write(`hit ${n}\n`);
		if (n <= 9) await listener.has(n);
		clock.pass(WINDOW);
	}
	await process.closeStdin();
	await listener.has(10);
	expect(listener.kinds).toEqual([...Array(8).fill("match"), "watch_disabled", "completed"]);
	expect(listener.got[8]?.text).toMatch(/have led to 8 notices/);
});

test("too many processes at once: one notice says so, then silence, then one says how much was left out", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const listener = new Listener(notices);
	const processes: Process[] = [];
	for (let n = 0; n < 20; n++) processes.push(await spawnArmed(runtime, notices, { command: "cat" }, { watchPatterns: ["hit"] }));
	for (const process of processes) await process.write("hit\n");
	await until("all have been looked at", () => processes.every((process) => armedState(runtime, process)?.search.offset === 4));
	await listener.has(16);
	expect(listener.kinds).toEqual([...Array(15).fill("match"), "flood"]);
	expect(listener.got[15]).toMatchObject({ session_id: null, text: expect.stringMatching(/more than 15 notices in 10 s.*next 30 s.*No process has ended/) });
	clock.pass(29_999);
	await print(runtime, processes[0] as Process, "hit\n");
	expect(await notices.take("default")).toEqual([]);
	clock.pass(1);
	const over = (await listener.has(17))[16];
	expect(over).toMatchObject({
		kind: "flood_over",
		session_id: null,
		suppressed: 6,
		text: expect.stringMatching(/^Matches .* reported again\. 6 notices were left out/),
	});
	await processes.find((process) => armedState(runtime, process)?.limit.suppressed === 1)?.write("hit\n");
	expect((await listener.has(18))[17]).toMatchObject({ kind: "match", suppressed: 1 });
});

test("ends are told during a flood of matches", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime, new TestClock());
	const listener = new Listener(notices);
	for (let n = 0; n < 17; n++) await spawnArmed(runtime, notices, { command: "echo hit; cat" }, { watchPatterns: ["hit"] });
	await listener.has(16);
	await spawnArmed(runtime, notices, { command: "exit 9" }, { notifyOnComplete: true });
	expect((await listener.has(17))[16]).toMatchObject({ kind: "completed", exit_code: 9 });
});

test("output that the log has dropped before it could be searched is said to be missing", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await runtime.spawn({ command: "seq 1 200000; echo hit; read x", log: { limit: 64 * 1024 } });
	await process.wait({ until: { pattern: "hit" }, timeout: 100_000 });
	notices.arm(process, { watchPatterns: ["hit"] });
	const [notice] = await notices.take("default");
	expect(notice?.text).toMatch(/:\nhit\n\(\d+ bytes of its output had gone from the log before they could be searched\.\)$/);
});

test("a flood of output is searched in bounded time and memory, to the last line", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	await spawnArmed(runtime, notices, { command: "seq 1 3000000; echo the last hit; read x" }, { watchPatterns: ["hit"] });
	await until("it was found", () => listener.got.length > 0);
	expect(listener.got[0]?.text).toMatch(/:\nthe last hit$/);
});

test("with notify_on_complete patterns are dropped, and that is said", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await runtime.spawn({ command: "echo hit" });
	const { notes } = notices.arm(process, { notifyOnComplete: true, watchPatterns: ["hit"] });
	expect(notes).toEqual([expect.stringMatching(/^watch_patterns was ignored, because notify_on_complete was given too/)]);
	await process.wait({ timeout: 100_000 });
	expect((await notices.take("default")).map(({ kind }) => kind)).toEqual(["completed"]);
});

test.each([
	["an empty pattern", { watchPatterns: [""] }, /watchPatterns\[0\] is "", but must not be empty/],
	["a pattern with a line break", { watchPatterns: ["a\nb"] }, /within a line/],
	["a pattern that is too long", { watchPatterns: ["x".repeat(501)] }, /500/],
	["too many patterns", { watchPatterns: Array.from({ length: 21 }, String) }, /20/],
	["a pattern that is none", { watchPatterns: [42] }, /watchPatterns\[0\] is 42, but must be a string/],
	["a single string", { watchPatterns: "hit" }, /watchPatterns is "hit", but must be a list/],
	["an unknown wish", { colour: "red" }, /no key "colour"; there are checkInterval, notifyOnComplete, watchPatterns/],
	["a wish that is none", null, /notices: it is null, but must be an object/],
])("%s is refused", async (_what, wishes, message) => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await runtime.spawn({ command: "true" });
	expect(() => notices.arm(process, wishes as never)).toThrow(expect.objectContaining({ code: "INVALID", message: expect.stringMatching(message) }));
});
