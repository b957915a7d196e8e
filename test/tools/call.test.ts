/** What a door says of a call, and what a runtime does for calls that came before. */
import fs from "node:fs";
import { describe, expect, test } from "vitest";
import { procDir } from "../../src/keeper/layout.js";
import { gone, pidIn } from "../contract/pids.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import { openRuntime, type Runtime, toolsWith } from "../support/internal.js";

const running = (runtime: Runtime, id: string | undefined) => runtime.get(id as string).status().status === "running";

describe("a door that must answer in time", () => {
	test("gets `running` from a command, a terminal, a wait, and none of them is touched", async () => {
		const runtime = await testRuntime();
		const call = { within: 1_000 }; // time enough to begin
		await runtime.terminal({ command: "true" }); // the birth of the shell would count
		const command = await runtime.terminal({ command: "echo a; sleep 300" }, call);
		const terminal = await runtime.terminal({ command: "echo a; sleep 300", pty: true }, call);
		const wait = await runtime.process({ action: "wait", session_id: command.session_id }, call);
		for (const result of [command, terminal, wait])
			expect(result).toMatchObject({ status: "running", exit_code: null, note: expect.stringContaining("not an error") });
		expect(wait).toMatchObject({ timed_out: true, matched: null });
		expect([running(runtime, command.session_id), running(runtime, terminal.session_id)]).toEqual([true, true]);
	});

	test("a command that draws without a terminal is answered long before its deadline, with what to do", async () => {
		const runtime = await testRuntime();
		const command = "echo 'Vim: Warning: Output is not to a terminal'; sleep 300";
		const { session_id, ...result } = await runtime.terminal({ command, on_timeout: "kill" });
		expect(result).toMatchObject({ status: "running", exit_code: null, note: expect.stringMatching(/start it again with pty=true.*/s) });
		expect(result.note).not.toContain("Do not start it again");
		expect(result.note).toContain("it is killed 180 s after its start");
		expect(running(runtime, session_id)).toBe(true);
	});

	test.each([false, true])("a kill that is due later still comes, at its own time (pty: %s)", async (pty) => {
		const runtime = await testRuntime();
		await runtime.terminal({ command: "true" });
		const { session_id, note } = await runtime.terminal({ command: "sleep 300", timeout: 3, on_timeout: "kill", pty }, { within: 1_500 });
		expect(note).toMatch(/killed 3 s after its start/);
		expect(running(runtime, session_id)).toBe(true);
		expect(await runtime.process({ action: "wait", session_id })).toMatchObject({ status: "killed", matched: "exit" });
	});

	test("unread input does not hold up the call", async () => {
		const runtime = await testRuntime();
		const { session_id } = await runtime.terminal({ command: "sleep 300", background: true });
		const result = await runtime.process({ action: "write", session_id, data: "x".repeat(1_000_000) }, { within: 200 });
		expect(result).toMatchObject({ status: "error", error: expect.stringMatching(/after \d+ of 1000000 bytes.*does not read/) });
		expect(running(runtime, session_id)).toBe(true);
	});

	test("notices asked for in the foreground count once it has moved to the background", async () => {
		const runtime = await testRuntime();
		await runtime.terminal({ command: "true" });
		const result = await runtime.terminal({ command: "sleep 300", notify_on_complete: true }, { within: 100 });
		expect(result.note).not.toContain("no notices");
	});
});

describe("an interrupt", () => {
	test("ends the command with its tree, keeps what it printed and the shell, and concerns that task alone", async () => {
		const runtime = await testRuntime();
		const dir = tempDir();
		await runtime.terminal({ command: "export A=1" });
		const stop = new AbortController();
		const other = runtime.terminal({ command: `mkfifo ${dir}/go; read -r x <${dir}/go; echo other` }, { task: "other" });
		const pending = runtime.terminal({ command: `echo before; sleep 300 & echo $! >${dir}/pid; wait` }, { signal: stop.signal });
		await until("it runs", () => fs.existsSync(`${dir}/pid`) && fs.existsSync(`${dir}/go`) && fs.readFileSync(`${dir}/pid`, "utf8") !== "");
		stop.abort();
		expect(await pending).toMatchObject({ status: "interrupted", exit_code: 130, error: null, output: expect.stringContaining("before\n") });
		expect(gone(pidIn(`${dir}/pid`))).toBe(true);
		expect(await runtime.terminal({ command: "echo $A" })).toMatchObject({ output: "1\n" });
		fs.writeFileSync(`${dir}/go`, "\n");
		expect(await other).toMatchObject({ status: "exited", output: "other\n" });
	});

	test("ends a program on a terminal in the foreground", async () => {
		const runtime = await testRuntime();
		const stop = new AbortController();
		const pending = runtime.terminal({ command: "echo before; sleep 300", pty: true, timeout: 9_999 }, { signal: stop.signal });
		await until("it runs", () => runtime.list().some((process) => process.log.bounds().end > 0));
		stop.abort();
		const result = await pending;
		expect(result).toMatchObject({ status: "interrupted", exit_code: 130, screen: "before", timeout_note: expect.stringContaining("600") });
		expect(runtime.get(result.session_id as string).status()).toMatchObject({ status: "killed" });
	});

	test("ends a wait, or the look after keys, and the process goes on", async () => {
		const runtime = await testRuntime();
		const { session_id } = await runtime.terminal({ command: "read -r x; sleep 300", pty: true });
		for (const begin of [
			(signal: AbortSignal) => runtime.process({ action: "wait", session_id, until: { screen: "never", input: false } }, { signal }),
			(signal: AbortSignal) => runtime.process({ action: "wait", session_id }, { signal }),
			(signal: AbortSignal) => runtime.terminal({ input_keys: "a<ENTER>", session_id }, { signal }),
		]) {
			const stop = new AbortController();
			const pending = begin(stop.signal);
			setImmediate(() => stop.abort());
			expect(await pending).toMatchObject({ status: "interrupted", exit_code: null });
			expect(running(runtime, session_id)).toBe(true);
		}
	});

	test("that comes before the call: nothing runs", async () => {
		const runtime = await testRuntime();
		const dir = tempDir();
		for (const more of [{}, { background: true }, { pty: true }])
			expect(await runtime.terminal({ command: `touch ${dir}/ran`, ...more }, { signal: AbortSignal.abort() })).toMatchObject({
				status: "interrupted",
				exit_code: null,
			});
		expect(fs.existsSync(`${dir}/ran`)).toBe(false);
	});
});

test("progress is reported while a call goes on", async () => {
	const runtime = await testRuntime();
	const said: string[] = [];
	await runtime.terminal({ command: "sleep 300", timeout: 3 }, { progress: (message) => said.push(message) });
	expect(said[0]).toMatch(/^it runs for \d+ s$/);
});

test("a task that can be none is an error of the result", async () => {
	const runtime = await testRuntime();
	for (const task of ["", "x".repeat(1001), "a\0b", 5 as never])
		expect(await runtime.process({ action: "list" }, { task })).toMatchObject({ status: "error", error: expect.stringContaining("task") });
});

test("a prefix that fits two of one's processes: not found, and both ids", async () => {
	const runtime = await testRuntime();
	const { session_id } = await runtime.terminal({ command: "true", background: true });
	const process = runtime.get(session_id as string);
	await process.wait();
	const digits = process.id.slice(5);
	const twin = `proc_${digits.slice(0, 11)}${digits.at(-1) === "0" ? "1" : "0"}`;
	const copy = procDir(runtime.home, twin);
	fs.cpSync(process.dir, copy, { recursive: true, filter: (file) => !fs.statSync(file).isFIFO() });
	atEnd(() => fs.rmSync(copy, { recursive: true }));
	const spec = fs.readFileSync(`${copy}/spec.json`, "utf8");
	fs.writeFileSync(`${copy}/spec.json`, spec.replace(process.id, twin));
	const result = await runtime.process({ action: "poll", session_id: digits.slice(0, 5) });
	expect(result).toMatchObject({ status: "not_found", error: expect.stringContaining("fits 2") });
	expect(result.known?.toSorted()).toEqual([process.id, twin].toSorted());
	expect(await runtime.process({ action: "poll", session_id })).toMatchObject({ status: "exited" });
});

describe("another runtime on the same home", () => {
	async function pair(): Promise<[Runtime, Runtime]> {
		const home = tempDir("home");
		const second = await testRuntime({ home });
		const first = await openRuntime({ home, warm: 0 });
		atEnd(() => first.close());
		return [first, second];
	}

	test("goes on polling where the first stopped", async () => {
		const [first, second] = await pair();
		const { session_id } = await first.terminal({ command: "echo one; read -r x; echo two; sleep 300", background: true });
		await first.process({ action: "wait", session_id, until: { pattern: "one" } });
		expect(await first.process({ action: "poll", session_id })).toMatchObject({ output: "one\n" });
		await first.close();
		expect(await second.process({ action: "poll", session_id })).toMatchObject({ output: "", byte_offset: 4 });
		await second.process({ action: "submit", session_id, data: "" });
		await second.process({ action: "wait", session_id, until: { pattern: "two" } });
		expect(await second.process({ action: "poll", session_id })).toMatchObject({ output: "two\n" });
	});

	test("knows which program was last seen waiting, and has the shell", async () => {
		const [first, second] = await pair();
		await first.terminal({ command: "cd /usr; A=1" });
		const early = await first.terminal({ command: "read -rp 'one? ' x", pty: true });
		const late = await first.terminal({ command: "read -rp 'two? ' x", pty: true });
		await first.close();
		expect(await second.terminal({ input_keys: "x<ENTER>" })).toMatchObject({ status: "exited", session_id: late.session_id });
		expect(await second.terminal({ input_keys: "x<ENTER>" })).toMatchObject({ status: "exited", session_id: early.session_id });
		expect(await second.terminal({ command: "pwd; echo $A" })).toMatchObject({ output: "/usr\n1\n" });
	});

	test("finds a waiting program that no call has looked at yet", async () => {
		const [first, second] = await pair();
		const { session_id } = await first.terminal({ command: "read -rp 'one? ' x; echo got $x", background: true, pty: true });
		await first.close();
		await second.get(session_id as string).wait({ until: { pattern: "one" } });
		expect(await second.terminal({ input_keys: "x<ENTER>" })).toMatchObject({ status: "exited", session_id, screen: "one? x\ngot x" });
	});

	test("answers for terminals once it has been asked about them", async () => {
		const [first, second] = await pair();
		const ask = "stty raw -echo; read -rn1 x; printf '\\e[6n'; IFS= read -rd R x; stty sane; printf ' %q' \"$x\"; read -r x";
		const { session_id } = await first.terminal({ command: ask, pty: true });
		await first.close();
		expect(await second.process({ action: "keys", session_id, data: "x" })).toMatchObject({
			status: "awaiting_input",
			screen: expect.stringContaining("[1;1"),
		});
	});
});

test("a program that is stopped in the background of its terminal is not waited for: it runs, and a note says what to do", async () => {
	const runtime = await testRuntime();
	const note = expect.stringMatching(/does not go on by itself: cat .* is stopped .*timeout --foreground/);
	const started = await runtime.terminal({ command: "timeout 600 cat; :", pty: true, timeout: 600 });
	expect(started).toMatchObject({ status: "running", note });
	const { session_id } = started;
	expect(await runtime.process({ action: "poll", session_id })).toMatchObject({ status: "running", note });
	expect(await runtime.process({ action: "wait", session_id, until: { input: true }, timeout: 600 })).toMatchObject({ status: "running", matched: null, note });
});

test("closing a runtime stops what it would have done later, and leaves the processes", async () => {
	const home = tempDir("home");
	const keeper = await testRuntime({ home });
	const runtime = await openRuntime({ home, warm: 0 });
	await runtime.terminal({ command: "true" });
	const { session_id } = await runtime.terminal({ command: "sleep 300", timeout: 3, on_timeout: "kill", pty: true }, { within: 500 });
	await runtime.close();
	const process = keeper.get(session_id as string);
	expect(await process.wait({ timeout: 3_500 })).toMatchObject({ timedOut: true, status: { status: "running" } });
});

test("a closed runtime starts no shell for a call", async () => {
	const home = tempDir("home");
	const keeper = await testRuntime({ home });
	const runtime = await openRuntime({ home, warm: 0 });
	await runtime.close();
	const refused = { status: "interrupted", error: expect.stringContaining("this runtime is closed") };
	expect(await runtime.terminal({ command: "true" })).toMatchObject(refused);
	expect(await runtime.readFile({ path: "/etc/passwd" })).toMatchObject(refused);
	expect(keeper.list({ task: null, shells: true })).toEqual([]);
});

test("a runtime whose tools are not used makes neither shell nor queue", async () => {
	const runtime = await testRuntime();
	const before = fs.readdirSync(runtime.home.root).toSorted();
	await (await runtime.spawn({ command: "true" })).wait();
	expect(fs.readdirSync(runtime.home.root).toSorted()).toEqual(before);
	expect(runtime.list({ task: null, shells: true })).toHaveLength(1);
});

test("a caller that is gone leaves the log of its command where it can be read", async () => {
	const runtime = await testRuntime();
	await runtime.terminal({ command: "echo still here" }, { gone: () => true });
	const { processes } = await runtime.process({ action: "list" });
	expect(processes).toMatchObject([{ command: "echo still here", status: "exited", exit_code: 0, output_preview: "still here\n" }]);
	expect((await runtime.terminal({ command: "echo gone" })).session_id).toBeUndefined();
});

test("one process more than a task may have is refused, and what to do is said; commands in the shell still run", async () => {
	const runtime = await testRuntime({ maxRunning: 1 });
	const { session_id } = await runtime.terminal({ command: "sleep 300", background: true });
	for (const more of [{ background: true }, { pty: true }])
		expect(await runtime.terminal({ command: "sleep 300", ...more })).toMatchObject({
			status: "error",
			exit_code: null,
			error: expect.stringMatching(/already has 1 running process, and 1 is allowed; end one first \(kill\)/),
		});
	expect(await runtime.terminal({ command: "echo ok" })).toMatchObject({ status: "exited", output: "ok\n" });
	await runtime.process({ action: "kill", session_id });
	expect(await runtime.terminal({ command: "true", background: true })).toMatchObject({ error: null });
});

test("a long list has all that run and the newest of the rest", async () => {
	const runtime = await testRuntime({ limits: { listed: 2 } });
	const first = await runtime.spawn({ command: "sleep 300" });
	for (let count = 0; count < 4; count++) await (await runtime.spawn({ command: "true" })).wait();
	const { processes, note } = await runtime.process({ action: "list" });
	expect(processes?.map(({ status }) => status)).toEqual(["exited", "exited", "running"]);
	expect(processes?.at(-1)?.session_id).toBe(first.id);
	expect(note).toMatch(/^2 older ones/);
});

test("the numbers can be set, and descriptions and notes follow", async () => {
	const home = tempDir("home");
	await (await testRuntime({ home })).terminal({ command: "true" }); // the birth of the shell would count
	const runtime = await testRuntime({ home, limits: { timeout: 1, maxTimeout: 2, maxWaitTimeout: 1, logLines: 3, outputChars: 300, cols: 40, rows: 5 } });
	const late = await runtime.terminal({ command: "seq 1000; sleep 300" });
	expect(late).toMatchObject({ status: "running", note: expect.stringContaining("after 1 s") });
	expect(late.output.length).toBeLessThanOrEqual(300);
	expect(await runtime.process({ action: "wait", session_id: late.session_id, timeout: 5 })).toMatchObject({
		timed_out: true,
		timeout_note: expect.stringContaining("1 s"),
	});
	expect(await runtime.process({ action: "log", session_id: late.session_id })).toMatchObject({ output: "998\n999\n1000\n" });
	expect(await runtime.terminal({ command: "stty size", pty: true, timeout: 9 })).toMatchObject({
		screen: "5 40",
		timeout_note: expect.stringContaining("2 s"),
	});
	expect(JSON.stringify(toolsWith(runtime.limits).map(({ inputSchema }) => inputSchema))).toContain("1 by default, 2 at most");
	expect((await runtime.process({ action: "list" })).processes).toHaveLength(2);
	await expect(openRuntime({ home: runtime.home.root, limits: { timeout: 0 } })).rejects.toMatchObject({ code: "INVALID" });
});
