import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { Redactor } from "../../src/base/secrets/index.js";
import { commandNamed } from "../../src/doors/cli/commands/index.js";
import { commandHelp } from "../../src/doors/cli/help.js";
import { Output } from "../../src/doors/cli/output.js";
import { untilWaiting } from "../../src/screen/index.js";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime, until } from "../support/home.js";

/** A home whose processes are ended when the test is over. */
const testHome = async () => (await testRuntime()).home.root;
const json = (text: string) => JSON.parse(text);

test("a foreground command's output and exit code are passed on, byte for byte", async () => {
	const home = await testHome();
	expect(await cli(home, ["run", "--", "printf 'a\\tb'; echo err >&2; exit 7"])).toEqual({ code: 7, stdout: "a\tberr\n", stderr: "" });
	expect(await cli(home, ["run", "--", "printf", "%s;", "a b", "--json"])).toMatchObject({ code: 0, stdout: "a b;--json;" });
	expect(await cli(home, ["run", "--", "kill -9 $$"])).toMatchObject({ code: 137 });
});

test("what is piped into a foreground command reaches it, and the end of it too", async () => {
	const home = await testHome();
	const input = "line\n".repeat(50_000);
	expect(await cli(home, ["run", "--", "wc -l"], { input })).toMatchObject({ code: 0, stdout: "50000\n" });
	expect(await cli(home, ["run", "--", "head -n 1"], { input })).toMatchObject({ code: 0, stdout: "line\n" });
});

test("a background process is listed, written to, waited for, and its output read, from separate programs", async () => {
	const home = await testHome();
	const started = await cli(home, ["run", "--background", "--name", "echoer", "--", 'while read -r line; do echo "got $line"; done; exit 3']);
	expect(started).toMatchObject({ code: 0, stderr: "" });
	const id = started.stdout.trim();
	expect(id).toMatch(/^proc_[0-9a-f]{12}$/);
	expect((await cli(home, ["ps"])).stdout).toMatch(new RegExp(`${id} +default +running +\\d+ +\\d+s +echoer: while`));
	expect(await cli(home, ["submit", id, "one"])).toEqual({ code: 0, stdout: "", stderr: "" });
	expect(json((await cli(home, ["write", id.slice(5, 11), "--json"], { input: "two\n" })).stdout)).toEqual({ session_id: id, bytes_written: 4 });
	expect(await cli(home, ["wait", id, "--until", "pattern=got (two|three),four", "--timeout", "0.3"])).toMatchObject({
		code: 124,
		stderr: expect.stringContaining("not an error"),
	});
	expect(await cli(home, ["wait", id, "--until", "port=abc"])).toMatchObject({ code: 2, stderr: 'holdfast: until: port is "abc", but must be a number\n' });
	expect(await cli(home, ["wait", id, "--until", "port=1,pattern=got two", "--timeout", "20"])).toMatchObject({ code: 0, stdout: "pattern: got two\n" });
	await cli(home, ["close", id]);
	expect(await cli(home, ["wait", id, "--timeout", "20"])).toMatchObject({ code: 3, stdout: "exited, code 3\n" });
	expect(await cli(home, ["logs", id])).toEqual({ code: 0, stdout: "got one\ngot two\n", stderr: "" });
	expect((await cli(home, ["logs", id, "-n", "1"])).stdout).toBe("got two\n");
	expect((await cli(home, ["logs", id, "--from", "4"])).stdout).toBe("one\ngot two\n");
	expect(json((await cli(home, ["logs", id, "--json"])).stdout)).toEqual({
		session_id: id,
		output: "got one\ngot two\n",
		byte_offset: 0,
		next_offset: 16,
		total_bytes: 16,
		status: "exited",
		exit_code: 3,
	});
	expect(await cli(home, ["write", id, "more"])).toMatchObject({ code: 1, stderr: expect.stringContaining("has ended (exited, code 3)") });
	const { processes } = json((await cli(home, ["ps", "--json"])).stdout);
	expect(processes).toEqual([
		expect.objectContaining({
			session_id: id,
			name: "echoer",
			status: "exited",
			exit_code: 3,
			signal: null,
			task: "default",
			place: "local",
			pty: false,
			output_preview: "got one\ngot two\n",
		}),
	]);
});

test("kill says what it did, and a second kill that there was nothing left to do", async () => {
	const home = await testHome();
	const id = (await cli(home, ["run", "-b", "--", "sleep 600 & echo up; wait"])).stdout.trim();
	await cli(home, ["wait", id, "--until", "pattern=up", "--timeout", "20"]); // both are there
	const first = json((await cli(home, ["kill", id, "--json"])).stdout);
	expect(first).toMatchObject({ session_id: id, status: "killed", survivors: [], exit_code: 143, signal: "SIGTERM" });
	expect(first.signalled).toHaveLength(2);
	expect(await cli(home, ["kill", id])).toMatchObject({ code: 0, stdout: expect.stringContaining("had ended already") });
});

test("a timeout leaves it running in the background, or kills it when asked to", async () => {
	const home = await testHome();
	const left = await cli(home, ["run", "--timeout", "3", "--", "echo started; sleep 600"]); // time enough to start
	expect(left).toMatchObject({ code: 124, stdout: "started\n", stderr: expect.stringMatching(/goes on in the background as proc_/) });
	const id = /proc_[0-9a-f]{12}/.exec(left.stderr)?.[0] as string;
	expect(json((await cli(home, ["ps", "--json", "--running"])).stdout).processes).toHaveLength(1);
	await cli(home, ["kill", id]);
	const killed = await cli(home, ["run", "--timeout", "0.3", "--on-timeout", "kill", "--json", "--", "echo started; sleep 600"]);
	expect(killed.code).toBe(124);
	expect(json(killed.stdout)).toMatchObject({ status: "killed", timed_out: true });
	expect(json((await cli(home, ["ps", "--json", "--running"])).stdout).processes).toEqual([]);
});

test("tasks are kept apart", async () => {
	const home = await testHome();
	await cli(home, ["run", "-b", "--task", "one", "--", "sleep 600"]);
	expect(json((await cli(home, ["ps", "--json"])).stdout).processes).toEqual([]);
	expect(json((await cli(home, ["ps", "--json", "--task", "one"])).stdout).processes).toHaveLength(1);
	expect((await cli(home, ["ps", "--all"])).stdout).toMatch(/TASK.*one +running/s);
});

test("secrets of the caller are not passed on unless named", async () => {
	const home = await testHome();
	const env = { MY_API_KEY: "sk-1", HOLDFAST_SECRET_THING: "x" };
	expect((await cli(home, ["run", "--", 'echo "[$MY_API_KEY][$HOLDFAST_HOME]"'], { env })).stdout).toBe("[][]\n");
	expect((await cli(home, ["run", "--env", "MY_API_KEY", "--", 'echo "[$MY_API_KEY]"'], { env })).stdout).toBe("[sk-1]\n");
});

test.each([
	[["--place", "local", "ps"], 2, "options come after the command: holdfast COMMAND --place"],
	[["frobnicate"], 2, "there is no command"],
	[["help", "frobnicate"], 2, "there is no command"],
	[["run"], 2, "give a command after --"],
	[["run", "--", ""], 2, "empty"],
	[["run", "--timeout", "-1", "--", "true"], 2, "--timeout"],
	[["run", "--timeout", "soon", "--", "true"], 2, "--timeout"],
	[["run", "--on-timeout", "explode", "--", "true"], 2, "--on-timeout"],
	[["run", "--cwd", "/no/such/dir", "--", "true"], 125, "does not exist"],
	[["run", "--colour", "--", "true"], 2, "--colour"],
	[["logs"], 2, "give the id"],
	[["run", "--pty", "--no-pty", "--", "true"], 2, "not both"],
	[["logs", "proc_000000000000"], 3, "no process"],
	[["logs", "x"], 3, "not a process id"],
	[["wait", "proc_000000000000", "--until", "moon"], 2, "no condition"],
	[["kill"], 2, "at least one"],
	[["write", "proc_000000000000", "a", "b"], 2, "quotes"],
	[["prune", "--older-than", "yesterday"], 2, "--older-than"],
	[["signal", "proc_000000000000"], 2, "a signal"],
])("%j fails with %i and one helpful line", async (args, code, message) => {
	const home = tempDir("home");
	const result = await cli(home, args);
	expect(result).toMatchObject({ code, stdout: "" });
	expect(result.stderr).toContain(message);
	expect(result.stderr.trim().split("\n")).toHaveLength(1);
	const asJson = await cli(home, [args[0] as string, "--json", ...args.slice(1)]);
	expect(asJson.code).toBe(code);
	expect(json(asJson.stdout).error.message).toContain(message);
});

test("what is for people says so to a program", async () => {
	const home = await testHome();
	expect(await cli(home, ["attach"])).toMatchObject({ code: 3, stderr: expect.stringContaining("nothing runs that this terminal could be put on") });
	expect(await cli(home, ["shell"])).toMatchObject({ code: 1, stderr: expect.stringContaining("needs a terminal on both sides") });
	for (const name of ["attach", "shell"]) expect(json((await cli(home, [name, "--json"])).stdout).error.message).toContain("for people");
});

test("a home that cannot be used is one clear line, no stack", async () => {
	const file = path.join(tempDir(), "file");
	fs.writeFileSync(file, "");
	const result = await cli(file, ["ps"]);
	expect(result.code).toBe(1);
	expect(result.stderr).toMatch(/^holdfast: cannot use .*as home.*\n$/);
});

const FOR_PEOPLE = ["demo", "shell", "attach"]; // on a terminal, without fields to print

test("help teaches: an overview, and for each command its options and an example", async () => {
	const home = tempDir("home");
	const overview = await cli(home, []);
	for (const group of ["Start here", "Run and look", "What agents do"]) expect(overview.stdout).toContain(`\n${group}\n`);
	const names = [...overview.stdout.matchAll(/^ {2}([a-z-]+) +\S/gm)].map((match) => match[1] as string);
	expect(names).toEqual(expect.arrayContaining(["run", "ps", "logs", "wait", "write", "submit", "kill", "attach", "prune", "doctor"]));
	const out = new Output({ json: false, secrets: new Redactor() });
	for (const name of names) {
		const help = await commandHelp(await commandNamed(name), out);
		expect(help).toContain(`Usage: holdfast ${name}`);
		expect([name, help.includes("--json")]).toEqual([name, !FOR_PEOPLE.includes(name)]);
	}
	// The same through the program: of a command of its own, and of one that is made from a tool.
	for (const name of ["run", "read-file"]) {
		const help = await commandHelp(await commandNamed(name), out);
		expect(await cli(home, [name, "--help"])).toEqual({ code: 0, stderr: "", stdout: `${help}\n` });
	}
	expect((await cli(home, ["--version"])).stdout).toMatch(/^holdfast \d+\.\d+\.\d+\n$/);
});

test("doctor finds what a crash left, and cleans it when told to", async () => {
	const home = await testHome();
	await cli(home, ["run", "--", "true"]);
	const lost = path.join(home, "procs", "0", "proc_000000000001");
	fs.mkdirSync(lost);
	const broken = path.join(home, "procs", "0", "proc_000000000002");
	fs.mkdirSync(broken);
	fs.writeFileSync(path.join(home, "live", "proc_000000000002"), "");
	fs.writeFileSync(path.join(broken, "spec.json"), "{");
	const found = await cli(home, ["doctor", "--json"]);
	expect(found.code).toBe(1);
	expect(json(found.stdout).orphans.map((orphan: { kind: string; path: string }) => [orphan.kind, orphan.path])).toEqual([
		["broken", broken],
		["directory", lost],
	]);
	const cleaned = await cli(home, ["doctor", "--clean", "--yes"]);
	expect(cleaned.stdout).toMatch(/moved proc_000000000002 to .*broken/);
	expect(fs.existsSync(lost)).toBe(false);
	expect(json((await cli(home, ["doctor", "--json"])).stdout).orphans).toEqual([]);
});

test("prune removes what is old and says how much", async () => {
	const home = await testHome();
	await cli(home, ["run", "--", "echo x"]);
	expect((await cli(home, ["prune", "--older-than", "1h"])).stdout).toMatch(/removed 0 ended/);
	expect(json((await cli(home, ["prune", "--older-than", "0s", "--json"])).stdout)).toMatchObject({
		removed: [expect.stringMatching(/^proc_/)],
		dry_run: false,
	});
});

test("kill -9 of the CLI in the middle of a foreground command loses nothing", async () => {
	const home = await testHome();
	const { spawn } = await import("node:child_process");
	const { CLI } = await import("../support/cli.js");
	const child = spawn(process.execPath, [CLI, "run", "--home", home, "--", "echo before; read -r go; echo after; exit 9"], {
		stdio: ["pipe", "pipe", "inherit"],
	});
	await new Promise((resolve) => child.stdout.once("data", resolve));
	child.kill("SIGKILL");
	await new Promise((resolve) => child.once("exit", resolve));
	const [item] = json((await cli(home, ["ps", "--json"])).stdout).processes;
	expect(item).toMatchObject({ status: "running", exit_code: null });
	await cli(home, ["submit", item.session_id, "go"]);
	expect(await cli(home, ["wait", item.session_id, "--timeout", "20"])).toMatchObject({ code: 9 });
	expect((await cli(home, ["logs", item.session_id])).stdout).toBe("before\nafter\n");
	await until("settled", () => fs.readdirSync(path.join(home, "live")).length === 0);
});

test("screen shows what a person would see and what is waited for; keys are typed, unknown ones refused", async () => {
	const runtime = await testRuntime();
	const home = runtime.home.root;
	const id = (await cli(home, ["run", "-b", "--pty", "--", "printf 'old\\rnew\\n'; while read -r -p '? ' line; do echo \"[$line]\"; done"])).stdout.trim();
	expect(await untilWaiting(runtime.get(id), { timeout: 100_000 })).toMatchObject({ matched: "input" }); // the prompt comes a moment before
	expect(json((await cli(home, ["screen", id, "--json"])).stdout)).toMatchObject({
		screen: "new\n?",
		cursor: { row: 1, col: 2 },
		alt_screen: false,
		waiting_for: "line",
	});
	const typed = await cli(home, ["keys", id, "abc<BACKSPACE>d<ENTER>"]);
	expect(typed).toMatchObject({ code: 0, stdout: "new\n? abd\n[abd]\n?\n", stderr: "(waits for a line)\n" });
	expect(await cli(home, ["keys", id, "x<NOPE>"])).toMatchObject({ code: 2, stderr: expect.stringContaining("<NOPE> is not a key") });
	const plain = (await cli(home, ["run", "-b", "--", "cat"])).stdout.trim();
	expect(await cli(home, ["screen", plain])).toMatchObject({ code: 1, stderr: expect.stringContaining("has no terminal") });
});
