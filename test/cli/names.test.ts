/** A name that was given with --name is a handle wherever an id is taken. */
import { expect, test } from "vitest";
import { cli } from "../support/cli.js";
import { testRuntime } from "../support/home.js";

test("every command takes a name; when it has ended, the newest of that name is meant", async () => {
	const runtime = await testRuntime();
	const call = (...args: string[]) => cli(runtime.home.root, args);
	const first = (await call("run", "-b", "--name", "web", "--", 'read -r line; echo "first $line"')).stdout.trim();
	expect(await call("submit", "web", "hello")).toMatchObject({ code: 0 });
	expect(await call("wait", "web", "--timeout", "30")).toMatchObject({ code: 0, stdout: "exited, code 0\n" });
	expect(await call("logs", "web")).toMatchObject({ code: 0, stdout: "first hello\n" });
	const second = await runtime.spawn({ command: "echo second; sleep 1000", name: "web" });
	await second.wait({ until: { pattern: "second" }, timeout: 100_000 });
	expect(await call("logs", "web")).toMatchObject({ code: 0, stdout: "second\n" }); // the one that runs
	expect(JSON.parse((await call("process", "poll", "web", "--json", "--task", runtime.task)).stdout)).toMatchObject({ session_id: second.id });
	expect(JSON.parse((await call("kill", "web", "--json")).stdout)).toMatchObject({ session_id: second.id, status: "killed" });
	expect((await call("logs", "web")).stdout).toBe("second\n"); // the newest
	expect((await call("logs", first)).stdout).toBe("first hello\n");
	expect(await call("logs", "web", "--task", "another")).toMatchObject({ code: 3 });
});

test("a name that cannot be told apart is refused, in words", async () => {
	const runtime = await testRuntime();
	const call = (...args: string[]) => cli(runtime.home.root, args);
	const web = await runtime.spawn({ command: "sleep 1000", name: "web" });
	expect(await call("run", "-b", "--task", runtime.task, "--name", "web", "--", "true")).toMatchObject({
		code: 2,
		stdout: "",
		stderr: `holdfast: ${web.id} runs under the name "web" in task ${runtime.task}; choose another name, or end that one: holdfast kill ${web.id.slice(5, 11)}\n`,
	});
	for (const name of ["cafe", "0123456789ab", "proc_1", ""])
		expect(await call("run", "-b", "--name", name, "--", "true"), name).toMatchObject({
			code: 2,
			stderr: expect.stringMatching(/looks like an id|a name is empty/),
		});
	expect(runtime.list({ task: null })).toHaveLength(1);
	const other = await runtime.spawn({ command: "sleep 1000", name: "web", task: "other" });
	expect(await call("kill", "web")).toMatchObject({
		code: 3,
		stderr: `holdfast: 2 running processes are called "web": ${other.id} (task other), ${web.id} (task ${runtime.task}); give the id of one\n`,
	});
	expect(JSON.parse((await call("kill", "web", "--task", "other", "--json")).stdout)).toMatchObject({ session_id: other.id, status: "killed" });
	const digits = web.id.slice(5, 9);
	const confusing = await runtime.spawn({ command: "sleep 1000", name: digits });
	expect(await call("logs", digits)).toMatchObject({
		code: 3,
		stderr: expect.stringContaining(`is the name of ${confusing.id} and the beginning of ${web.id}`),
	});
	expect(await call("logs", "nothing")).toMatchObject({
		code: 3,
		stderr: 'holdfast: "nothing" is not a process id, and no process is called that; `holdfast ps` lists those there are\n',
	});
});

test("nothing in the name of a task, or in a command, acts on the terminal that lists it or hides a part of it; wide characters count as two columns", async () => {
	const runtime = await testRuntime();
	const call = (...args: string[]) => cli(runtime.home.root, args);
	const task = "quiet\u001b[8m task\u202e";
	await runtime.spawn({ command: ": 'safe\u001b[8m; not safe\u200b'; sleep 1000", task, name: "日本語" });
	await runtime.spawn({ command: "sleep 1000", task: "plain", name: "web" });
	const { stdout } = await call("ps");
	expect(stdout).not.toMatch(/[\u001b\u202e\u200b]/);
	expect(stdout).toContain("日本語: : 'safe\\u001b[8m; not safe\\u200b'; sleep 1000");
	expect((await call("tasks")).stdout).toMatch(/ quiet\\u001b\[8m task\\u202e$/m);
	const named = await call("ps", "--task", task);
	expect(named.stdout).toContain("日本語");
	for (const name of ["a\u001b[8mb", "a\nb", "a\u0085b"])
		expect(await call("run", "-b", "--name", name, "--", "true")).toMatchObject({ code: 2, stderr: expect.stringContaining("a name has a control character") });
});
