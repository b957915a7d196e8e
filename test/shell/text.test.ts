/** Whatever the text of a command is, bash gets it as it is, and its output, order and code come back as bash gives them. */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ringSettles, tempDir } from "../support/home.js";
import { rounds } from "../support/seed.js";
import { testShell } from "./harness.js";

/** Text, code, output. */
const CASES: [string, string, number, string | RegExp][] = [
	["prints nothing", "true", 0, ""],
	["fails", "false", 1, ""],
	["no newline at the end", "printf abc", 0, "abc"],
	["NUL bytes", "printf 'a\\0b'", 0, "a\0b"],
	["a heredoc", "cat <<'EOF'\na 'b\n\"c\nEOF\necho done", 0, "a 'b\n\"c\ndone\n"],
	["a heredoc at the end", "cat <<EOF\n$((1+1))\nEOF", 0, "2\n"],
	["a heredoc with tabs, and another", "cat <<-A; cat <<B\n\ta\n\tA\n b & nohup c\nB\n", 0, "a\n b & nohup c\n"],
	["a heredoc without an end", "cat <<EOF\nabc", 0, /abc/],
	["an unbalanced quote", 'echo "abc', 2, /unexpected EOF/],
	["an open $(", "echo $(", 2, /unexpected EOF/],
	["an open brace", "{ echo a", 2, /unexpected end of file/],
	["a syntax error", "if then fi", 2, /syntax error/],
	["a stray )", ")", 2, /syntax error/],
	["a stray done", "done", 2, /syntax error/],
	["a stray } after a line", "echo a\n}", 2, /^a\n/],
	["a comment at the end", "echo x # comment", 0, "x\n"],
	["only a comment", "# nothing", 0, ""],
	["a backslash at the end", "echo y \\", 0, "y \\\n"],
	["CR LF", "echo a\r\necho b\r\n", 0, "a\r\nb\r\n"],
	[
		"quotes, tabs, !, unicode, control characters",
		`printf '%s|' 'it'"'"'s' "a\tb" '!x' 'é漢' $'\\x01' '\\' "\`echo q\`" '$HOME'`,
		0,
		"it's|a\tb|!x|é漢|\x01|\\|q|$HOME|",
	],
	["/dev/stderr and /dev/stdout", "echo one; echo two >/dev/stderr; echo three >/dev/stdout; echo four", 0, "one\ntwo\nthree\nfour\n"],
	["standard input is at its end", "cat; read -r a; echo rc=$?", 0, "rc=1\n"],
	["return at top level", "return 5; echo on", 5, ""],
	["break and continue at top level", "break; continue; echo on", 0, /on\n$/],
	["a subshell's EXIT trap", '(trap "echo bye" EXIT; echo in)', 0, "in\nbye\n"],
	["a child that dies of a signal", 'sh -c "kill -SEGV \\$\\$"', 139, /^/],
	["not found", "no-such-program-anywhere", 127, /not found/],
	["not executable", "/etc/passwd", 126, /Permission denied/],
	["division by zero", "echo $((1/0)); echo no", 1, /division by 0.*\n$/],
	["coproc", "coproc cat; echo hi >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x; kill %1", 0, /hi\n/],
	["text that looks like ours", "printf 'exit 0 -\\n#hf-end 1\\n__hf_post\\n'", 0, "exit 0 -\n#hf-end 1\n__hf_post\n"],
	["wait -n waits for a background job", "sleep 0.2 & /bin/false; /bin/true; wait -n; echo $?", 0, "0\n"],
	["jobs shows what runs, and nothing that has ended", "sleep 5 & /bin/true; jobs | grep -c .; kill $!", 0, "1\n"],
	["a pool of jobs", "for i in 1 2 3 4; do while [ $(jobs | wc -l) -ge 2 ]; do sleep 0.02; done; sleep 0.05 & done; wait; echo all", 0, "all\n"],
	["a background job that ends in the middle says nothing", "sleep 0.05 & sleep 0.2; echo b", 0, "b\n"],
	["A && B & C", "true && true & echo c", 0, "c\n"],
];

describe("is run as given", () => {
	test.each(CASES)("%s", async (_name, command, code, out) => {
		const { run } = await testShell();
		const ran = await run(command);
		expect(ran.out).toEqual(typeof out === "string" ? out : expect.stringMatching(out));
		expect(ran.code).toBe(code);
		expect(await run("echo still; (exit 9)")).toMatchObject({ code: 9, out: "still\n" });
	});
});

test("a megabyte of text, and sizes around that of a pipe", async () => {
	const { run } = await testShell();
	expect((await run(`V='${"x".repeat(1 << 20)}'; echo \${#V}`)).out).toBe("1048576\n");
	expect((await run(`${": filler\n".repeat(22_000)}echo big`)).out).toBe("big\n");
	for (const size of [3_900, 4_090, 4_096, 4_097, 65_536]) expect((await run(`echo ${"a".repeat(size)}`)).out).toHaveLength(size + 1);
	expect((await run("V=; echo small")).out).toBe("small\n");
});

test("stdout and stderr stay in the order written, also across processes", async () => {
	const { run } = await testShell();
	const lines = (n: number) => Array.from({ length: n }, (_, i) => `o${i + 1}\ne${i + 1}\n`).join("");
	expect((await run("for i in {1..200}; do echo o$i; echo e$i >&2; done")).out).toBe(lines(200));
	expect((await run('for i in {1..20}; do sh -c "echo o$i; echo e$i >&2"; done')).out).toBe(lines(20));
});

test("binary output is byte for byte what was printed", async () => {
	const { run } = await testShell();
	const file = path.join(tempDir(), "random");
	fs.writeFileSync(file, randomBytes(100_000));
	expect((await run(`cat ${file}`)).bytes.equals(fs.readFileSync(file))).toBe(true);
});

test("100 MB of output: the newest 64 MiB are kept, byte for byte, and the reader is told where they start", async () => {
	const shell = await testShell();
	const piece = randomBytes(1 << 20);
	const file = path.join(tempDir(), "piece");
	fs.writeFileSync(file, piece);
	const result = await shell.shells.run({ task: shell.task, command: `for i in {1..100}; do cat ${file}; done`, timeoutMs: 60_000, onTimeout: "kill" });
	await ringSettles(result.process, 64 << 20);
	const { first, end } = result.process.log.bounds();
	expect(end).toBe(100 << 20);
	expect(end - first).toBeGreaterThan(32 << 20);
	const expected = createHash("sha256");
	const seen = createHash("sha256");
	for (let at = first; at < end; ) {
		const slice = result.process.read(at);
		seen.update(slice.bytes);
		for (let i = at; i < slice.next; ) {
			const part = piece.subarray(i % piece.length, Math.min(piece.length, (i % piece.length) + slice.next - i));
			expected.update(part);
			i += part.length;
		}
		at = slice.next;
	}
	expect(seen.digest("hex")).toBe(expected.digest("hex"));
	result.release();
});

test("many commands in a row, each with its own output", async () => {
	const { run } = await testShell();
	for (let i = 0; i < rounds(100, 500); i++)
		expect((await run(i % 3 === 0 ? `V=${i}` : `echo ${i}; echo e${i} >&2`)).out).toBe(i % 3 === 0 ? "" : `${i}\ne${i}\n`);
});
