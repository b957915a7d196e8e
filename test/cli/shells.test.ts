/** `holdfast ps --shells`: the persistent shells of tasks, which no other list has. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { cli } from "../support/cli.js";
import { elsewhere } from "../support/elsewhere.js";
import { tempDir, testRuntime } from "../support/home.js";
import { noSshd } from "../support/sshd.js";

test("a task's shells are listed with where they are and what they run, until the task is ended", async () => {
	const home = (await testRuntime()).home.root;
	const dir = fs.realpathSync(tempDir("work"));
	const list = async (...args: string[]) => JSON.parse((await cli(home, ["ps", "--shells", "--json", ...args])).stdout).shells;
	expect(await cli(home, ["ps", "--shells"])).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("holdfast terminal") });
	expect(await list()).toEqual([]);
	await cli(home, ["terminal", "--", `cd ${dir}`]);
	await cli(home, ["terminal", "--task", "other", "--", "cd /"]);
	const [shell, ...more] = await list();
	expect(more).toEqual([]);
	expect(shell).toMatchObject({ task: "default", place: "local", cwd: dir, runs: null, current: true, pid: expect.any(Number) });
	expect((await list("--all")).map(({ task, cwd }: { task: string; cwd: string }) => [task, cwd])).toEqual([
		["other", "/"],
		["default", dir],
	]);
	const text = await cli(home, ["ps", "--shells", "--task", "default"]);
	expect(text.stdout).toMatch(new RegExp(`^ID +PID +AGE +DIRECTORY +RUNS\\n${shell.session_id} +${shell.pid} +\\d+s +.* +nothing\\n$`));
	expect(text.stderr).toContain("holdfast end default");
	expect((await cli(home, ["ps", "--shells", "--all"])).stderr).toContain("holdfast end TASK");

	const file = path.join(dir, "go");
	const running = cli(home, ["terminal", "--", `until [ -e ${file} ]; do sleep 0.05; done`]);
	let busy = await list();
	while (busy[0]?.runs === null) busy = await list();
	expect(busy[0]).toMatchObject({
		session_id: shell.session_id,
		runs: { session_id: expect.stringMatching(/^proc_/), command: expect.stringContaining(file) },
	});
	fs.writeFileSync(file, "");
	await running;
	expect(await cli(home, ["end", "default"])).toMatchObject({ code: 0, stdout: expect.stringContaining("1 shell; nothing is left") });
	expect((await list("--all")).map(({ task }: { task: string }) => task)).toEqual(["other"]);
	expect(await cli(home, ["ps", "--shells", "--running"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--running") });
});

test.skipIf(noSshd)("those on other machines too; when one cannot be reached that is said, and the directory is not made up", async () => {
	const { home, env, sshd, runtime } = await elsewhere();
	await runtime.terminal({ command: "cd /usr" });
	const list = async () => JSON.parse((await cli(home, ["ps", "--shells", "--json"], { env })).stdout);
	expect((await list()).shells).toMatchObject([{ place: expect.stringMatching(/^ssh:/), cwd: "/usr", current: true, runs: null }]);
	await runtime.close();
	await sshd.stop();
	expect(await list()).toMatchObject({ shells: [{ cwd: null, note: expect.stringContaining("Cannot reach") }], notes: [expect.any(String)] });
	await sshd.start();
});
