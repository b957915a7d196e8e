/** Asking for a place, through the library and the command line. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime } from "../support/home.js";
import { openRuntime } from "../support/internal.js";
import { noSandbox } from "../support/sandbox.js";

test("local:/dir: shells and processes start there; a directory that is not there is an error at once", async () => {
	const dir = fs.realpathSync(tempDir("start"));
	const runtime = await testRuntime({ place: `local:${dir}` });
	expect(await runtime.terminal({ command: "pwd" })).toMatchObject({ output: `${dir}\n`, exit_code: 0 });
	const spawned = await runtime.spawn({ command: "pwd" });
	expect(spawned.spec).toMatchObject({ cwd: dir, place: "local" });
	await expect(openRuntime({ home: tempDir("home"), place: `local:${dir}/gone` })).rejects.toMatchObject({ code: "NO_DIRECTORY" });
	await expect(openRuntime({ home: tempDir("home"), place: "local:here" })).rejects.toMatchObject({ code: "INVALID" });
});

test("a call names another place: its task has a shell of its own there; what is not understood runs nowhere", async () => {
	const dir = fs.realpathSync(tempDir("other"));
	const runtime = await testRuntime();
	await runtime.terminal({ command: "cd /; A=here" });
	const wrong = await runtime.terminal({ command: `touch ${dir}/ran` }, { place: "moon" });
	expect(wrong).toMatchObject({ status: "error", exit_code: null, error: expect.stringMatching(/there is no place "moon"; there are local, /) });
	expect(fs.existsSync(`${dir}/ran`)).toBe(false);
	expect(await runtime.terminal({ command: "pwd" }, { place: "local:" })).toMatchObject({ output: "/\n" }); // the same place, so the same shell
	expect(await runtime.terminal({ command: "pwd; echo $A" }, { task: "b", place: `local:${dir}` })).toMatchObject({ output: `${dir}\n\n` });
	expect(runtime.at("local")).toBe(runtime);
	expect(runtime.at(`local:${dir}`)).toBe(runtime.at(`local:${dir}`));
});

test("a place as an object: for a runtime and for a call, the same place as its address; a key of another kind runs nowhere", async () => {
	const dir = fs.realpathSync(tempDir("object"));
	const runtime = await testRuntime({ place: { kind: "local", directory: dir } });
	expect(await runtime.terminal({ command: "pwd; A=mine" })).toMatchObject({ output: `${dir}\n` });
	expect(await runtime.terminal({ command: "echo $A" }, { place: `local:${dir}` })).toMatchObject({ output: "mine\n" });
	expect(runtime.at({ kind: "local" })).toBe(runtime.at("local"));
	expect(runtime.at(`local:${dir}`)).toBe(runtime);
	const wrong = { kind: "local", image: "x" } as unknown as { kind: "local" };
	expect(await runtime.terminal({ command: `touch ${dir}/ran` }, { place: wrong })).toMatchObject({
		status: "error",
		error: expect.stringMatching(/^local: there is no key "image", which is a key of docker\b.*; there are directory/),
	});
	expect(fs.existsSync(`${dir}/ran`)).toBe(false);
	await expect(openRuntime({ home: tempDir("home"), place: wrong })).rejects.toMatchObject({ code: "INVALID" });
	await expect(openRuntime({ home: tempDir("home"), place: 7 as unknown as string })).rejects.toThrow(/place is 7, but must be an address, a name/);
	await expect(openRuntime({ home: tempDir("home"), place: { kind: "local", directory: `${dir}/gone` } })).rejects.toMatchObject({ code: "NO_DIRECTORY" });
});

test.skipIf(noSandbox)("one task in two places of one runtime: two shells, one list, notices and approvals for both", async () => {
	const work = tempDir("work");
	const runtime = await testRuntime({ sandbox: { directory: work } });
	const inside = { place: "local+sandbox" };
	expect(await runtime.terminal({ command: "export A=out; touch /tmp/x-$$ && rm /tmp/x-$$; pwd" })).toMatchObject({ exit_code: 0 });
	expect(await runtime.terminal({ command: "echo ${A:-none}; export A=in" }, inside)).toMatchObject({ output: "none\n" });
	expect(await runtime.terminal({ command: "echo $A" })).toMatchObject({ output: "out\n" });
	const { session_id } = await runtime.terminal({ command: "sleep 300", background: true, notify_on_complete: true }, inside);
	expect(await runtime.process({ action: "list" })).toMatchObject({ processes: [{ session_id, place: "local+sandbox" }] });
	expect(await runtime.process({ action: "kill", session_id })).toMatchObject({ status: "killed" });
	const report = await runtime.endTask("default");
	expect(report).toMatchObject({ gone: true, shells: 2, sandboxes: [{ kind: "bubblewrap" }] });
	expect(runtime.list({ task: null, shells: true, ended: false })).toEqual([]);
});

test("--place and config.json: a name, and what is wrong with it", async () => {
	const home = tempDir("home");
	const config = tempDir("config");
	const env = { XDG_CONFIG_HOME: config };
	fs.mkdirSync(path.join(config, "holdfast"));
	fs.writeFileSync(
		path.join(config, "holdfast", "config.json"),
		JSON.stringify({ places: { "build-box": { type: "ssh", host: "127.0.0.1", port: 1, user: "nobody" }, wrong: { type: "docker", imgae: "x" } } }),
	);
	const run = (place: string, ...words: string[]) => cli(home, [...words, "--place", place, "--", "true"], { env });
	expect(await run("moon", "run")).toMatchObject({ code: 2, stderr: expect.stringMatching(/there is no place "moon".*build-box/) });
	expect(await run("wrong", "run")).toMatchObject({ code: 125, stderr: expect.stringMatching(/places\.wrong in config\.json cannot be used.*imgae/) });
	expect(await run("build-box", "run")).toMatchObject({ code: 125 }); // nobody is there, and nothing runs here instead
	const check = async (place: string) => JSON.parse((await cli(home, ["policy", "check", "--json", "--place", place, "--", "git push -f"], { env })).stdout);
	expect(await check("build-box")).toMatchObject({ decision: "ask" });
	expect(await check("docker://debian:12")).toMatchObject({ decision: "allow" });
	const doctor = await cli(home, ["doctor", "--json", "--place", "build-box"], { env });
	const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; state: string; found: string }[] };
	expect(checks.find(({ name }) => name === "place")).toMatchObject({
		state: "fail",
		found: expect.stringMatching(/^ssh:\/\/nobody@127\.0\.0\.1:1 cannot be used: /),
	});
	expect(doctor.code).toBe(1);
});
