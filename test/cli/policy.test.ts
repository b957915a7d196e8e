import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { cli } from "../support/cli.js";
import { tempDir, testRuntime } from "../support/home.js";

function person() {
	const home = tempDir("home");
	const cwd = path.join(home, "project");
	fs.mkdirSync(path.join(cwd, "build"), { recursive: true });
	const env = { HOME: home, XDG_CONFIG_HOME: path.join(home, ".config") };
	return { home, cwd, check: (...args: string[]) => cli(path.join(home, "state"), ["policy", "check", ...args], { env, cwd }) };
}

test("policy check: decision, rule and part in words, and an exit code", async () => {
	const { check, cwd } = person();
	expect(await check("--", "rm -rf build")).toEqual({ code: 0, stdout: "allow: no rule is about it\n", stderr: "" });
	expect(await check("--", "ls; rm -rf /")).toEqual({
		code: 1,
		stdout: "deny: it deletes or opens up the root, a system directory or a whole home\n  rule floor-root, about bytes 4 to 12: rm -rf /\n",
		stderr: "",
	});
	expect(fs.existsSync(path.join(cwd, "build"))).toBe(true);
});

test("policy check --json, --cwd, --place", async () => {
	const { check, home } = person();
	const json = async (...args: string[]) => JSON.parse((await check("--json", ...args)).stdout) as object;
	expect(await json("--", "git", "push", "-f")).toEqual({
		decision: "ask",
		rule: "force-push",
		reason: "it overwrites or deletes what others may have fetched",
		part: { start: 0, end: 11, text: "git push -f" },
		parts: [
			{
				start: 0,
				end: 11,
				text: "git push -f",
				program: "git",
				decision: "ask",
				rule: "force-push",
				reason: "it overwrites or deletes what others may have fetched",
			},
		],
		notes: [],
	});
	expect(await json("--place", "local+sandbox", "--", "git push -f")).toMatchObject({ decision: "allow" });
	expect(await json("--cwd", home, "--", "rm -rf project")).toMatchObject({ decision: "allow" });
	expect(await json("--cwd", "/nowhere", "--", "ls")).toMatchObject({ error: { code: "NO_DIRECTORY" } });
});

test("policy check: a wrong call and a wrong file are said in words", async () => {
	const { check, home } = person();
	expect(await check()).toMatchObject({ code: 2, stderr: "holdfast: give the command to check: `holdfast policy check -- COMMAND`\n" });
	expect(await cli(home, ["policy", "approve"])).toMatchObject({ code: 2, stderr: expect.stringContaining("holdfast policy check -- COMMAND") });
	fs.mkdirSync(path.join(home, ".config", "holdfast"), { recursive: true });
	fs.writeFileSync(path.join(home, ".config", "holdfast", "policy.json"), '{"rule": []}');
	expect(await check("--", "ls")).toMatchObject({ code: 1, stderr: expect.stringMatching(/policy\.json cannot be used: .*rule/) });
});

test("a plain word that an earlier command has defined is judged by what it stands for, also by a program that has read no shell text yet", async () => {
	const { home, cwd } = person();
	const terminal = (...args: string[]) => cli(path.join(home, "state"), ["terminal", ...args], { cwd });
	await testRuntime({ home: path.join(home, "state") }); // ends what runs there
	expect(await terminal("--", "alias zap='git push --force origin main; true'")).toMatchObject({ code: 0 });
	expect(JSON.parse((await terminal("--json", "--", "zap")).stdout)).toMatchObject({ status: "pending_approval", rule: "force-push" });
	expect(JSON.parse((await terminal("--json", "--", "ls -a")).stdout)).toMatchObject({ status: "exited", exit_code: 0 });
});
