/** The transcript of a task: all that it did, in order, from the command line and as files. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { taskKey } from "../../src/base/index.js";
import { handBack } from "../../src/notices/index.js";
import { Keyboard } from "../../src/process/index.js";
import { outputOf, recordedTasks, TaskTranscript, type TranscriptEntry } from "../../src/transcript/index.js";
import { markdownOf } from "../../src/transcript/markdown.js";
import { onOneLine } from "../../src/transcript/words.js";
import { setting } from "../approvals/support.js";
import { CLI, cli, hasTmux, Terminal } from "../support/cli.js";
import { atEnd, forFile, tempDir, testRuntime, until } from "../support/home.js";
import type { Runtime } from "../support/internal.js";

type Entry = TranscriptEntry & { output?: string; omitted_bytes?: number };

const parsed = (stdout: string): Entry[] =>
	stdout
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));

const logOf = async (home: string, ...args: string[]): Promise<Entry[]> => parsed((await cli(home, ["log", "--json", ...args])).stdout);

const hostileName = "a/b \u00fc\n<script>alert(1)</script> `x` \u202e";

/** One home with a task that has a name and output that attack whoever shows them. */
let shared: Promise<Runtime> | undefined;
const hostile = (): Promise<Runtime> =>
	(shared ??= forFile(async () => {
		const runtime = await testRuntime({ task: hostileName });
		await runtime.terminal({ command: `printf '\\033[2J\\033]0;title\\007</pre><script>document.title="owned"</script>\\n\`\`\`\\n# not a heading\\n'` });
		await runtime.terminal({ command: `printf 'one\\rtwo\\n'; printf 'a\\tb'; exit 3` });
		await runtime.terminal({ command: "seq 1 400000; echo the end", max_output_chars: 1000 });
		return runtime;
	}));

test("commands, files, questions, notices and the keyboard, in order, with who, code, time and output; no secret is in it", async () => {
	const { runtime, risky, home, dir } = await setting();
	const token = `ghp_${"Ab3dEf7hIj1kLm5nOp9qRs2tUv6wXy0zAb3d"}`; // put together, so that none is in this file
	const since = new Date().toISOString();
	await runtime.terminal({ command: `echo 'T${token.slice(1)}' | sed s/^T/g/; exit 4` }, { id: "mine" });
	await runtime.call("write_file", { path: path.join(dir, "a.txt"), content: "text\n" });
	await runtime.call("read_file", { path: path.join(dir, "a.txt") });
	const { approval_id } = await runtime.terminal({ command: risky });
	await runtime.approvals.answer(approval_id as string, { answer: "no", by: "somebody", message: "not on main" });
	const { session_id } = await runtime.terminal({ command: "read line; echo got $line", background: true, pty: true, notify_on_complete: true });
	const process = runtime.get(session_id as string);
	handBack(runtime.home, process, Keyboard.take(process, { who: "a person in a test" }) as Keyboard);
	await runtime.process({ action: "submit", session_id, data: "typed" });
	await process.wait();
	await runtime.terminal({ command: "true" }); // which brings the notice with it
	const entries = (await logOf(home, "--since", since)).filter(({ command }) => command !== "true");
	const order = ["command", "file", "read", "asked", "decided", "command", "keyboard", "keyboard", "wrote", "notice"];
	expect(entries.map(({ kind }) => kind)).toEqual(order);
	expect(entries).toMatchObject([
		{ call: "mine", exit_code: 4, status: "exited", by: "library", duration_ms: expect.any(Number), bytes: 41, output: expect.stringContaining("[redacted]") },
		{ tool: "write_file", bytes: 5, command: expect.stringContaining("a.txt") },
		{ tool: "read_file", command: expect.stringContaining("a.txt") },
		{ approval_id, command: risky, rule: "force-push" },
		{ approval_id, outcome: "no", by: "somebody", message: "not on main" },
		{ session_id, pty: true, status: "exited", exit_code: 0, output: expect.stringContaining("got typed") },
		{ session_id, outcome: "taken", by: "a person in a test" },
		{ session_id, outcome: "returned", by: "a person in a test", duration_ms: expect.any(Number) },
		{ session_id, bytes: expect.any(Number) },
		{ session_id, notice: "completed", message: expect.stringContaining("exit code 0") },
	]);
	expect(new Set(entries.map(({ entry_id }) => entry_id)).size).toBe(entries.length);
	for (const format of ["md", "json", "html"]) {
		const { stdout, code } = await cli(home, ["log", "default", "--export", "-", "--format", format]);
		expect(code).toBe(0);
		expect(stdout).toContain("not on main");
		expect(stdout).not.toContain(token);
	}
	expect(JSON.stringify(entries)).not.toContain(token);
	const shown = (await cli(home, ["log", "--output", "--since", since])).stdout;
	expect(shown).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}exit 4 {8}echo .*\(\d+ ms, 41 bytes, proc_\w{12}\)\n {4}g?.*\[redacted\]$/m);
	expect(shown).toMatch(/ no {12}not on main {2}\(.*by somebody\)/);
	expect(shown).not.toContain(token);
	// A search looks into what was printed too, and shows where it was found.
	expect((await logOf(home, "--search", "GOT typed")).map(({ kind }) => kind)).toEqual(["command", "notice"]);
	expect((await cli(home, ["log", "--search", "got typed"])).stdout).toMatch(/\n {4}got typed\n/);
	expect(await logOf(home, "--search", "nowhere to be found")).toEqual([]);
});

test("hostile names and output act on nothing: no escape sequence, no script, no fence is left, and each line fits", async () => {
	const home = (await hostile()).home.root;
	const text = await cli(home, ["log", hostileName, "--output"]);
	expect(text.code).toBe(0);
	expect(text.stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
	expect(text.stdout).toContain("    two\n    a    b");
	expect(text.stdout).toMatch(/ {4}10\n {4}… holdfast logs proc_\w{12} prints the rest/);
	const html = (await cli(home, ["log", hostileName, "--export", "-", "--format", "html"])).stdout;
	expect(html.match(/<script/g)).toHaveLength(1);
	expect(html).toContain("&lt;/pre&gt;&lt;script&gt;document.title=&quot;owned&quot;");
	expect(html).toContain("script-src 'sha256-");
	expect(html).not.toMatch(/https?:\/\/|[\u0000-\u0008\u000b-\u001f\u202e]/);
	const markdown = (await cli(home, ["log", hostileName, "--export", "-", "--format", "md"])).stdout;
	expect(markdown.split("\n").filter((line) => line.startsWith("# "))).toEqual([markdown.split("\n")[0], "# not a heading"]);
	expect(markdown).toMatch(/\n````text\n[\s\S]*\n```\n# not a heading\n````\n/);
	const { entries, task } = JSON.parse((await cli(home, ["log", hostileName, "--export", "-", "--format", "json"])).stdout);
	expect(task).toBe(hostileName);
	expect(entries.map(({ exit_code }: Entry) => exit_code)).toEqual([0, 3, 0]);
	// Of more than 1 MiB the two ends are there, and what is left out is counted.
	const [, , long] = entries as Entry[];
	expect(long?.output).toMatch(/^1\n2\n/);
	expect(long?.output).toMatch(/the end\n$/);
	expect(long?.output).toContain(`[… ${long?.omitted_bytes} bytes left out; \`holdfast logs ${long?.session_id}\` has all of it …]`);
	expect((long?.omitted_bytes as number) + 1024 * 1024).toBe(long?.bytes);
	expect(Buffer.byteLength(long?.output as string)).toBeLessThan(1024 * 1024 + 200);
});

test("an export is a file of its own, whole or not at all; what cannot be written, or is not there, is said", async () => {
	const home = (await hostile()).home.root;
	const dir = tempDir("out");
	const file = path.join(dir, "log.html");
	expect(await cli(home, ["log", hostileName, "--export", file])).toMatchObject({ code: 0, stderr: expect.stringMatching(/^3 entries, .* written to /) });
	const written = fs.readFileSync(file, "utf8");
	expect(written).toMatch(/<\/html>\n$/);
	expect(fs.readdirSync(dir)).toEqual(["log.html"]);
	for (const [args, words] of [
		[[hostileName, "--export", file], "there is such a file already"],
		[[hostileName, "--export", "/proc/log.md"], "no file can be made in /proc"],
		[[hostileName, "--export", path.join(dir, "no", "log.md")], `there is no directory ${path.join(dir, "no")}`],
		[[hostileName, "--export", path.join(dir, "log.pdf")], "a name that ends in .md, .json or .html"],
		[[hostileName, "--export", path.join(dir, "log"), "--format", "pdf"], "--format takes md, json, html"],
		[[hostileName, "--export", "/proc/log.md"], "cannot write /proc/log.md"],
		[[hostileName, "--since", "yesterday"], "--since takes 10m"],
		[["a/b"], "did you mean"],
		[["nothing like it"], "there is no task"],
		[["a", "b"], "only one task"],
	] as const) {
		const { code, stderr, stdout } = await cli(home, ["log", ...args]);
		expect([code, stdout]).toEqual([args[0] === "a/b" || args[0] === "nothing like it" ? 3 : 2, ""]);
		expect(stderr).toContain(words);
	}
	expect(fs.readFileSync(file, "utf8")).toBe(written);
	// Killed in the middle: a reader that takes nothing holds the export up.
	const half = path.join(dir, "half.json");
	const child = spawn(process.execPath, ["--import", SLOW, CLI, "log", hostileName, "--export", half], {
		env: { ...process.env, HOLDFAST_HOME: home },
		stdio: "ignore",
	});
	const gone = new Promise((resolve) => child.once("close", resolve));
	atEnd(() => child.kill("SIGKILL"));
	await until("the export has begun", () => fs.readdirSync(dir).some((name) => name.endsWith(".part")));
	child.kill("SIGKILL");
	await gone;
	expect(fs.existsSync(half)).toBe(false);
});

/** Puts nothing in its place: the file that is written beside it stays. */
const SLOW = `data:text/javascript,${encodeURIComponent('import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module"; fs.linkSync = () => { for (;;); }; syncBuiltinESMExports();')}`;

test.skipIf(!hasTmux)("on a terminal of 20 columns no line is wider, and the output acts on nothing", async () => {
	const home = (await hostile()).home.root;
	const task = path.join(tempDir("name"), "task");
	fs.writeFileSync(task, hostileName);
	const terminal = new Terminal(`sh -c 'stty cols 20; node ${CLI} log "$(cat ${task})" --output; sleep 1000'`, { HOLDFAST_HOME: home });
	expect(await terminal.shows("seq 1")).not.toContain("title");
	expect(await terminal.shows("… logs")).toMatch(/^\d\d:\d\d:\d\d exit 0.*\n {2}[0-9a-f]{6} seq 1 4000…\n {4}1\n/m);
	for (const line of (await terminal.screen()).split("\n")) expect(line.length).toBeLessThanOrEqual(20);
});

test.skipIf(!hasTmux)("on a terminal of 80 columns the id of each command stays whole enough to be used, whatever else has no room", async () => {
	const runtime = await testRuntime({ task: "t" });
	const ran = await runtime.spawn({ command: ["sh", "-c", `: ${"long ".repeat(40)}; seq 99999`], task: "t" });
	await ran.wait();
	const terminal = new Terminal(`sh -c 'stty cols 80; node ${CLI} log t; sleep 1000'`, { HOLDFAST_HOME: runtime.home.root });
	const short = ran.id.slice("proc_".length, "proc_".length + 6);
	expect(await terminal.shows(short)).toMatch(new RegExp(`^\\S+ \\S+ {2}exit 0 .*…  \\(.*, ${short}\\)$`, "m"));
});

test("--follow shows what is there, then what comes, once each; processes that a person starts too", async () => {
	const runtime = await testRuntime({ task: "live" });
	const home = runtime.home.root;
	await runtime.terminal({ command: "echo before" });
	const runs = await runtime.spawn({ command: "read line", task: "live" });
	const child = spawn(process.execPath, [CLI, "log", "live", "--json", "--follow"], { env: { ...process.env, HOLDFAST_HOME: home } });
	atEnd(() => child.kill("SIGKILL"));
	let text = "";
	child.stdout.setEncoding("utf8").on("data", (piece: string) => {
		text += piece;
	});
	const closed = new Promise((resolve) => child.once("close", resolve));
	const known = () => parsed(text.slice(0, text.lastIndexOf("\n") + 1)).map(({ command, status, kind }) => `${kind} ${command} ${status}`);
	await until("what is there", () => known().length >= 2);
	await runtime.terminal({ command: "echo after; exit 2" });
	await runtime.terminal({ command: "echo of another" }, { task: "other" });
	await runtime.call("write_file", { path: path.join(tempDir("w"), "x"), content: "x" });
	await runs.kill();
	const later = await runtime.spawn({ command: "exec sleep 300", task: "live" });
	await until("all of it", () => known().includes("command exec sleep 300 running") && known().includes("command read line killed"));
	child.kill("SIGINT");
	expect(await closed).toBe(0);
	await later.kill();
	expect(
		known()
			.map((line) => line.replace(/^file cat > .*x'/, "file x"))
			.toSorted(),
	).toEqual([
		"command echo after; exit 2 exited",
		"command echo before exited",
		"command exec sleep 300 running",
		"command read line killed",
		"command read line running",
		"file x undefined",
	]);
});

test("the tasks with a transcript are those of agents and those of people, the one that was active last first", async () => {
	const runtime = await testRuntime({ task: "agent" });
	await runtime.terminal({ command: "true" });
	const audit = path.join(runtime.home.audit, `${taskKey("agent")}.jsonl`);
	await until("its end is on record, which comes after the answer", () => fs.readFileSync(audit, "utf8").includes('"event":"ended"'));
	await (await runtime.spawn({ command: "true", task: "person" })).wait();
	const runs = await runtime.spawn({ command: "exec sleep 300", task: "runs" });
	const names = () => recordedTasks(runtime, 10).map(({ task }) => task);
	expect(names()).toEqual(["runs", "person", "agent"]);
	await runs.kill();
	fs.rmSync(runs.dir, { recursive: true }); // its ticket alone names no task
	expect(names()).toEqual(["person", "agent"]);
});

test("what was removed stays in the transcript with its end, and says when it went; every id that was shown opens, or says so", async () => {
	const runtime = await testRuntime({ task: "t" });
	const home = runtime.home.root;
	for (const n of [1, 2, 3]) await runtime.terminal({ command: `echo ${n}; (exit ${n})` });
	const kept = await runtime.terminal({ command: "seq 1 5000", max_output_chars: 1000 }); // it keeps its slot, with those before it
	const before = await logOf(home, "t");
	expect(before.map(({ output }) => output?.slice(0, 4))).toEqual(["1\n", "2\n", "3\n", "1\n2\n"]);
	for (const { session_id, output } of before) expect((await cli(home, ["logs", session_id as string])).stdout).toBe(output);
	await runtime.close();
	await cli(home, ["end", "t"]);
	const ids = before.map(({ session_id }) => session_id as string);
	expect(ids).toContain(kept.truncated?.session_id);
	expect(JSON.parse((await cli(home, ["prune", "--older-than", "0s", "--json"])).stdout).removed.length).toBeGreaterThan(0);
	const after = await logOf(home, "t");
	expect(after.map(({ exit_code, command }) => [exit_code, command])).toEqual(before.map(({ exit_code, command }) => [exit_code, command]));
	expect(after.every(({ note, bytes, output }) => /was removed at/.test(note ?? "") && bytes === null && output === undefined)).toBe(true);
	for (const id of ids)
		expect(await cli(home, ["logs", id])).toMatchObject({ code: 3, stderr: expect.stringMatching(new RegExp(`^holdfast: ${id} was removed at \\d`)) });
	fs.rmSync(path.join(home, "removed")); // as for a command of another machine, whose log is nowhere
	expect((await cli(home, ["logs", ids[0] as string])).stderr).toMatch(/ran at \S+ in task "t", and its output is not kept any more/);
});

test("what a shell's commands have printed is kept within the quota of the home, like processes; what is not the task's is not opened", async () => {
	const runtime = await testRuntime();
	const home = runtime.home.root;
	for (const task of ["a", "b"]) {
		await runtime.terminal({ command: `head -c 300000 /dev/zero | tr '\\0' ${task}`, max_output_chars: 400_000 }, { task });
		await runtime.endTask(task);
	}
	const spawned = await runtime.spawn({ command: "true", task: "b" });
	await spawned.wait();
	spawned.status();
	expect(runtime.registry.endedOtherwise("a", 0)).toContain(spawned.id);
	expect(runtime.registry.endedOtherwise("b", 0)).not.toContain(spawned.id);
	expect(runtime.registry.endedOtherwise("b", Date.now() + 1000)).toContain(spawned.id);
	const entries = async (task: string) => [...(await TaskTranscript.of(runtime, task)).read()];
	const [first] = await entries("a");
	expect(outputOf(first?.process as never, 1000).omitted_bytes).toBe(300_000 - 1000);
	expect(await entries("b")).toHaveLength(2);
	await runtime.close();
	const next = await testRuntime({ home });
	expect(next.prune({})).toMatchObject({ removed: [] }); // not 7 days old, and within 16 GiB
	const before = await TaskTranscript.of(next, "b");
	const opened = [...(await TaskTranscript.of(next, "a")).read()];
	const { removed, bytes } = next.prune({ quotaBytes: 100_000 });
	expect(bytes).toBeGreaterThanOrEqual(600_000);
	expect(removed.length).toBeGreaterThan(0);
	// It went after somebody had looked where it is, and after it was opened.
	expect([...before.read()].map(({ entry }) => entry.exit_code)).toContain(0);
	expect(opened.map(({ process }) => outputOf(process as never).output)).toEqual(["[… 300000 bytes are gone: their log was removed …]\n"]);
	const [told] = [...(await TaskTranscript.of(next, "a")).read()];
	expect(told).toMatchObject({ entry: { exit_code: 0, bytes: null, note: expect.stringContaining("was removed at") } });
});

test("no part of a command is hidden by a control sequence in it", () => {
	expect(onOneLine(": '\u001b]'; touch /x; : '\u0007'")).toBe(": '\\u001b]'; touch /x; : '\\u0007'");
});

test("in Markdown everything of the task is code, however many backticks it has", () => {
	const entry = { entry_id: "1", at: "2026-01-31T12:00:00.000Z", task: "x" };
	const entries = [
		{ entry: { ...entry, kind: "notice", notice: "pattern", session_id: "`", message: "````\n# no heading\n[no](link)" } },
		{ entry: { ...entry, kind: "asked", command: "`", approval_id: "``<b>``", rule: "r" } },
	] as unknown as Parameters<typeof markdownOf>[0]["entries"];
	const text = [...markdownOf({ task: "`# no` ``heading", at: new Date(0), entries })].join("");
	const headings = text.split("\n").filter((line) => line.startsWith("#"));
	expect(headings).toEqual(["# Transcript of ``` `# no` ``heading ```", "## 2026-01-31 12:00:00 `notice`", "# no heading", "## 2026-01-31 12:00:00 `asked`"]);
	expect(text).toContain("\n`````\n````\n# no heading\n[no](link)\n`````\n"); // inside of a fence
	expect(text).toContain("`rule r`, ``` ``<b>`` ```\n");
	expect(text).toContain("\n```\n`\n```\n");
});

test("a value that only the environment of the task's shell gives away is masked by a program that never had it", async () => {
	const runtime = await testRuntime({ task: "given" });
	const value = "zebra-lantern-quartz";
	await runtime.terminal({ command: `export PARCEL_API_TOKEN=zebra-"lantern-quartz"` });
	const { session_id } = await runtime.terminal({ command: "echo it is $PARCEL_API_TOKEN; seq 1000", max_output_chars: 200 });
	const home = runtime.home.root;
	const [, shown] = await logOf(home, "given");
	expect(shown?.output).toMatch(/^it is …\[redacted\]\n1\n2\n/);
	expect((await cli(home, ["logs", session_id as string])).stdout).toMatch(/^it is …\[redacted\]\n1\n/);
	expect((await cli(home, ["log", "given", "--search", value])).stdout).toBe("");
});
