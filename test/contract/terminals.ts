import fs from "node:fs";
import { expect } from "vitest";
import { which } from "../screen/programs.js";
import type { Begin, Test } from "./door.js";

const lines = (first: number, last: number): string => Array.from({ length: last - first + 1 }, (_, at) => String(first + at)).join("\n");

export function terminalCases(begin: Begin, test: Test): void {
	test("pty in the foreground: a terminal of 30 by 120, a process of its own with the shell's directory and environment", async () => {
		const { terminal } = await begin();
		await terminal({ command: "cd /usr; export A=1" });
		const result = await terminal({ command: "tty | sed 's/[0-9]*$//'; stty size; pwd; echo $A; cd /tmp; export A=2; exit 4", pty: true });
		expect(result).toMatchObject({
			status: "exited",
			exit_code: 4,
			error: null,
			output: "", // all of it is on the screen
			screen: "/dev/pts/\n30 120\n/usr\n1",
			cursor: { row: 4, col: 0 },
			alt_screen: false,
			cwd: "/usr",
			session_id: expect.stringMatching(/^proc_/),
			note: expect.stringContaining("process of its own"),
		});
		expect((await terminal({ command: "pwd; echo $A" })).output).toBe("/usr\n1\n");
	});

	test("a program that reads a secret until the end of its input gets no terminal, and the result says why", async () => {
		const { terminal, process, dir } = await begin();
		fs.writeFileSync(`${dir}/crane`, '#!/bin/sh\ntest -t 0 && echo terminal\necho "token $(cat)"\n', { mode: 0o755 });
		await terminal({ command: `PATH=${dir}:$PATH` });
		const ran = await terminal({ command: "echo abc | crane auth login --password-stdin", pty: true, cols: 80 });
		expect(ran).toMatchObject({ status: "exited", output: "token abc\n", pty_note: expect.stringMatching(/without a terminal.*crane.*--password-stdin/) });
		const { session_id, pty_note } = await terminal({ command: "crane auth login --password-stdin", pty: true, background: true });
		expect(pty_note).toContain("without a terminal");
		await process({ action: "write", session_id, data: "later" });
		await process({ action: "close", session_id });
		expect(await process({ action: "wait", session_id })).toMatchObject({ exit_code: 0, output: "token later\n" });
		expect(await terminal({ command: "echo gh auth login --with-token", pty: true })).not.toHaveProperty("pty_note");
	});

	test("escape sequences make the screen of a terminal, and stay in its log", async () => {
		const { terminal, process } = await begin();
		const result = await terminal({ command: "printf 'a\\e[31mb\\e[2;5Hc'", pty: true, cols: 40, rows: 5 });
		expect(result).toMatchObject({ output: "", screen: "ab\n    c", cursor: { row: 1, col: 5 } });
		expect(await process({ action: "log", session_id: result.session_id })).toMatchObject({ output: "a\x1b[31mb\x1b[2;5Hc" });
	});

	test("a program that ends at a key, and says nothing, has nothing but its end in the result", async () => {
		const { terminal } = await begin();
		const { session_id } = await terminal({ command: "stty raw -echo; echo drawn; head -c 1 >/dev/null; printf '\\e[31;1H\\n'", pty: true });
		const end = await terminal({ session_id, input_keys: "q" });
		expect(end).toMatchObject({ status: "exited", exit_code: 0, output: "" });
		expect(end).not.toHaveProperty("screen");
	});

	test("output is what has scrolled off the screen, as text: nothing is there twice", async () => {
		const { terminal } = await begin();
		const result = await terminal({ command: "printf '\\e[32m%s\\e[0m\\n' $(seq 12)", pty: true, rows: 5 });
		expect(result).toMatchObject({ output: `${lines(1, 8)}\n`, screen: lines(9, 12) });
		const waits = await terminal({ command: "seq 12; read -rp 'well? '", pty: true, rows: 5 });
		expect(waits).toMatchObject({ status: "awaiting_input", output: `${lines(1, 8)}\n`, screen: `${lines(9, 12)}\nwell?` });
	});

	test("a question, an answer, a password, the end", async () => {
		const { terminal } = await begin();
		const asks = await terminal({ command: "read -rp 'name? ' n; read -rsp 'secret? ' s; echo; echo \"$n ${#s}\"; exit 3", pty: true });
		expect(asks).toMatchObject({
			status: "awaiting_input",
			exit_code: null,
			error: null,
			screen: "name?",
			output: "",
			waiting_for: "line",
		});
		const secret = await terminal({ input_keys: "Jo<ENTER>" });
		expect(secret).toMatchObject({ status: "awaiting_input", session_id: asks.session_id, waiting_for: "password", screen: "name? Jo\nsecret?" });
		const end = await terminal({ input_keys: "abc<ENTER>", session_id: asks.session_id });
		expect(end).toMatchObject({ status: "exited", exit_code: 3, screen: "name? Jo\nsecret?\nJo 3", output: "" });
		expect(await terminal({ input_keys: "x", session_id: asks.session_id })).toMatchObject({ status: "error", error: expect.stringContaining("has ended") });
	});

	test("keys go to the program that was last seen waiting", async () => {
		const { terminal, process } = await begin();
		expect(await terminal({ input_keys: "x<ENTER>" })).toMatchObject({ status: "error", error: expect.stringContaining("pty=true") });
		const first = await terminal({ command: "read -rp 'one? ' x; echo got $x", pty: true });
		const second = await terminal({ command: "read -rp 'two? ' x; echo got $x", pty: true });
		expect(await process({ action: "keys", session_id: first.session_id, data: "a" })).toMatchObject({ status: "awaiting_input", screen: "one? a" });
		expect(await terminal({ input_keys: "b<ENTER>" })).toMatchObject({ status: "exited", session_id: first.session_id, screen: "one? ab\ngot ab" });
		expect(await terminal({ input_keys: "c<ENTER>" })).toMatchObject({ status: "exited", session_id: second.session_id });
	});

	test("a line that is longer than a terminal takes is cut by the kernel, and the result says so", async () => {
		const { terminal, process } = await begin();
		const long = "x".repeat(5_000);
		const { session_id } = await terminal({ command: "wc -c", pty: true });
		const typed = await terminal({ session_id, input_keys: `${long}<ENTER>` });
		expect(typed).toMatchObject({ status: "awaiting_input", note: expect.stringContaining("keeps 4095 bytes of each, and one of these has 5000") });
		expect(await process({ action: "submit", session_id, data: long })).toMatchObject({ note: expect.stringContaining("was dropped") });
		const many = await terminal({ session_id, input_keys: `${"y\n".repeat(5_000)}<CTRL+D>` });
		expect(many).toMatchObject({ status: "exited", screen: expect.stringMatching(/^18192$/m) }); // 4096 twice, 2 five thousand times
		expect(many.note ?? "").not.toContain("dropped");
		const raw = await terminal({ command: "stty raw -echo; head -c 5001 | wc -c", pty: true });
		const all = await terminal({ session_id: raw.session_id, input_keys: `${long}<ENTER>` });
		expect(all).toMatchObject({ status: "exited", screen: "5001" });
		expect(all.note ?? "").not.toContain("dropped");
	});

	test("an unknown key is refused, and nothing is sent", async () => {
		const { terminal, process } = await begin();
		const { session_id } = await terminal({ command: "read -r x; echo got $x", pty: true });
		expect(await terminal({ input_keys: "abc<NOSUCHKEY>" })).toMatchObject({ status: "error", error: expect.stringContaining("<NOSUCHKEY>") });
		expect(await process({ action: "keys", session_id, data: "abc<NOSUCHKEY>" })).toMatchObject({ status: "error" });
		expect(await process({ action: "submit", session_id, data: "clean" })).toMatchObject({ bytes_written: 6 });
		expect(await process({ action: "wait", session_id })).toMatchObject({ screen: "clean\ngot clean" });
	});

	test("a program that does not wait is not reported as waiting: at the deadline it runs", async () => {
		const { terminal } = await begin();
		await terminal({ command: "true" }); // the birth of the shell would count
		const result = await terminal({ command: "echo busy; sleep 300", pty: true, timeout: 3 }); // time enough to start
		expect(result).toMatchObject({ status: "running", exit_code: null, output: "", screen: "busy", note: expect.stringContaining("not an error") });
		expect(result).not.toHaveProperty("waiting_for");
	});

	test("on_timeout kill on a terminal", async () => {
		const { terminal, process } = await begin();
		await terminal({ command: "true" }); // the birth of the shell would count
		const result = await terminal({ command: "echo busy; sleep 300", pty: true, timeout: 3, on_timeout: "kill" }); // time enough to start
		expect(result).toMatchObject({ status: "timeout", exit_code: 124, screen: "busy", note: expect.stringContaining("It was killed with everything") });
		expect(await process({ action: "poll", session_id: result.session_id })).toMatchObject({ status: "killed" });
	});

	test("idle_threshold: silence suggests it where the kernel cannot tell", async () => {
		const { terminal } = await begin();
		// A program that passes keys on: what happens at its other end nobody here can see.
		const relay = `cp "$(command -v cat)" ./ssh && stty raw -echo && ./ssh`;
		const result = await terminal({ command: `cd "$(mktemp -d)" && trap 'rm -r "$PWD"' EXIT && ${relay}`, pty: true, idle_threshold: 0.3 });
		expect(result).toMatchObject({ status: "awaiting_input", waiting_for: "idle", waiting_evidence: expect.stringContaining("0.3 s") });
	});

	test("background on a terminal: poll, wait, keys, screen, resize, close", async () => {
		const { process, start } = await begin();
		const id = await start('while read -r -p \'> \' x || [ -n "$x" ]; do echo "got $x"; [ "$x" = size ] && stty size; done; echo end', {
			pty: true,
			cols: 60,
			rows: 10,
		});
		expect(await process({ action: "wait", session_id: id, until: { input: true } })).toMatchObject({
			status: "awaiting_input",
			matched: "input",
			waiting_for: "line",
		});
		expect(await process({ action: "poll", session_id: id })).toMatchObject({ status: "awaiting_input", output: "> " });
		expect(await process({ action: "keys", session_id: id, data: "a<SPACE>b<ENTER>" })).toMatchObject({
			status: "awaiting_input",
			screen: "> a b\ngot a b\n>",
		});
		const wait = process({ action: "wait", session_id: id, until: { screen: "got later" } });
		expect(await process({ action: "submit", session_id: id, data: "later" })).toMatchObject({ bytes_written: 6 });
		expect(await wait).toMatchObject({ matched: "screen", byte_offset: expect.any(Number) });
		expect(await process({ action: "resize", session_id: id, cols: 70, rows: 12 })).toMatchObject({
			error: null,
			cols: 70,
			rows: 12,
			screen: expect.stringContaining("got later"),
			cursor: { row: expect.any(Number), col: expect.any(Number) },
			alt_screen: false,
		});
		expect(await process({ action: "signal", session_id: id, signal: "WINCH" })).toMatchObject({
			note: "SIGWINCH was sent.",
			screen: expect.stringContaining("got later"),
			alt_screen: false,
		});
		await process({ action: "submit", session_id: id, data: "size" });
		expect(await process({ action: "wait", session_id: id, until: { pattern: "12 70" } })).toMatchObject({ matched: "pattern" });
		expect(await process({ action: "screen", session_id: id })).toMatchObject({
			cursor: { row: expect.any(Number), col: expect.any(Number) },
			alt_screen: false,
		});
		await process({ action: "close", session_id: id });
		expect(await process({ action: "wait", session_id: id })).toMatchObject({ status: "exited", screen: expect.stringMatching(/end$/) });
	});

	test("wait: of several conditions on a terminal the first that holds ends the others", async () => {
		const { process, start } = await begin();
		const id = await start("echo up; sleep 300", { pty: true });
		const until = { screen: "never shown", input: true, pattern: "up" };
		expect(await process({ action: "wait", session_id: id, until })).toMatchObject({ matched: "pattern", status: "running" });
		expect(await process({ action: "wait", session_id: id, until: { screen: "up", input: true } })).toMatchObject({ matched: "screen" });
	});

	test("close is Ctrl-D on a terminal, and ends cat", async () => {
		const { process, start } = await begin();
		const id = await start("cat", { pty: true });
		await process({ action: "wait", session_id: id, until: { input: true } });
		await process({ action: "submit", session_id: id, data: "é" });
		expect(await process({ action: "wait", session_id: id, until: { pattern: "é\\r?\\né" } })).toMatchObject({ matched: "pattern" });
		await process({ action: "close", session_id: id });
		expect(await process({ action: "wait", session_id: id })).toMatchObject({ status: "exited", exit_code: 0 });
	});

	test("Enter on a terminal is a carriage return", async () => {
		const { process, start } = await begin();
		const id = await start("stty -icrnl -icanon; echo up; head -c 3 | od -An -c", { pty: true });
		await process({ action: "wait", session_id: id, until: { pattern: "up" } });
		await process({ action: "submit", session_id: id, data: "it" });
		expect(await process({ action: "wait", session_id: id })).toMatchObject({ screen: expect.stringMatching(/i +t +\\r$/) });
	});

	test("a program that asks where its cursor is gets an answer", async () => {
		const { terminal } = await begin();
		const result = await terminal({ command: "stty raw -echo; printf 'abc\\e[6n'; IFS= read -rd R x; stty sane; printf ' %q' \"$x\"", pty: true });
		expect(result).toMatchObject({ status: "exited", screen: expect.stringContaining("[1;4") });
	});

	test(
		"vim: draw, type, write, leave",
		async () => {
			const { terminal, dir } = await begin();
			const opened = await terminal({ command: "vim -u NONE -i NONE file", pty: true, workdir: dir });
			expect(opened).toMatchObject({ status: "awaiting_input", waiting_for: "keys", alt_screen: true });
			expect(await terminal({ input_keys: "ihello<ENTER>a << b<ESC>" })).toMatchObject({
				status: "awaiting_input",
				screen: expect.stringMatching(/^hello\na < b\n~/),
			});
			expect(await terminal({ input_keys: ":wq<ENTER>" })).toMatchObject({ status: "exited", exit_code: 0, alt_screen: false });
			expect(fs.readFileSync(`${dir}/file`, "utf8")).toBe("hello\na < b\n");
		},
		which("vim") ? undefined : "vim is not installed",
	);
}
