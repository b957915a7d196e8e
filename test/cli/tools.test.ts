/** `holdfast terminal` and `holdfast process`: the tools from a shell. */
import { expect, test } from "vitest";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime } from "../support/home.js";

async function home(): Promise<string> {
	const dir = tempDir("home");
	await testRuntime({ home: dir });
	return dir;
}

const json = (text: string) => JSON.parse(text) as Record<string, unknown>;

test("terminal: text for people, the command's own exit code, state that lasts between calls", async () => {
	const dir = await home();
	expect(await cli(dir, ["terminal", "--", "cd /usr; A=1; echo hi; exit 7"])).toMatchObject({
		code: 7,
		stdout: expect.stringMatching(/^\[exited, exit code 7\]\nhi\n/),
	});
	expect(await cli(dir, ["terminal", "--json", "--", "pwd;", "echo", "$A"])).toMatchObject({
		code: 0,
		stdout: expect.stringContaining('"output":"/usr\\n1\\n"'),
	});
	const other = await cli(dir, ["terminal", "--json", "--task", "other", "--", "echo [$A]"]);
	expect(json(other.stdout)).toMatchObject({ output: "[]\n" });
});

test("terminal: every parameter is an option", async () => {
	const dir = await home();
	const pty = await cli(dir, ["terminal", "--json", "--pty", "--cols", "50", "--rows", "9", "--workdir", "/usr", "--", "stty size; pwd"]);
	expect(json(pty.stdout)).toMatchObject({ screen: expect.stringMatching(/^9 50\n\/usr/), exit_code: 0 });
	const late = await cli(dir, ["terminal", "--timeout", "1", "--on-timeout", "kill", "--", "sleep 300"]);
	expect(late).toMatchObject({ code: 124, stdout: expect.stringMatching(/^\[timeout, exit code 124\]/) });
	const started = await cli(dir, ["terminal", "--json", "--background", "--watch-patterns", "a,b", "--watch-patterns", "c", "--", "sleep 300"]);
	expect(json(started.stdout)).toMatchObject({ status: "running", exit_code: null });
	expect(started.code).toBe(0);
});

test("terminal: a program that waits, and keys for it from another call", async () => {
	const dir = await home();
	expect(await cli(dir, ["terminal", "--pty", "--", "read -rp 'name? ' x; exit 5"])).toMatchObject({
		code: 0,
		stdout: expect.stringContaining("waits for a line"),
	});
	expect(await cli(dir, ["terminal", "--input-keys", "Jo<ENTER>"])).toMatchObject({ code: 5 });
});

test("terminal: what cannot be is said, with a code of its own", async () => {
	const dir = await home();
	expect(await cli(dir, ["terminal"])).toMatchObject({ code: 125, stdout: expect.stringContaining("command is missing") });
	expect(await cli(dir, ["terminal", "--json", "--timeout", "soon", "--", "true"])).toMatchObject({
		code: 125,
		stdout: expect.stringContaining("timeout must be a number"),
	});
	expect(await cli(dir, ["terminal", "--nonsense", "--", "true"])).toMatchObject({ code: 2 });
	expect(await cli(dir, ["terminal", "--input-keys", "x", "--session-id", "abcd"])).toMatchObject({ code: 3 });
});

test("process: actions, ids and data as words", async () => {
	const dir = await home();
	const { session_id } = json((await cli(dir, ["terminal", "--json", "--background", "--", "cat"])).stdout);
	const id = String(session_id);
	expect(json((await cli(dir, ["process", "submit", id, "hello there", "--json"])).stdout)).toMatchObject({ bytes_written: 12, status: "running" });
	const wait = await cli(dir, ["process", "wait", id, "--until", '{"pattern": "there"}', "--json"]);
	expect(json(wait.stdout)).toMatchObject({ matched: "pattern", output: "hello there\n" });
	expect(await cli(dir, ["process", "poll", id.slice(5, 10)])).toMatchObject({ code: 0, stdout: expect.stringContaining("hello there") });
	expect(json((await cli(dir, ["process", "list", "--json"])).stdout)).toMatchObject({ processes: [{ session_id: id }], error: null });
	expect(await cli(dir, ["process", "kill", id])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\[killed, exit code 143, SIGTERM/) });
});

test("process: what cannot be", async () => {
	const dir = await home();
	expect(await cli(dir, ["process", "poll", "abcd"])).toMatchObject({ code: 3 });
	expect(await cli(dir, ["process", "explode"])).toMatchObject({ code: 1, stdout: expect.stringContaining("list, poll, log") });
	expect(await cli(dir, ["process", "wait", "abcd", "--until", "port=3"])).toMatchObject({
		code: 2,
		stderr: expect.stringMatching(/JSON object, not port=3; --help/),
	});
	expect(await cli(dir, ["process", "submit", "abcd", "x", "y"])).toMatchObject({ code: 2 });
});

test("both are explained", async () => {
	const dir = await home();
	for (const name of ["terminal", "process"])
		expect(await cli(dir, [name, "--help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("--timeout N") });
});
