/** Completions as the shells themselves give them. */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { candidates } from "../../src/doors/cli/complete.js";
import { CLI, cli, hasTmux, Terminal } from "../support/cli.js";
import { tempDir, testRuntime } from "../support/home.js";

const has = (shell: string): boolean => fs.existsSync(`/usr/bin/${shell}`);

/** A home with something to complete, and an environment with `holdfast` on the PATH. */
async function person() {
	const runtime = await testRuntime();
	const web = await runtime.spawn({ command: "sleep 1000", name: "web", task: "site" });
	const other = await runtime.spawn({ command: "sleep 1000" });
	const bin = tempDir("bin");
	fs.writeFileSync(path.join(bin, "holdfast"), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`, { mode: 0o755 });
	const env = { HOLDFAST_HOME: runtime.home.root, PATH: `${bin}:${process.env.PATH}`, HOME: tempDir("person"), NO_COLOR: "1" };
	return { runtime, web, other, env };
}

test("commands, options, their values, names, ids, tasks and verbs are known; files and what is behind -- are not ours", async () => {
	const { runtime, other } = await person();
	const next = async (...words: string[]) => (await candidates({ runtime: async () => runtime }, words)).map(({ value }) => value);
	const cases: [string[], string[]][] = [
		[["lo"], ["logs", "log"]],
		[["help", "sta"], ["status"]],
		[
			["log", "--fo"],
			["--follow", "--format"],
		],
		[["log", "--format", "h"], ["html"]],
		[["logs", "--fo"], ["--follow"]],
		[["logs", "we"], ["web"]],
		[["kill", "web", other.id.slice(0, 8)], [other.id]],
		[["logs", "web", ""], []], // one is enough
		[["ps", "--task", "si"], ["site"]],
		[["end", "si"], ["site"]],
		[
			["run", "--on-timeout", ""],
			["background", "kill"],
		],
		[["run", "--cwd", ""], []],
		[["run", "--", "lo"], []],
		[["approvals", "an"], ["answer"]],
		[["process", "poll", "we"], ["web"]],
		[["no-such-command", ""], []],
	];
	for (const [words, expected] of cases) expect(await next(...words), words.join(" ")).toEqual(expected);
	expect(await cli(runtime.home.root, ["completion", "tcsh"])).toMatchObject({ code: 2, stderr: expect.stringContaining("for which shell") });
});

test("bash completes with the script", async () => {
	const { env } = await person();
	const script =
		'eval "$(holdfast completion bash)"; COMP_WORDS=(holdfast logs we); COMP_CWORD=2; _holdfast; printf "%s\\n" "${COMPREPLY[@]}"; complete -p holdfast';
	const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", script], { env });
	expect(stdout).toBe("web\ncomplete -o default -F _holdfast holdfast\n");
});

test.skipIf(!has("fish"))("fish completes with the script, with descriptions (needs fish)", async () => {
	const { env } = await person();
	const script = "holdfast completion fish | source; complete -C 'holdfast logs we'; complete -C 'holdfast comp'";
	const { stdout } = await promisify(execFile)("fish", ["--no-config", "-c", script], { env });
	expect(stdout).toBe("web\trunning: sleep 1000\ncompletion\tprint the script that completes commands in bash, zsh or fish\n");
});

test.skipIf(!has("zsh"))("zsh loads the script, and what it would show is found (needs zsh)", async () => {
	const { env } = await person();
	const script = [
		'autoload -U compinit; compinit -u -D; eval "$(holdfast completion zsh)"; print -r -- "$_comps[holdfast]"',
		"_describe() { print -rl -- ${(P)${@[-1]}} }", // the function of zsh that shows them; the TAB key is tested below
		"words=(holdfast logs we); CURRENT=3; _holdfast; words=(holdfast comp); CURRENT=2; _holdfast",
	];
	const { stdout } = await promisify(execFile)("zsh", ["-f", "-c", script.join("\n")], { env });
	expect(stdout).toBe("_holdfast\nweb:running: sleep 1000\ncompletion:print the script that completes commands in bash, zsh or fish\n");
});

// In `npm run soak` alone: once, on a busy machine, zsh did not find the command on its PATH, and it is not known why.
test.skipIf(!has("zsh") || !hasTmux || process.env.SOAK !== "1")("zsh completes at the TAB key with the script (needs zsh and tmux)", async () => {
	const { env } = await person();
	const terminal = new Terminal("zsh -f", env);
	await terminal.shows(/[#%]/); // its prompt
	await terminal.type('autoload -U compinit; compinit -u -D; eval "$(holdfast completion zsh)"; echo load""ed', "Enter");
	await terminal.shows(/^loaded/m);
	await terminal.type("holdfast logs we", "Tab");
	await terminal.shows("holdfast logs web");
	await terminal.type("C-u", "holdfast ps --run", "Tab");
	await terminal.shows("holdfast ps --running");
});
