/** What a person meets who mistypes, pipes, or has a narrow terminal. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { CLI, cli } from "../support/cli.js";
import { tempDir, testRuntime, textOf } from "../support/home.js";

test("help, and what doctor finds, is as wide as the terminal, and breaks between words; without one it is as it was written", async () => {
	const runtime = await testRuntime();
	const at = async (cols: number, ...args: string[]) => {
		const shown = await runtime.spawn({
			command: [process.execPath, CLI, ...args, "--home", runtime.home.root],
			terminal: { cols, rows: 30 },
			env: { NO_COLOR: "1" },
		});
		await shown.wait({ timeout: 100_000 });
		return textOf(shown).replaceAll("\r", "").split("\n");
	};
	const { stdout } = await cli(runtime.home.root, ["run", "--help"]);
	expect(stdout.split("\n").some((line) => line.length > 120)).toBe(true);
	const words = (lines: readonly string[]) => lines.join(" ").split(/\s+/).filter(Boolean);
	for (const cols of [80, 40]) {
		const lines = await at(cols, "run", "--help");
		expect(lines.filter((line) => line.length > cols && !line.startsWith("  holdfast "))).toEqual([]);
		expect(words(lines)).toEqual(words(stdout.split("\n")));
	}
	expect(await at(80, "run", "--help")).toContain("  --place PLACE            where commands run: local (default), local+sandbox,");
	expect((await at(80, "run", "--help")).join("\n")).toMatch(/local\+sandbox,\n {27}ssh:\/\/user@host:port\/dir, docker:\/\/image,/);
	expect((await at(80, "doctor")).join("\n")).toMatch(/ limits {7}\S.*\n {19}\S/);
});

test("a person who stops reading the output of a command is told that it goes on", async () => {
	const runtime = await testRuntime();
	const { stdout, stderr } = await cli(runtime.home.root, ["run", "--", "yes"], { prefix: ["sh", "-c", '"$@" | head -n 1', "sh"] });
	const [yes] = runtime.list();
	expect({ stdout, stderr }).toEqual({ stdout: "y\n", stderr: `holdfast: nothing reads its output any more; ${yes?.id} goes on, \`holdfast kill\` ends it\n` });
	expect(yes?.status().status).toBe("running");
});

test("output that has no room is an error of one line", async () => {
	const { home } = await testRuntime();
	const full = await cli(home.root, ["help"], { prefix: ["sh", "-c", '"$@" >/dev/full', "sh"] });
	expect(full).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(/^holdfast: cannot write to stdout: ENOSPC.*\n$/) });
});

test("a call that is wrong is told what is wrong with it", async () => {
	const { home } = await testRuntime();
	const file = path.join(tempDir(), "file");
	fs.writeFileSync(file, "");
	for (const [args, message] of [
		[["ps", "--al"], "there is no option --al; see `holdfast ps --help`"],
		[["ps", "-x"], "there is no option -x; see `holdfast ps --help`"],
		[["ps", "--home"], "--home takes a value; see `holdfast ps --help`"],
		[
			["run", "--background=yes", "--", "true"],
			"--background takes no value; options of the command itself go behind --, ours before it; see `holdfast run --help`",
		],
		[["run", "ls", "-l"], "there is no option -l; options of the command itself go behind --, ours before it; see `holdfast run --help`"],
		[["run", "ls", "-t"], "ambiguous option -t; options of the command itself go behind --, ours before it; see `holdfast run --help`"],
		[["terminal", "echo", "--pty"], "ambiguous option --pty; options of the command itself go behind --, ours before it; see `holdfast terminal --help`"],
		[["ps", "--home="], "--home takes a directory, and none was given"],
		[["demo", "please"], '"please" is not expected here'],
		[["list"], 'there is no command "list"; did you mean `holdfast ps`?'],
		[["lsit"], 'there is no command "lsit"; did you mean `holdfast ps`?'],
		[["aproval"], 'there is no command "aproval"; did you mean `holdfast approvals`?'],
		[["frobnicate"], 'there is no command "frobnicate"; `holdfast help` lists them'],
		[["-v"], 'there is no command "-v"; did you mean `holdfast --version`?'],
		[["run", "--env", "NO_SUCH", "--", "true"], "--env NO_SUCH: there is no such variable here; to set one, give --env NO_SUCH=VALUE"],
		[["run", "--env", "1A=x", "--", "true"], '--env 1A=x: "1A" is no name for a variable'],
		[["prune", "--quota", "5"], '--quota takes a size with its unit, such as 500M or 16G, not "5"'],
		[["run", "--log-limit", "5X", "--", "true"], '--log-limit takes a number of bytes, or a size such as 64K, 512M or 16G, not "5X"'],
		[["run", "--timeout", "1y", "--", "true"], '--timeout takes a number of seconds above 0, or a time such as 30s or 5m, not "1y"'],
	] as const)
		expect(await cli(home.root, args), args.join(" ")).toEqual({ code: 2, stdout: "", stderr: `holdfast: ${message}\n` });
	for (const bad of [file, path.join(file, "home")])
		expect(await cli(bad, ["ps"])).toMatchObject({
			code: 1,
			stderr: `holdfast: cannot use ${bad} as home: a file is in its way; choose another with HOLDFAST_HOME\n`,
		});
	expect((await cli(home.root, ["read-file"])).stdout).toContain("Error: path is missing; nothing was done");
});

test("options take what people write: variables with values, times with units, patterns as in the help", async () => {
	const { home } = await testRuntime();
	const env = { PASSED: "on", SECOND_TOKEN: "s3cond" };
	const run = ["run", "--env", "A=1=2", "--env", "SECOND_TOKEN,PASSED", "--env", "EMPTY=", "--timeout", "1m", "--", 'echo "$A $PASSED $SECOND_TOKEN [$EMPTY]"'];
	expect(await cli(home.root, run, { env })).toMatchObject({ code: 0, stdout: "1=2 on s3cond []\n" });
	const limit = await cli(home.root, ["run", "--memory", "5X", "--", "true"]);
	expect(limit).toMatchObject({ code: 2, stderr: expect.stringMatching(/^holdfast: --memory /) });
	const patterns = ["--watch-patterns", '["ERR[x", "FATAL"]', "--watch-patterns", "[odd"];
	const watched = await cli(home.root, ["terminal", "--background", "--json", ...patterns, "--", "sleep 1000"]);
	const { session_id } = JSON.parse(watched.stdout) as { session_id: string };
	const armed = (fs.readdirSync(path.join(home.root, "notices"), { recursive: true }) as string[]).find((name) => name.endsWith(`armed.${session_id}`));
	const wanted = fs.readFileSync(path.join(home.root, "notices", armed as string), "utf8");
	for (const pattern of ["ERR[x", "FATAL", "[odd"]) expect(wanted).toContain(JSON.stringify(pattern));
});

test("a relative HOLDFAST_HOME is refused, and no home is made", async () => {
	const cwd = tempDir();
	expect(await cli("state", ["ps"], { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining("it must be an absolute path") });
	expect(fs.readdirSync(cwd)).toEqual([]);
});

test("ps says that other tasks have processes, and its lines end where the terminal does", async () => {
	const runtime = await testRuntime();
	await runtime.spawn({ command: `sleep 1000 # ${"long ".repeat(40)}`, task: "another" });
	expect((await cli(runtime.home.root, ["ps", "--task", "default"])).stderr).toBe("no processes in task default; 1 runs in 1 other task: holdfast ps\n");
	for (const cols of [80, 60]) {
		const ps = await runtime.spawn({
			command: [process.execPath, CLI, "ps", "--all", "--running", "--home", runtime.home.root],
			terminal: { cols, rows: 30 },
			env: { NO_COLOR: "1" },
		});
		await ps.wait({ timeout: 100_000 });
		const lines = textOf(ps).replaceAll("\r", "").split("\n");
		expect(lines.filter((line) => line.includes("proc_")).length).toBeGreaterThan(0);
		expect(lines.filter((line) => line.length > cols)).toEqual([]);
	}
});

test("an interrupted demo leaves nothing behind", async () => {
	const tmp = tempDir("tmp");
	const runtime = await testRuntime();
	const demo = await runtime.spawn({ command: [process.execPath, CLI, "demo"], terminal: true, env: { TMPDIR: tmp } });
	await demo.wait({ until: { pattern: "Another runtime opens" }, timeout: 100_000 });
	await demo.signal("SIGINT");
	expect((await demo.wait({ timeout: 100_000 })).status).toMatchObject({ exitCode: 130 });
	expect(fs.readdirSync(tmp)).toEqual([]);
});

test("a person who starts what is for programs is told so", async () => {
	const runtime = await testRuntime();
	const mcp = await runtime.spawn({ command: [process.execPath, CLI, "mcp", "--home", runtime.home.root], terminal: { cols: 120, rows: 30 } });
	const { match } = await mcp.wait({ until: { pattern: "waiting for an MCP client.*" }, timeout: 100_000 });
	expect(match).toContain("Ctrl-C stops it");
	await mcp.write("\x03");
	expect((await mcp.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
});
