/** An interactive shell on a terminal: keys reach the job in the foreground, as on any terminal. */
import { describe, expect, test } from "vitest";
import { readStat } from "../../src/base/proc.js";
import { PTY_TOOLS, runtimeWith } from "../fixtures/pty-tools.js";
import { until } from "../support/home.js";
import type { Process, Runtime } from "../support/internal.js";

describe.each(PTY_TOOLS)("an interactive shell on a terminal by $name", (pty) => {
	test("has Ctrl-C end the job in the foreground, and goes on itself", async (context) => {
		const shell = await startShell(await runtimeWith(pty, context));
		await shell.write("sleep 1000\n");
		await foreground(shell, "sleep");
		await shell.write("\x03");
		await foreground(shell, "bash");
		await shell.write("echo code=$?\n");
		await says(shell, "code=130");
		await shell.write("exit 4\n");
		expect((await shell.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 4, signal: null });
	});

	test("stops a job on Ctrl-Z and brings it back with fg", async (context) => {
		const shell = await startShell(await runtimeWith(pty, context));
		await shell.write("sleep 1000\n");
		await foreground(shell, "sleep");
		await shell.write("\x1a");
		await says(shell, "Stopped");
		await foreground(shell, "bash");
		await shell.write("fg\n");
		await foreground(shell, "sleep");
		await shell.write("\x03");
		await foreground(shell, "bash");
		await shell.write("jobs; echo left=$(jobs | wc -l)\n");
		await says(shell, "left=0\r\n[^]*prompt> ");
		await shell.write("\x04"); // at the prompt; earlier it would be the end of something else
		expect((await shell.wait({ timeout: 100_000 })).status).toMatchObject({ status: "exited", exitCode: 0 });
	});

	test("gets a signal of ours only for the job in the foreground", async (context) => {
		const shell = await startShell(await runtimeWith(pty, context));
		await shell.write("sleep 1000\n");
		await foreground(shell, "sleep");
		await shell.signal("SIGTERM");
		await foreground(shell, "bash");
		await shell.write("echo code=$?\n");
		await says(shell, "code=143");
	});
});

async function startShell(runtime: Runtime): Promise<Process> {
	const shell = await runtime.spawn({ command: ["bash", "--noprofile", "--norc", "-i"], terminal: true, env: { PS1: "prompt> ", HISTFILE: undefined } });
	await says(shell, "prompt> ");
	return shell;
}

async function says(shell: Process, pattern: string): Promise<void> {
	expect(await shell.wait({ until: { pattern }, timeout: 100_000 })).toMatchObject({ matched: "pattern" });
}

/** Wait until the process group in the foreground of the terminal is led by this program. */
const foreground = (shell: Process, comm: string): Promise<void> =>
	until(`${comm} is in the foreground`, () => readStat(readStat(shell.pid as number)?.foreground as number)?.comm === comm);
