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
		await shown.wait({ timeout: 30_000 });
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
	expect(await at(80, "run", "--help")).toContain("                           ssh://user@host, docker://image, or a name from");
	expect((await at(80, "doctor")).join("\n")).toMatch(/ limits {7}\S.*\n {19}\S/);
});

test("who stops reading the output of a command is told that it goes on", async () => {
	const runtime = await testRuntime();
	const { stdout, stderr } = await cli(runtime.home.root, ["run", "--", "yes"], { prefix: ["sh", "-c", '"$@" | head -n 1', "sh"] });
	const [yes] = runtime.list();
	expect({ stdout, stderr }).toEqual({ stdout: "y\n", stderr: `holdfast: nobody takes its output any more; ${yes?.id} goes on, \`holdfast kill\` ends it\n` });
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
		[["run", "ls", "-t"], "it cannot be told whose option -t is; options of the command itself go behind --, ours before it; see `holdfast run --help`"],
		[
			["terminal", "echo", "--pty"],
			"it cannot be told whose option --pty is; options of the command itself go behind --, ours before it; see `holdfast terminal --help`",
		],
		[["ps", "--home="], "--home takes a directory, and none was given"],
		[["demo", "please"], '"please" is not expected here'],
	] as const)
		expect(await cli(home.root, args), args.join(" ")).toEqual({ code: 2, stdout: "", stderr: `holdfast: ${message}\n` });
	for (const bad of [file, path.join(file, "home")])
		expect(await cli(bad, ["ps"])).toMatchObject({
			code: 1,
			stderr: `holdfast: cannot use ${bad} as home: a file is in its way; choose another with HOLDFAST_HOME\n`,
		});
	expect((await cli(home.root, ["read-file"])).stdout).toContain("Error: path is missing; nothing was done");
});

test("a person who starts what is for programs is told so", async () => {
	const runtime = await testRuntime();
	const mcp = await runtime.spawn({ command: [process.execPath, CLI, "mcp", "--home", runtime.home.root], terminal: { cols: 120, rows: 30 } });
	const { match } = await mcp.wait({ until: { pattern: "waiting for an MCP client.*" }, timeout: 30_000 });
	expect(match).toContain("Ctrl-C stops it");
	await mcp.write("\x03");
	expect((await mcp.wait({ timeout: 30_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
});
