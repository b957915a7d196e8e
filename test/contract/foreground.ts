import fs from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { Begin, Test } from "./door.js";
import { gone, pidIn, toldPidIn } from "./pids.js";

export function foregroundCases(begin: Begin, test: Test): void {
	test("a command that prints and exits 0: output, code, directory, and nothing else", async () => {
		const { terminal, cwd } = await begin();
		expect(await terminal({ command: "echo hello" })).toEqual({
			status: "exited",
			output: "hello\n",
			exit_code: 0,
			error: null,
			cwd,
			duration_ms: expect.any(Number),
		});
	});

	test("a code other than 0 is not an error of the tool, and the command runs once", async () => {
		const { terminal, dir } = await begin();
		expect(await terminal({ command: `echo x >>${dir}/runs; exit 7` })).toMatchObject({ status: "exited", exit_code: 7, error: null });
		expect(fs.readFileSync(`${dir}/runs`, "utf8")).toBe("x\n");
	});

	test("a child that keeps the output open does not keep the call", async () => {
		const { terminal, process, dir } = await begin();
		const result = await terminal({ command: `sleep 300 & echo $! >${dir}/pid; echo started` });
		expect(result).toMatchObject({ status: "exited", exit_code: 0, output: expect.stringContaining("started") });
		expect(gone(pidIn(`${dir}/pid`))).toBe(false);
		expect(result.note).toContain(`left something running (pid ${toldPidIn(`${dir}/pid`)})`);
		// It is there to be asked about, and to be ended.
		expect(await process({ action: "kill", session_id: result.session_id })).toMatchObject({ survivors: [] });
		expect(gone(pidIn(`${dir}/pid`))).toBe(true);
	});

	test("setsid, redirected and disowned: the call returns at once", async () => {
		const { terminal, dir } = await begin();
		const result = await terminal({ command: `setsid sleep 300 >/dev/null 2>&1 </dev/null & echo $! >${dir}/pid; disown; echo started` });
		expect(result).toMatchObject({ status: "exited", exit_code: 0, output: expect.stringContaining("started") });
		await terminal({ command: `kill -9 -$(cat ${dir}/pid) $(cat ${dir}/pid)` });
	});

	test("lines that come one by one are all there, in order", async () => {
		const { terminal } = await begin();
		const result = await terminal({ command: "for i in 1 2 3 4 5; do echo $i; sleep 0.05; done" });
		expect(result.output).toBe("1\n2\n3\n4\n5\n");
	});

	test("3,000 lines: none is lost", async () => {
		const { terminal } = await begin();
		const lines = (await terminal({ command: "seq 1 3000" })).output?.trimEnd().split("\n");
		expect(lines).toEqual(Array.from({ length: 3000 }, (_, index) => String(index + 1)));
	});

	test("stdout and stderr are one stream in the order written", async () => {
		const { terminal } = await begin();
		expect((await terminal({ command: "for i in 1 2 3; do echo out$i; echo err$i >&2; done" })).output).toBe("out1\nerr1\nout2\nerr2\nout3\nerr3\n");
	});

	test("10,000 characters of three bytes arrive as they are", async () => {
		const { terminal } = await begin();
		expect((await terminal({ command: "printf '€%.0s' $(seq 10000)" })).output).toBe("€".repeat(10_000));
	});

	test("bytes that are no UTF-8 become U+FFFD, and only those", async () => {
		const { terminal } = await begin();
		expect((await terminal({ command: "printf 'a\\xff\\xfeb\\0c'" })).output).toBe("a\ufffd\ufffdb\0c");
	});

	test("colours are taken out", async () => {
		const { terminal } = await begin();
		expect((await terminal({ command: "printf '\\e[1;31mred\\e[0m \\e]0;title\\aplain\\n'" })).output).toBe("red plain\n");
	});

	test("without a terminal it reads end-of-file", async () => {
		const { terminal } = await begin();
		expect(await terminal({ command: "cat; read -r x; echo $?" })).toMatchObject({ status: "exited", output: "1\n" });
	});

	test("three times the cap: the first 40 %, the last 60 %, a marker with the right numbers", async () => {
		const { terminal, process } = await begin();
		const result = await terminal({ command: "printf 'x%.0s' $(seq 1500); printf 'y%.0s' $(seq 1500)", max_output_chars: 1000 });
		const output = result.output as string;
		expect(output.length).toBeLessThanOrEqual(1000);
		const [, head, marker, tail] = /^(x+)\n(\[.*\])\n(y+)$/.exec(output) as unknown as [string, string, string, string];
		expect(head.length / (head.length + tail.length)).toBeCloseTo(0.4, 2);
		expect(marker).toContain(`${3000 - head.length - tail.length} characters`);
		expect(result.truncated).toEqual({
			total_chars: 3000,
			omitted_chars: 3000 - head.length - tail.length,
			session_id: result.session_id,
			byte_offset: head.length,
		});
		// A client that shows only the beginning of a result shows how it stands.
		const names = Object.keys(result);
		for (const name of ["status", "exit_code", "error", "session_id", "truncated", "note"]) expect(names.indexOf(name)).toBeLessThan(names.indexOf("output"));
		// What was left out can be read, to the byte.
		const rest = await process({ action: "log", session_id: result.session_id, byte_offset: result.truncated?.byte_offset });
		expect(rest.output).toBe("x".repeat(1500 - head.length) + "y".repeat(1500));
	});

	test("the omitted part starts at the right byte behind colours, bad bytes and characters of several bytes", async () => {
		const { terminal, process } = await begin();
		const result = await terminal({ command: `printf '\\e[31m€\\xff%.0s' $(seq 1000); printf 'end'`, max_output_chars: 400 });
		const shown = /^((?:€\ufffd)*€?)\n/.exec(result.output as string)?.[1] as string;
		const rest = await process({ action: "log", session_id: result.session_id, byte_offset: result.truncated?.byte_offset });
		expect(shown + rest.output).toBe(`${"€\ufffd".repeat(1000)}end`);
	});

	test("100 MB of output: the ends are there, and from which byte the rest is", async () => {
		const { terminal, process } = await begin();
		const result = await terminal({ command: "echo first; yes 0123456789012345678 | head -n 5242880; echo last" });
		expect(result).toMatchObject({ status: "exited", exit_code: 0, output: expect.stringMatching(/last\n$/) });
		expect(result.note).toMatch(/is there from byte \d+ on/);
		expect(result.output?.length).toBeLessThanOrEqual(20_000);
		const from = Number(/from byte (\d+) on/.exec(result.note as string)?.[1]);
		const total = 5242880 * 20 + 11;
		expect(from).toBeGreaterThan(0);
		const marker = /\n\[\d+ characters left out.*\]\n/.exec(result.output as string)?.[0].length as number;
		expect(result.truncated).toMatchObject({ total_chars: total, omitted_chars: expect.closeTo(total - (result.output?.length ?? 0) + marker, -1) });
		expect(await process({ action: "log", session_id: result.session_id, limit: 2 })).toMatchObject({
			output: "0123456789012345678\nlast\n",
			total_bytes: total,
		});
	});

	test("at the deadline it goes on in the background, started once, nothing lost", async () => {
		const { terminal, process, dir } = await begin();
		await terminal({ command: `mkfifo ${dir}/go` }); // the birth of the shell would count, and what has to be started might come late
		const result = await terminal({ command: `echo one; echo one >>${dir}/runs; read -r x <${dir}/go; echo two`, timeout: 1 });
		expect(result).toMatchObject({
			status: "running",
			exit_code: null,
			error: null,
			output: "one\n",
			session_id: expect.stringMatching(/^proc_/),
			pid: expect.any(Number),
		});
		expect(result.note).toContain("not an error");
		expect(await terminal({ command: `echo >${dir}/go; pwd` })).toMatchObject({ exit_code: 0 });
		const end = await process({ action: "wait", session_id: result.session_id });
		expect(end).toMatchObject({ status: "exited", exit_code: 0, matched: "exit", output: "one\ntwo\n" });
		expect(fs.readFileSync(`${dir}/runs`, "utf8")).toBe("one\n");
	});

	test("on_timeout kill: 124, the output so far, and no process left, whatever they ignore", async () => {
		const { terminal, dir } = await begin();
		const stubborn = `bash -c 'trap "" TERM; echo $$ >${dir}/pid; sleep 300 & echo $! >${dir}/child; while :; do wait; done'`;
		await terminal({ command: "true" }); // the birth of the shell would count
		const result = await terminal({ command: `echo before; ${stubborn}`, timeout: 3, on_timeout: "kill" }); // time enough for it to get there
		expect(result).toMatchObject({ status: "timeout", exit_code: 124, error: null, output: expect.stringContaining("before\n") });
		expect(result.note).toMatch(/killed/);
		expect([gone(pidIn(`${dir}/pid`)), gone(pidIn(`${dir}/child`))]).toEqual([true, true]);
		expect(await terminal({ command: "echo usable" })).toMatchObject({ output: "usable\n" });
	});

	test("a timeout above the cap is clamped, and that is said", async () => {
		const { terminal } = await begin();
		expect(await terminal({ command: "true", timeout: 1_000_000_000 })).toMatchObject({
			status: "exited",
			timeout_note: expect.stringMatching(/1000000000.*600/),
		});
	});

	test("a signal that ended it has its name where it is certain", async () => {
		const { terminal } = await begin();
		expect(await terminal({ command: "kill -9 $$" })).toMatchObject({ status: "exited", exit_code: 137, signal: "SIGKILL" });
		expect(await terminal({ command: "(exit 137)" })).not.toHaveProperty("signal");
	});

	test("commands that cannot be found or executed: 127 and 126", async () => {
		const { terminal, dir } = await begin();
		expect(await terminal({ command: "no-such-command-here" })).toMatchObject({ exit_code: 127, error: null });
		fs.writeFileSync(path.join(dir, "plain"), "");
		expect(await terminal({ command: `${dir}/plain` })).toMatchObject({ exit_code: 126, error: null });
	});

	test("a hint says what a code means, and that a pipeline hides one", async () => {
		const { terminal } = await begin();
		expect((await terminal({ command: "echo a | grep b" })).note).toMatch(/nothing matched/);
		const masked = await terminal({ command: "printf 'main.c:3:5: error: no\\n' 2>&1 | tail -n 5" });
		expect(masked).toMatchObject({ exit_code: 0, note: expect.stringContaining("pipefail") });
	});

	test("a here-document with & and nohup in it runs as it is, without a hint", async () => {
		const { terminal, dir, cwd } = await begin();
		const result = await terminal({ command: `cat >${dir}/file <<'EOF'\nnohup a & b &\nEOF` });
		expect(result).toEqual({ status: "exited", output: "", exit_code: 0, error: null, cwd, duration_ms: expect.any(Number) });
		expect(fs.readFileSync(`${dir}/file`, "utf8")).toBe("nohup a & b &\n");
	});

	test("a command that ends in & runs as given, with a hint to use background", async () => {
		const { terminal } = await begin();
		const result = await terminal({ command: "sleep 300 &" });
		expect(result).toMatchObject({ status: "exited", exit_code: 0, note: expect.stringContaining("background=true") });
	});

	test("the text is never rewritten", async () => {
		const { terminal } = await begin();
		expect((await terminal({ command: "true && echo one & wait; echo two; printf '%s' 'a\r\nb'" })).output).toBe("one\ntwo\na\r\nb");
		const unbalanced = await terminal({ command: "echo 'unbalanced" });
		expect(unbalanced).toMatchObject({ status: "exited", error: null, output: expect.stringContaining("unexpected EOF") });
		expect(unbalanced.exit_code).not.toBe(0);
	});

	test("a long history is not stuck in a pager", async () => {
		const { terminal, dir } = await begin();
		const commits = "for i in $(seq 60); do git commit -q --allow-empty -m $i; done";
		const result = await terminal({ command: `git init -q . && git config user.email a@b && git config user.name n && ${commits} && git log`, workdir: dir });
		expect(result).toMatchObject({ status: "exited", exit_code: 0, output: expect.stringMatching(/\n {4}1\n$/) });
	});
}
