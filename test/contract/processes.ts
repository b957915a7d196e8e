import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { atEnd, until } from "../support/home.js";
import type { Begin, Test } from "./door.js";
import { gone, pidIn, toldPidIn } from "./pids.js";

const LISTED = ["session_id", "command", "cwd", "place", "pid", "status", "exit_code", "started_at", "uptime_seconds", "output_preview"];

export function processCases(begin: Begin, test: Test): void {
	test("list: the task's own processes, newest first, with all fields", async () => {
		const { process, start, other, listed } = await begin();
		expect(await process({ action: "list" })).toMatchObject({ processes: [], error: null, note: expect.stringContaining("background=true") });
		const first = await start("printf '\\e[31mred\\e[0m'; exit 3");
		await process({ action: "wait", session_id: first });
		const second = await start("sleep 300");
		const { processes } = await process({ action: "list" });
		expect(processes?.map((item) => item.session_id)).toEqual([second, first]);
		for (const item of processes ?? []) for (const field of LISTED) expect(item).toHaveProperty(field);
		expect(processes?.[1]).toMatchObject({ status: "exited", exit_code: 3, output_preview: "red", place: expect.stringMatching(listed) });
		expect(processes?.[0]).toMatchObject({ status: "running", exit_code: null, command: "sleep 300" });
		expect((await (await other("another task")).process({ action: "list" })).processes).toEqual([]);
	});

	test("list: a long command is cut, which shows", async () => {
		const { process, start } = await begin();
		await start(`sleep 300 #${"x".repeat(5_000)}`);
		expect((await process({ action: "list" })).processes).toMatchObject([{ command: expect.stringMatching(/^sleep 300 #x{4085}…$/) }]);
	});

	test("processes of another task cannot be seen or touched", async () => {
		const { start, process, other } = await begin();
		const id = await start("sleep 300");
		const stranger = await other("another task");
		for (const action of ["poll", "kill", "write"]) {
			expect(await stranger.process({ action, session_id: id, data: "x" })).toMatchObject({ status: "not_found", output: "", exit_code: null });
		}
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ status: "running" });
	});

	test("ids: a prefix of 4, with or without proc_, in capitals, or a number; unknown ones are answered with the known", async () => {
		const { process, start } = await begin();
		const id = await start("sleep 300");
		const digits = id.slice(5);
		for (const session_id of [id, digits, digits.slice(0, 4), `PROC_${digits.slice(0, 6).toUpperCase()}`, ` ${id} `])
			expect(await process({ action: "poll", session_id })).toMatchObject({ status: "running", session_id: id });
		for (const session_id of ["nonsense", digits.slice(0, 3), "", "proc_", digits.startsWith("0000") ? "1111" : "0000", 123456789]) {
			const result = await process({ action: "poll", session_id });
			expect(result).toMatchObject({ status: "not_found", output: "", exit_code: null, known: [id], error: expect.stringContaining(id) });
		}
	});

	test("log: the last 200 lines, or from a line on, or from a byte", async () => {
		const { process, start } = await begin();
		const id = await start("seq 0 299; printf unfinished");
		await process({ action: "wait", session_id: id });
		const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `${from + index}\n`).join("");
		expect(await process({ action: "log", session_id: id })).toMatchObject({
			status: "exited",
			output: `${lines(101, 300)}unfinished`,
			total_lines: 301,
			total_bytes: 1100,
			showing: expect.stringContaining("101 to 300 of 301"),
		});
		expect(await process({ action: "log", session_id: id, offset: 0, limit: 5 })).toMatchObject({
			output: lines(0, 5),
			byte_offset: 0,
			next_offset: 10,
			total_lines: 301,
		});
		expect(await process({ action: "log", session_id: id, offset: 299, limit: 5 })).toMatchObject({ output: "299\nunfinished" });
		expect(await process({ action: "log", session_id: id, offset: 301 })).toMatchObject({
			output: "",
			total_lines: 301,
			showing: expect.stringContaining("no lines"),
		});
		expect(await process({ action: "log", session_id: id, limit: 1 })).toMatchObject({ output: "unfinished" });
		expect(await process({ action: "log", session_id: id, byte_offset: 6, limit: 2 })).toMatchObject({ output: "3\n4\n", byte_offset: 6, next_offset: 10 });
		expect(await process({ action: "log", session_id: id, byte_offset: 1096 })).toMatchObject({ output: "shed", next_offset: 1100 });
		expect(await process({ action: "log", session_id: id, byte_offset: 99_999 })).toMatchObject({ output: "", next_offset: 1100 });
		expect(await process({ action: "log", session_id: id, byte_offset: 0, offset: 0 })).toMatchObject({
			status: "error",
			error: expect.stringContaining("not both"),
		});
	});

	test("log of lines without end is cut, and says where to go on", async () => {
		const { process, start } = await begin();
		const id = await start("printf 'a%.0s' $(seq 250000); echo; echo end");
		await process({ action: "wait", session_id: id });
		const first = await process({ action: "log", session_id: id, offset: 0 });
		expect(first).toMatchObject({ output: "a".repeat(200_000), next_offset: 200_000, total_lines: 2, note: expect.stringContaining("byte_offset=200000") });
		expect(await process({ action: "log", session_id: id, byte_offset: first.next_offset })).toMatchObject({ output: `${"a".repeat(50_000)}\nend\n` });
		expect((await process({ action: "log", session_id: id })).output).toMatch(/^a{199995}\nend\n$/);
	});

	test("wait: the exit, with code and the end of the output", async () => {
		const { process, start } = await begin();
		const id = await start("seq 10000; exit 3");
		const result = await process({ action: "wait", session_id: id });
		expect(result).toMatchObject({ status: "exited", exit_code: 3, matched: "exit", error: null, output: expect.stringMatching(/\n10000\n$/) });
		expect(result).not.toHaveProperty("timed_out");
		expect(result.note).toContain("log");
	});

	test("wait: a pattern, and where its match ends", async () => {
		const { process, start } = await begin();
		const id = await start("echo starting; echo ready on 80; sleep 300");
		const first = await process({ action: "wait", session_id: id, until: { pattern: "ready on \\d+" } });
		expect(first).toMatchObject({ status: "running", exit_code: null, matched: "pattern", match: "ready on 80", byte_offset: 20 });
		expect(await process({ action: "wait", session_id: id, until: { pattern: "ready" }, byte_offset: 20, timeout: 1 })).toMatchObject({
			matched: null,
			timed_out: true,
		});
	});

	test("wait: a pattern is looked for in what was not shown yet, or from byte_offset on, and an old match says so", async () => {
		const { process, start } = await begin();
		const id = await start("echo ready 1; read -r x; echo ready 2; sleep 300");
		const until = { pattern: "ready \\d" };
		expect(await process({ action: "wait", session_id: id, until })).toMatchObject({ matched: "pattern", match: "ready 1" }); // nothing was shown before
		const vain = await process({ action: "wait", session_id: id, until, timeout: 1 });
		expect(vain).toMatchObject({ matched: null, timed_out: true, note: expect.stringContaining("only in output that was there before (up to byte 7)") });
		const old = await process({ action: "wait", session_id: id, until, byte_offset: 0 });
		expect(old).toMatchObject({ matched: "pattern", match: "ready 1", note: expect.stringContaining("You were shown this before") });
		await process({ action: "submit", session_id: id, data: "" });
		const fresh = await process({ action: "wait", session_id: id, until });
		expect(fresh).toMatchObject({ matched: "pattern", match: "ready 2" });
		expect(fresh.note).toBeUndefined();
		for (const action of ["poll", "log"]) {
			const one = await start("echo ready 1; sleep 300");
			await process({ action: "wait", session_id: one, until: { silence: 0.2 }, byte_offset: 0 });
			await process({ action, session_id: one });
			const seen = await process({ action: "wait", session_id: one, until, timeout: 1 });
			expect(seen, JSON.stringify(seen)).toMatchObject({ matched: null, status: "running" });
		}
	});

	test("wait: a port, an answer over HTTP, silence", async () => {
		const { process, start, server } = await begin();
		const port = server?.port ?? (await serverHere());
		const id = await start(server?.command ?? "sleep 300");
		expect(await process({ action: "wait", session_id: id, until: { port } })).toMatchObject({ matched: "port", status: "running" });
		const url = `http://127.0.0.1:${port}/`;
		expect(await process({ action: "wait", session_id: id, until: { http: url, status: 404 } })).toMatchObject({ matched: "http" });
		expect(await process({ action: "wait", session_id: id, until: { http: url }, timeout: 1 })).toMatchObject({ matched: null, timed_out: true });
		expect(await process({ action: "wait", session_id: id, until: { silence: 0.1 } })).toMatchObject({ matched: "silence" });
	});

	test("wait: of several conditions the first that holds", async () => {
		const { process, start } = await begin();
		const id = await start("echo now; sleep 300");
		expect(await process({ action: "wait", session_id: id, until: { exit: true, silence: 60, pattern: "now" } })).toMatchObject({ matched: "pattern" });
	});

	test("wait: when the time is up it still runs, which is not an error; a long timeout is clamped whatever comes", async () => {
		const { process, start } = await begin();
		const id = await start("sleep 300");
		const late = await process({ action: "wait", session_id: id, timeout: 1 });
		expect(late).toMatchObject({
			status: "running",
			exit_code: null,
			error: null,
			matched: null,
			timed_out: true,
			note: expect.stringContaining("not an error"),
		});
		expect(await process({ action: "wait", session_id: id, timeout: 9999, until: { silence: 0.1 } })).toMatchObject({
			matched: "silence",
			timeout_note: expect.stringMatching(/9999.*180/),
		});
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ status: "running" });
	});

	test("wait: what can never hold is refused", async () => {
		const { process, start } = await begin();
		const id = await start("sleep 300");
		for (const [wish, words] of [
			[{ input: true }, "no terminal, so until.input can never hold"],
			[{ screen: "x" }, "no terminal, so until.screen can never hold"],
			[{ status: 200 }, "until.status goes with until.http"],
			[{ pattern: "(" }, "not a regular expression"],
			[{ http: "ftp://x" }, 'until.http is the string "ftp://x", but must be a URL such as http://'],
			[{ http: "http://" }, 'until.http is the string "http://", but must be a URL such as http://'],
			[{ port: 0 }, "until.port must be at least 1"],
			[{ nonsense: 1 }, 'until has no parameter "nonsense"'],
		] as const)
			expect(await process({ action: "wait", session_id: id, until: wish })).toMatchObject({
				status: "error",
				error: expect.stringContaining(words),
				output: "",
				exit_code: null,
			});
	});

	test("parameters that an action does not use are named, and so is a byte_offset beyond the log", async () => {
		const { process, start } = await begin();
		const id = await start("echo hello; cat");
		const seen = await process({ action: "wait", session_id: id, until: { pattern: "hello\\n", port: null } });
		expect(seen).toMatchObject({ matched: "pattern", byte_offset: 6 });
		expect(seen).not.toHaveProperty("note");
		expect(await process({ action: "poll", session_id: id, timeout: 5, until: { exit: true } })).toMatchObject({
			output: "hello\n",
			note: 'timeout, until: not used by action="poll".',
		});
		expect(await process({ action: "list", session_id: id })).toMatchObject({ note: 'session_id: not used by action="list".' });
		for (const action of ["poll", "log"])
			expect(await process({ action, session_id: id, byte_offset: 1_000 })).toMatchObject({
				output: "",
				byte_offset: 6,
				next_offset: 6,
				note: "byte_offset 1000 is beyond the log, which ends at byte 6; that was used instead.",
			});
		expect(await process({ action: "wait", session_id: id, byte_offset: 1_000, timeout: 1 })).toMatchObject({
			timed_out: true,
			note: expect.stringContaining("beyond the log, which ends at byte 6"),
		});
	});

	test("kill: the whole tree, whatever it ignores, with proof; the second time it had ended", async () => {
		const { process, start, dir } = await begin();
		const child = (name: string) => `sh -c 'trap "" TERM; echo $$ >${dir}/${name}; while :; do sleep 300; done' &`;
		const id = await start(`trap "" TERM; echo $$ >${dir}/parent; ${child("a")} ${child("b")} wait; wait; wait; sleep 300`);
		const files = ["parent", "a", "b"].map((name) => `${dir}/${name}`);
		await until("all are there", () => files.every((file) => fs.existsSync(file) && pidIn(file) > 0));
		const pids = files.map(pidIn);
		const told = files.map(toldPidIn);
		const result = await process({ action: "kill", session_id: id });
		expect(result).toMatchObject({ status: "killed", exit_code: 137, signal: "SIGKILL", survivors: [], error: null, session_id: id });
		for (const pid of told) expect(result.signalled).toContain(pid);
		expect(pids.map(gone)).toEqual([true, true, true]);
		expect(await process({ action: "kill", session_id: id })).toMatchObject({ status: "already_exited", exit_code: 137, signalled: [] });
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ status: "killed", exit_code: 137 });
	});

	test("signal: by name in any spelling; others are answered with the list", async () => {
		const { process, start } = await begin();
		const id = await start("trap 'echo usr1' USR1; trap 'echo int; exit 9' INT; echo up; while :; do sleep 0.05; done");
		await process({ action: "wait", session_id: id, until: { pattern: "up" } });
		expect(await process({ action: "signal", session_id: id, signal: "usr1" })).toMatchObject({
			status: "running",
			error: null,
			note: expect.stringContaining("SIGUSR1"),
		});
		expect(await process({ action: "wait", session_id: id, until: { pattern: "usr1" } })).toMatchObject({ matched: "pattern" });
		for (const signal of ["", "SIG", "NONSENSE", undefined])
			expect(await process({ action: "signal", session_id: id, signal })).toMatchObject({ status: "error", error: expect.stringContaining("TERM") });
		await process({ action: "signal", session_id: id, signal: "SIGINT" });
		expect(await process({ action: "wait", session_id: id })).toMatchObject({ status: "exited", exit_code: 9 });
	});

	test("actions that need a terminal say so without one", async () => {
		const { process, start } = await begin();
		const id = await start("cat");
		for (const more of [{ action: "screen" }, { action: "keys", data: "x" }, { action: "resize", cols: 80, rows: 24 }])
			expect(await process({ ...more, session_id: id })).toMatchObject({ status: "error", error: expect.stringContaining("no terminal") });
	});

	test("actions that lack something say what", async () => {
		const { process, start } = await begin();
		const id = await start("cat");
		expect(await process({ action: "write", session_id: id })).toMatchObject({ status: "error", error: expect.stringContaining("data") });
		expect(await process({ action: "keys", session_id: id })).toMatchObject({ status: "error", error: expect.stringContaining("data") });
		expect(await process({ action: "resize", session_id: id, cols: 5 })).toMatchObject({ status: "error", error: expect.stringContaining("rows") });
		expect(await process({ action: "poll" })).toMatchObject({ status: "error", error: expect.stringContaining(id) });
	});
}

/** The port of one that answers everything with 404. */
async function serverHere(): Promise<number> {
	const server = http.createServer((_request, response) => response.writeHead(404).end());
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	atEnd(() => new Promise((resolve) => server.close(resolve)));
	return (server.address() as AddressInfo).port;
}
