/** What whoever starts Holdfast has open besides the first three is not for anything that is kept: a lock, the pipe of a `$(…)`, a directory. */
import { execFile } from "node:child_process";
import fs from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { CLI, cli } from "../support/cli.js";
import { endAll, tempDir } from "../support/home.js";
import { openRuntime } from "../support/internal.js";
import { overStdio, testHome } from "../support/mcp.js";
import { noSandbox } from "../support/sandbox.js";
import { linkTo, SHELLS, ShellHost } from "../support/shell-host.js";

/** Runs what is behind it with a directory, a file and a lock open. */
const OPEN = 'exec 77<"$0" 78>"$0/file" 200>"$0/lock"; flock -n 200 || exit 1; exec "$@"';
const opened = () => {
	const dir = tempDir("outside");
	return { dir, prefix: ["bash", "-c", OPEN, dir] };
};

/** Who has something below it open, as `PID/fd/NUMBER`. */
function holders(dir: string): string[] {
	const found: string[] = [];
	for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
		for (const fd of namesIn(`/proc/${pid}/fd`)) {
			const file = linkOf(`/proc/${pid}/fd/${fd}`);
			if (file === dir || file?.startsWith(`${dir}/`)) found.push(`${fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim()} ${pid}/fd/${fd}`);
		}
	}
	return found;
}

const namesIn = (dir: string): string[] => {
	try {
		return fs.readdirSync(dir);
	} catch {
		return []; // gone, or not ours
	}
};
const linkOf = (file: string): string | undefined => {
	try {
		return fs.readlinkSync(file);
	} catch {
		return undefined;
	}
};

const SEE = "readlink /proc/self/fd/* /proc/$$/fd/*; true";

describe.each(["local", ...(noSandbox ? [] : ["local+sandbox"])])("%s", (place) => {
	test.each([
		["run", ["run", "--place", place, "--", SEE]],
		["run on a terminal", ["run", "--place", place, "--pty", "--", SEE]],
		["run in the background", ["run", "--place", place, "--background", "--", "sleep 1000"]],
		["terminal", ["terminal", "--place", place, "--", SEE]],
		["terminal with a terminal", ["terminal", "--place", place, "--pty", "--", "cat"]],
	])("%s: no command and no keeper gets a descriptor of the caller's", async (_, args) => {
		const home = testHome();
		const { dir, prefix } = opened();
		const { code, stdout } = await cli(home, args, { prefix, cwd: tempDir("cwd") });
		expect(code).toBe(0);
		expect(stdout).not.toContain(dir);
		expect(holders(dir)).toEqual([]); // the shell, its keeper, the sandbox live on
		await endTask(home);
	});
});

test("a server's warm keepers and shells get none either", async () => {
	const home = testHome();
	const { dir, prefix } = opened();
	const { call, transport } = await overStdio(home, ["--task", "t"], { prefix });
	expect((await call("terminal", { command: SEE })).output).not.toContain(dir);
	await call("terminal", { command: "sleep 1000", background: true });
	await call("terminal", { command: "cat", pty: true });
	expect(holders(dir).filter((holder) => !holder.includes(` ${transport.pid}/`))).toEqual([]);
});

test("a command substitution does not wait for what was started in it", async () => {
	const home = testHome();
	const text = 'x=$(exec 200>&1; "$0" "$1" run --background -- sleep 1000 >/dev/null); echo "over: $x"';
	const { stdout } = await promisify(execFile)("bash", ["-c", text, process.execPath, CLI], { env: { ...process.env, HOLDFAST_HOME: home } });
	expect(stdout).toBe("over: \n");
});

describe.each(SHELLS)("a machine whose sh is %s", (shell) => {
	test.each(shell === "dash" ? [true] : [true, false])("keeps what its login has opened from what is run there (perl: %j)", async (perl) => {
		const dir = tempDir("outside");
		const host = new ShellHost({ shell, login: `exec /bin/bash -c 'exec 7<"$0" 77<"$0"; exec sh -c "$1"' ${dir} "$1"` });
		const link = await linkTo(host, { perl });
		const { output } = await link.run(SEE);
		expect(output.toString()).not.toContain(dir);
	});
});

async function endTask(home: string): Promise<void> {
	await endAll(await openRuntime({ home, warm: 0 }));
}
