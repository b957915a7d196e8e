/** notify_on_complete: one notice of the end, unless the agent has heard of it otherwise. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { isAlive } from "../../src/base/proc.js";
import { readParts } from "../../src/keeper/layout.js";
import { Shells } from "../../src/shell/index.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import type { Process } from "../support/internal.js";
import { armedState, Listener, spawnArmed, taskDir, testNotices } from "./support.js";

const NOTIFY = { notifyOnComplete: true };

test("an end is told once, with code, duration and the last lines", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "seq 1 2000; exit 7" }, NOTIFY);
	const [notice] = await listener.has(1);
	expect(notice).toMatchObject({ kind: "completed", task: "default", session_id: process.id, status: "exited", exit_code: 7, signal: null });
	expect(notice?.text).toMatch(
		/^Background process proc_\w+ \(seq 1 2000; exit 7\) ended after [\d.]+ s with exit code 7\. Its last output, from byte \d+ of 8893 on;/,
	);
	const shown = notice?.text.split("\n").slice(1) ?? [];
	expect(shown.at(-1)).toBe("2000");
	expect(shown).toEqual(Array.from({ length: shown.length }, (_, index) => String(2001 - shown.length + index))); // whole lines, none missing
	expect(shown.join("\n").length).toBeLessThanOrEqual(2000);
	expect(process.read(notice?.byte_offset as number).bytes.toString()).toBe(`${shown.join("\n")}\n`);
	expect(await notices.take("default")).toEqual([]);
	expect(listener.got).toHaveLength(1);
	expect(fs.readdirSync(taskDir(runtime)).filter((name) => !name.startsWith("owner."))).toEqual([]);
});

test("what ends at once is never missed", async () => {
	const runtime = await testRuntime({ warm: 2 });
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	const ids: string[] = [];
	for (let n = 0; n < 100; n++) ids.push((await spawnArmed(runtime, notices, { command: "exit 3" }, NOTIFY)).id);
	await listener.has(100);
	expect(await notices.take("default")).toEqual([]);
	expect(listener.got.map(({ session_id, exit_code }) => [session_id, exit_code]).sort()).toEqual(ids.map((id) => [id, 3]).sort());
});

test("asking for notices after the end gets one too", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await runtime.spawn({ command: "echo gone" });
	await process.wait({ timeout: 100_000 });
	expect(notices.arm(process, NOTIFY)).toEqual({ notes: [] });
	expect(await notices.take("default")).toMatchObject([{ kind: "completed", text: expect.stringMatching(/exit code 0\. Its last output:\ngone$/) }]);
	expect(await notices.take("default")).toEqual([]);
});

test("a grandchild that holds the output does not hold up the notice, and what it prints later is not in it", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	await spawnArmed(runtime, notices, { command: "echo x; sleep 600 & exit 0" }, NOTIFY);
	expect(await listener.has(1)).toMatchObject([{ kind: "completed", exit_code: 0, text: expect.stringMatching(/:\nx$/) }]);
});

test("a command that went on in the background and then ends its shell is told of at once", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const shells = new Shells(runtime);
	atEnd(() => shells.close());
	const listener = new Listener(notices);
	(await shells.run({ task: "default", command: ":", timeoutMs: 20_000, onTimeout: "kill" })).release(); // there is a shell before time is short
	for (let n = 1; n <= 5; n++) {
		const marker = path.join(tempDir(), "go");
		const command = `until [ -e '${marker}' ]; do sleep 0.02; done; exit 5`;
		const { process } = await shells.run({ task: "default", command, timeoutMs: 50, onTimeout: "background" });
		notices.arm(process, NOTIFY);
		fs.writeFileSync(marker, "");
		expect((await listener.has(n))[n - 1]).toMatchObject({ session_id: process.id, exit_code: 5 });
	}
});

test("a signal is named, and silence is said", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	await spawnArmed(runtime, notices, { command: "kill -SEGV $$" }, NOTIFY);
	expect(await listener.has(1)).toMatchObject([
		{ status: "exited", exit_code: 139, signal: "SIGSEGV", text: expect.stringMatching(/139 \(SIGSEGV\)\. It printed nothing\.$/) },
	]);
});

test("an unseen end is lost, with no exit code made up", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const spawned = await spawnArmed(runtime, notices, { command: "exec sleep 600" }, NOTIFY);
	const { keeper, child } = readParts(spawned.dir);
	if (!keeper || !child) throw new Error("no keeper");
	process.kill(keeper.pid, "SIGKILL");
	process.kill(child.pid, "SIGKILL");
	await until("both are gone", () => !isAlive(keeper) && !isAlive(child));
	expect(await notices.take("default")).toMatchObject([{ status: "lost", exit_code: null, text: expect.stringMatching(/its exit code is not known/) }]);
});

test("text is plain: no escape sequences, no control characters, carriage returns as a terminal shows them, bad bytes marked", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const command = String.raw`printf '\033]0;a title\007\033[31mred\033[0m\r\n10%%\r20%%\r100%%\nb\377d \001\033(B€\n'`;
	await (await spawnArmed(runtime, notices, { command }, NOTIFY)).wait({ timeout: 100_000 });
	const [notice] = await notices.take("default");
	expect(notice?.text.split("\n").slice(-3)).toEqual(["red", "100%", "b\ufffdd €"]);
});

test("one long line is cut in front, at a whole character", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	await (await spawnArmed(runtime, notices, { command: "perl -CS -e 'print chr(0x1F600) x 5000'" }, NOTIFY)).wait({ timeout: 100_000 });
	const [notice] = await notices.take("default");
	expect(notice?.text.split("\n").at(-1)).toMatch(/^…(\u{1F600}){990,999}$/u);
});

test("a long command is cut, and its line breaks are not in the way", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	await (await spawnArmed(runtime, notices, { command: `true\n# ${"x".repeat(5000)}` }, NOTIFY)).wait({ timeout: 100_000 });
	const [notice] = await notices.take("default");
	expect(notice?.text).toMatch(/^Background process proc_\w+ \(true # x{192}…\) ended/);
});

test("a poll takes nothing away", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await spawnArmed(runtime, notices, { command: "echo hi" }, NOTIFY);
	await until("it has ended", () => process.status().status === "exited");
	process.read(0);
	expect(await notices.take("default")).toHaveLength(1);
});

test("a wait that reports the end leaves no notice, even with a listener", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	for (let n = 0; n < 20; n++) {
		const process = await spawnArmed(runtime, notices, { command: "read x" }, NOTIFY);
		const release = notices.hold(process);
		await process.write("\n");
		await process.wait({ timeout: 100_000 });
		release(true);
		await until("it is settled", () => armedState(runtime, process) === undefined);
	}
	expect(await notices.take("default")).toEqual([]);
	expect(listener.got).toEqual([]);
});

test("a wait that gave up before the end takes nothing away", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "read x; exit 4" }, NOTIFY);
	const release = notices.hold(process);
	await process.write("\n");
	await until("it has ended", () => process.status().status === "exited");
	expect(await notices.take("default")).toEqual([]); // held back
	release(false);
	expect(await listener.has(1)).toMatchObject([{ exit_code: 4 }]);
});

test("a notice that is queued already is taken back when the log has told", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await spawnArmed(runtime, notices, { command: "exit 1" }, NOTIFY);
	const shown = new Listener(notices, "default", { leave: true });
	await shown.has(1);
	const release = notices.hold(process);
	expect(await notices.take("default")).toEqual([]);
	release(true);
	expect(await notices.take("default")).toEqual([]);
	notices.consume(process); // twice does no harm
});

test("a held end that is let go again is delivered", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await spawnArmed(runtime, notices, { command: "exit 1" }, NOTIFY);
	await new Listener(notices, "default", { leave: true }).has(1);
	const release = notices.hold(process);
	release(false);
	expect(await notices.take("default")).toHaveLength(1);
});

test("a kill by the agent itself is not told; a kill by another is", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	const mine = await spawnArmed(runtime, notices, { command: "sleep 600" }, NOTIFY);
	const release = notices.hold(mine);
	expect((await mine.kill()).status).toBe("killed");
	release(true);
	const theirs = await spawnArmed(runtime, notices, { command: "sleep 600" }, NOTIFY);
	await theirs.kill();
	expect(await listener.has(1)).toMatchObject([
		{ session_id: theirs.id, status: "killed", exit_code: 143, signal: "SIGTERM", text: expect.stringMatching(/was killed after/) },
	]);
	expect(await notices.take("default")).toEqual([]);
	expect(listener.got).toHaveLength(1);
});

test("a start that fails leaves nothing to tell", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	const cwd = tempDir();
	const prepare = (process: Process) => {
		notices.arm(process, NOTIFY);
		fs.rmSync(cwd, { recursive: true });
	};
	const spawned = runtime.spawn({ command: "echo ran", cwd }, { prepare });
	await expect(spawned).rejects.toMatchObject({ code: "START_FAILED" });
	await until("nothing is wanted any more", () => !fs.readdirSync(taskDir(runtime)).some((name) => name.startsWith("armed.")));
	expect(await notices.take("default")).toEqual([]);
	expect(listener.got).toEqual([]);
	expect(fs.readdirSync(taskDir(runtime)).filter((name) => !name.startsWith("owner."))).toEqual([]);
});

test("notices of a pruned process are forgotten", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	await (await spawnArmed(runtime, notices, { command: "true" }, NOTIFY)).wait({ timeout: 100_000 });
	expect(runtime.prune({ olderThanMs: -1 }).removed).toHaveLength(1);
	expect(await notices.take("default")).toEqual([]);
	expect(fs.readdirSync(taskDir(runtime)).filter((name) => !name.startsWith("owner."))).toEqual([]);
});

test("what cannot be asked for is refused before anything runs", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const marker = path.join(runtime.home.root, "ran");
	await expect(spawnArmed(runtime, notices, { command: `touch '${marker}'` }, { checkInterval: -1 })).rejects.toMatchObject({ code: "INVALID" });
	expect(fs.existsSync(marker)).toBe(false);
	expect(runtime.list()).toEqual([]);
});

test("nothing asked for is nothing noted, and asking twice is refused", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await runtime.spawn({ command: "cat" });
	expect(notices.arm(process, {})).toEqual({ notes: [] });
	expect(notices.arm(process, { notifyOnComplete: false, watchPatterns: [] })).toEqual({ notes: [] });
	expect(fs.readdirSync(runtime.home.notices)).toEqual([]);
	notices.arm(process, NOTIFY);
	expect(() => notices.arm(process, NOTIFY)).toThrow(expect.objectContaining({ code: "INVALID" }));
});
