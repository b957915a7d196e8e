import fs from "node:fs";
import { expect } from "vitest";
import { until } from "../support/home.js";
import type { Begin, Result, Test } from "./door.js";
import { gone, pidOf } from "./pids.js";

export function backgroundCases(begin: Begin, test: Test): void {
	test("returns at once with an id, a pid, running and no code, and says that it is silent", async () => {
		const { terminal } = await begin();
		const result = await terminal({ command: "sleep 300", background: true });
		expect(result).toEqual({
			status: "running",
			output: "",
			exit_code: null,
			error: null,
			session_id: expect.stringMatching(/^proc_[0-9a-f]{12}$/),
			pid: expect.any(Number),
			note: expect.stringContaining("silent"),
		});
		expect(gone(pidOf(result.pid))).toBe(false);
	});

	test("with a notice asked for there is no such remark", async () => {
		const { terminal } = await begin();
		expect(await terminal({ command: "sleep 300", background: true, notify_on_complete: true })).not.toHaveProperty("note");
	});

	test("a check_interval that is too short is raised, and that is said", async () => {
		const { terminal } = await begin();
		const result = await terminal({ command: "sleep 300", background: true, check_interval: 5 });
		expect(result).toMatchObject({ status: "running", check_interval_note: expect.stringMatching(/5.*30/) });
	});

	test("it has the directory and the environment of the shell, not its plain variables", async () => {
		const { terminal, process, start } = await begin();
		await terminal({ command: "cd /usr; export A=1; b=2; unset HOME; f() { echo f$1; }; g() { :; }; export -f f" });
		const id = await start('pwd; echo "[$A] [$b] [$HOME]"; f 1; bash -c "f 2"; declare -F; declare -p | grep -c "^declare [^ ]* hf"');
		expect(await process({ action: "wait", session_id: id })).toMatchObject({ output: "/usr\n[1] [] []\nf1\nf2\ndeclare -fx f\n0\n", exit_code: 1 });
	});

	test("its input is open until it is closed", async () => {
		const { process, start } = await begin();
		const id = await start("cat; echo end");
		expect(await process({ action: "write", session_id: id, data: "é" })).toMatchObject({ status: "running", bytes_written: 2, error: null });
		expect(await process({ action: "submit", session_id: id, data: "x" })).toMatchObject({ bytes_written: 2 });
		expect(await process({ action: "close", session_id: id })).toMatchObject({ error: null });
		expect(await process({ action: "wait", session_id: id })).toMatchObject({ status: "exited", output: "éx\nend\n" });
		expect(await process({ action: "write", session_id: id, data: "x" })).toMatchObject({
			status: "error",
			error: expect.stringMatching(/has ended .*start it again/),
		});
	});

	test("writing after close is a clear error", async () => {
		const { process, start } = await begin();
		const id = await start("cat >/dev/null; sleep 300");
		await process({ action: "close", session_id: id });
		expect(await process({ action: "submit", session_id: id, data: "x" })).toMatchObject({ status: "error", error: expect.stringContaining("closed") });
	});

	test("output is seen while it runs, each poll shows what is new", async () => {
		const { process, start } = await begin();
		const id = await start("echo one; read -r x; echo two; sleep 300");
		await process({ action: "wait", session_id: id, until: { pattern: "one" } });
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ status: "running", output: "one\n", byte_offset: 0, next_offset: 4 });
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ output: "", byte_offset: 4, next_offset: 4 });
		await process({ action: "submit", session_id: id });
		await process({ action: "wait", session_id: id, until: { pattern: "two" } });
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ output: "two\n", byte_offset: 4 });
		expect(await process({ action: "poll", session_id: id, byte_offset: 2 })).toMatchObject({ output: "e\ntwo\n", byte_offset: 2 });
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ output: "" });
	});

	test("500 KB: a poll has the last 200,000 characters and says what is before them", async () => {
		const { process, start } = await begin();
		const id = await start("printf 'a%.0s' $(seq 300000); printf 'b%.0s' $(seq 200000)");
		await process({ action: "wait", session_id: id });
		const result = await process({ action: "poll", session_id: id });
		expect(result.output).toBe("b".repeat(200_000));
		expect(result.truncated).toEqual({ total_chars: 500_000, omitted_chars: 300_000, session_id: id, byte_offset: 0 });
		expect(result).toMatchObject({ status: "exited", exit_code: 0, next_offset: 500_000, note: expect.stringContaining("300000") });
	});

	test("a character that is only half there waits for its other half", async () => {
		const { process, start } = await begin();
		const id = await start("printf 'x\\xf0\\x9f'; read -r x; printf '\\x98\\x80'; read -r x; printf '\\xf0\\x9f'");
		await process({ action: "wait", session_id: id, until: { pattern: "x" } });
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ output: "x", next_offset: 1 });
		await process({ action: "submit", session_id: id });
		await process({ action: "wait", session_id: id, until: { pattern: "😀" } });
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ output: "😀", next_offset: 5 });
		await process({ action: "submit", session_id: id });
		await process({ action: "wait", session_id: id });
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ output: "\ufffd", status: "exited" });
	});

	test("a poll that tells of the end has all that was printed before it", async () => {
		const { process, start } = await begin();
		for (let round = 0; round < 10; round++) {
			const id = await start("seq 1 20000");
			let output = "";
			let last: Result;
			do {
				last = await process({ action: "poll", session_id: id });
				output += last.output;
			} while (last.status === "running");
			expect(output.endsWith("\n20000\n")).toBe(true);
		}
	});

	test("it ends with its command, even if another process still holds the output", async () => {
		const { process, start } = await begin();
		const id = await start("echo x; sleep 300 & exit 4");
		const end = await process({ action: "wait", session_id: id });
		expect(end).toMatchObject({
			status: "exited",
			exit_code: 4,
			output: "x\n",
			matched: "exit",
			note: expect.stringMatching(/left something running \(pid \d+\)/),
		});
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ status: "exited", exit_code: 4 });
		expect(await process({ action: "kill", session_id: id })).toMatchObject({ status: "already_exited", exit_code: 4, survivors: [] });
	});

	test("closed output is not the end", async () => {
		const { process, start, dir } = await begin();
		const id = await start(`exec >&- 2>&-; touch ${dir}/closed; read -r x; exit 5`);
		await until("it has closed it", () => fs.existsSync(`${dir}/closed`));
		expect(await process({ action: "wait", session_id: id, timeout: 1 })).toMatchObject({ status: "running", exit_code: null });
		await process({ action: "submit", session_id: id });
		expect(await process({ action: "wait", session_id: id })).toMatchObject({ status: "exited", exit_code: 5 });
	});

	test("it leads a session of its own and has no terminal", async () => {
		const { process, start } = await begin();
		const id = await start('set -- $(cat /proc/$$/stat); [ "$6" = "$$" ] && echo leads; [ "$7" = 0 ] && echo none');
		expect(await process({ action: "wait", session_id: id })).toMatchObject({ output: "leads\nnone\n" });
	});

	test("parameters for the foreground only are not used, and that is said", async () => {
		const { terminal } = await begin();
		const result = await terminal({ command: "sleep 300", background: true, timeout: 5, cols: 80, max_output_chars: 10_000_000 });
		expect(result.note).toMatch(/cols: not used/);
		expect(result.note).toMatch(/timeout, max_output_chars: not used/);
		expect(result).not.toHaveProperty("max_output_chars_note");
	});
}
