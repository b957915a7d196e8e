import fs from "node:fs";
import { expect } from "vitest";
import type { Begin, Test } from "./door.js";

/** What is sent to terminal besides `command: "touch FILE"`, and what the error must name. */
const TERMINAL: [Record<string, unknown>, string | RegExp][] = [
	[{ command: 42 }, /command.*number 42/],
	[{ command: ["ls"] }, /command.*list/],
	[{ command: { a: 1 } }, /command.*object/],
	[{ command: true }, /command.*boolean/],
	[{ command: "" }, "command is empty"],
	[{ command: " \n\t" }, "command is empty"],
	[{ command: "echo a\0b" }, "NUL"],
	[{ command: null }, "command is missing"],
	[{ timeout: 0 }, /timeout must be at least 1/],
	[{ timeout: -1 }, /timeout must be at least 1/],
	[{ timeout: 1.5 }, /timeout must be a whole number/],
	[{ timeout: "5" }, /timeout must be a number.*string/],
	[{ on_timeout: "explode" }, /on_timeout.*background, kill/],
	[{ background: "yes" }, /background must be true or false/],
	[{ pty: 1 }, /pty must be true or false/],
	[{ cols: 0 }, "cols must be at least 1"],
	[{ rows: 10_001 }, "rows must be at most 10000"],
	[{ workdir: 7 }, "workdir must be a string"],
	[{ workdir: "" }, "workdir is empty"],
	[{ workdir: `/${"x".repeat(5_000)}` }, "longer than a path"],
	[{ watch_patterns: "x" }, "watch_patterns must be a list"],
	[{ watch_patterns: ["ok", 3] }, "watch_patterns.1 must be a string"],
	[{ watch_patterns: [""] }, "watch_patterns.0 is empty"],
	[{ watch_patterns: [null] }, "watch_patterns.0 must be a string, not null"],
	[{ check_interval: 0 }, "check_interval must be at least 1"],
	[{ check_interval: 10_000_001 }, "check_interval must be at most 10000000"],
	[{ timeout: 1, watch_patterns: ["a\rb"] }, "watch_patterns.0 .* must not contain line breaks"],
	[{ max_output_chars: 0 }, "max_output_chars must be at least 200"],
	[{ idle_threshold: 0 }, "idle_threshold must be at least 0.1"],
	[{ input_keys: "x" }, "not both"],
	[{ session_id: "proc_0123456789ab" }, "session_id goes with input_keys"],
];

const PROCESS: [unknown, string | RegExp][] = [
	[{}, /action is missing.*list, poll, log/],
	[{ action: "explode" }, /explode.*list, poll, log, wait, kill, write, submit, close, keys, screen, resize, signal/],
	[{ action: 5 }, /action.*number 5/],
	[{ action: "poll" }, "session_id is missing"],
	[{ action: "poll", session_id: ["x"] }, "session_id must be a string"],
	[{ action: "wait", session_id: "abcd", timeout: 0 }, "timeout must be at least 1"],
	[{ action: "log", session_id: "abcd", offset: -1 }, "offset must be at least 0"],
	[{ action: "log", session_id: "abcd", limit: 0 }, "limit must be at least 1"],
	[{ action: "log", session_id: "abcd", byte_offset: 0.5 }, "byte_offset must be a whole number"],
	[{ action: "wait", session_id: "abcd", until: "exit" }, "until must be an object"],
	[{ action: "wait", session_id: "abcd", until: { regex: "x" } }, /until has no parameter "regex".*pattern/],
	[{ action: "wait", session_id: "abcd", until: { port: 70_000 } }, "until.port must be at most 65535"],
	[{ action: "poll", id: 1 }, "session_id is missing"],
	[{ acton: "list" }, /action is missing \(there is no parameter "acton"; perhaps action\); give one of list/],
];

export function badInputCases(begin: Begin, test: Test): void {
	test("terminal: a result that says what is wrong, and nothing runs", async () => {
		const { terminal, dir } = await begin();
		for (const [args, words] of TERMINAL) {
			const result = await terminal({ command: `touch ${dir}/ran`, ...args });
			expect([args, result]).toMatchObject([args, { status: "error", output: "", exit_code: null, error: expect.stringMatching(words) }]);
		}
		expect(await terminal({})).toMatchObject({ status: "error", error: expect.stringContaining("command is missing") });
		for (const name of ["cmd", "comand"])
			expect(await terminal({ [name]: "true" })).toMatchObject({
				status: "error",
				error: expect.stringContaining(`command is missing (there is no parameter "${name}"; perhaps command)`),
			});
		expect(await terminal({ input_keys: "" })).toMatchObject({ status: "error" });
		expect(await terminal({ input_keys: "x", session_id: "x".repeat(10_000) })).toMatchObject({
			status: "not_found",
			known: [],
			error: expect.stringMatching(/^.{1,300}$/),
		});
		expect(fs.existsSync(`${dir}/ran`)).toBe(false);
	});

	test("process: the same", async () => {
		const { process } = await begin();
		for (const [args, words] of PROCESS) {
			expect([args, await process(args)]).toMatchObject([args, { status: "error", output: "", exit_code: null, error: expect.stringMatching(words) }]);
		}
	});

	test("an unknown parameter is ignored and named, whatever added it", async () => {
		const { terminal, process } = await begin();
		const ran = await terminal({ command: "echo ok", cwd: "/", tiemout: 5, surprise: { deep: 1 } });
		expect(ran).toMatchObject({ status: "exited", output: "ok\n", error: null });
		expect(ran.note).toContain('Ignored: "cwd" (perhaps workdir), "tiemout" (perhaps timeout), "surprise"; terminal has no such parameter.');
		expect((await process({ action: "list", id: 1 })).note).toContain('Ignored: "id" (perhaps session_id); process has no such parameter.');
		const odd = await terminal({ command: "echo ok", constructor: 1, toString: null, "a\n\u001b[31m": 2, ...JSON.parse('{"__proto__": 3}') });
		expect(odd).toMatchObject({ status: "exited", output: "ok\n", note: expect.stringContaining('"a\\n\\u001b[31m"') });
	});

	test("what Gemini CLI adds to every call is ignored without a word", async () => {
		const { terminal, process } = await begin();
		for (const wait_for_previous of [true, false]) {
			const result = await terminal({ command: "echo ok", wait_for_previous });
			expect(result).toMatchObject({ status: "exited", output: "ok\n" });
			expect(result.note).toBeUndefined();
			expect(await process({ action: "list", wait_for_previous })).toMatchObject({ error: null, processes: [] });
		}
	});

	test("null is the same as not given, 0 is not", async () => {
		const { terminal } = await begin();
		expect(await terminal({ command: "echo ok", timeout: null, workdir: null, input_keys: null })).toMatchObject({ output: "ok\n", exit_code: 0 });
	});

	test("parameters of a terminal without one are not used, and that is said", async () => {
		const { terminal } = await begin();
		expect(await terminal({ command: "true", cols: 80, idle_threshold: 1 })).toMatchObject({
			status: "exited",
			note: expect.stringMatching(/cols, idle_threshold: not used/),
		});
		expect((await terminal({ command: "true", notify_on_complete: true })).note).toContain("notify_on_complete");
	});

	test("a task may be called anything", async () => {
		const { other } = await begin();
		for (const task of ["../../etc", "a/b", "x".repeat(1000), "ünï €"]) {
			const { terminal } = await other(task);
			expect(await terminal({ command: "echo ok" })).toMatchObject({ output: "ok\n", exit_code: 0 });
		}
	});
}
