/** The real sudo, for a user made for this test. */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { CLI, hasTmux, Terminal } from "../support/cli.js";
import { atEnd, tempDir, testRoot, until } from "../support/home.js";

const possible = process.getuid?.() === 0 && fs.existsSync("/usr/bin/sudo") && fs.existsSync("/usr/sbin/useradd") && fs.existsSync("/etc/sudoers.d");
const why = possible ? "" : " (skipped: needs root, sudo and useradd)";

interface User {
	readonly name: string;
	readonly password: string;
	readonly home: string;
	/** What runs as that user, before its own words. */
	readonly as: readonly [string, ...string[]];
}

function newUser(): User {
	const name = `hf${randomBytes(4).toString("hex")}`;
	const password = `Pw-${randomBytes(8).toString("hex")}`;
	const home = tempDir("user");
	fs.chmodSync(testRoot(), 0o711);
	execFileSync("useradd", ["-M", "-d", home, "-s", "/bin/bash", name]);
	atEnd(() => until("the last process of the user is gone", () => spawnSync("userdel", [name]).status === 0));
	fs.chmodSync(home, 0o700);
	execFileSync("chown", [name, home]);
	execFileSync("chpasswd", [], { input: `${name}:${password}\n` });
	atEnd(() => spawnSync("pkill", ["-KILL", "-U", name])); // its shells, if any
	const rule = `/etc/sudoers.d/${name}`;
	fs.writeFileSync(rule, `${name} ALL=(ALL) ALL\n`, { mode: 0o440 });
	atEnd(() => fs.rmSync(rule));
	const uid = execFileSync("id", ["-u", name], { encoding: "utf8" }).trim();
	return { name, password, home, as: ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"] };
}

test.skipIf(!possible)(`sudo gets a password that is the task's, and no other process finds it${why}`, { timeout: 120_000 }, () => {
	const { home, password, as } = newUser();
	const state = path.join(home, "state");
	const config = path.join(home, ".config/holdfast/config.json");
	const [program, ...words] = [...as, process.execPath, path.resolve("test/sudo/agent.mjs"), state, password, config];
	// The password is in the driver's own arguments, which it leaves out of its search: that is how it knows what to look for.
	const { stdout, stderr, status } = spawnSync(program, words, {
		encoding: "utf8",
		cwd: home,
		env: { HOME: home, PATH: "/usr/local/bin:/usr/bin:/bin", TEST_ROOT: testRoot() },
	});
	expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
	const steps = JSON.parse(stdout);
	const advice = expect.stringContaining("sudo wants a password, and there is none");
	expect(steps.none).toMatchObject({ exit_code: 0, output: expect.stringMatching(/a password is required\nended 1\n$/), note: advice });
	expect(steps.noneOnTerminal).toMatchObject({ status: "exited", screen: expect.stringMatching(/ended 1$/), note: advice });
	expect(steps.quoted).toMatchObject({ output: "sudo id\n" });
	expect(steps.wrong).toMatchObject({ output: expect.stringContaining("ended 1"), note: expect.stringContaining("refused the password, so it was forgotten") });
	expect(steps.several).toMatchObject({ output: "root\nroot\n0\n", exit_code: 0 });
	expect(steps.onTerminal).toMatchObject({ screen: "root", exit_code: 0 });
	expect(steps.askedByA).toEqual(["a", "a"]); // once for the wrong one, once for the right one
	expect(steps.otherTask).toMatchObject({ output: expect.stringContaining("ended 1"), note: advice });
	expect(steps.askedAll).toEqual(["a", "a", "b"]);
	expect(steps.stranger).toMatchObject({ code: 1, stdout: "" });
	expect(steps.closed).toBe("exited");
	expect(steps.places).toEqual([]);
	expect(steps.echoed).toMatchObject({ output: "…[redacted]\n", note: expect.stringContaining("was masked") });
	expect(steps.openFile).toMatchObject({ output: expect.stringContaining("ended 1"), note: expect.stringContaining("other users may have read") });
	expect(steps.file).toMatchObject({ output: "root\nended 0\n" });
	expect(steps.wrongFile).toMatchObject({ output: expect.stringContaining("ended 1"), note: expect.stringContaining("has to correct the file") });
	expect(steps.wrongFileAgain).toMatchObject({ output: expect.not.stringContaining("try again"), note: expect.stringContaining("not tried again") });
});

test.skipIf(!possible || !hasTmux)(`a person at a terminal is asked, and nothing of the answer is shown${why}`, async () => {
	const { home, password, as } = newUser();
	const env = { HOME: home, HOLDFAST_HOME: path.join(home, "state"), PATH: "/usr/local/bin:/usr/bin:/bin" };
	const command = [...as, process.execPath, CLI, "terminal", "--", "sudo id -un"].map((word) => `'${word}'`).join(" ");
	const terminal = new Terminal(`${command}; echo code $?`, env);
	await terminal.shows("Your password");
	await terminal.type(password, "Enter");
	await terminal.shows("root");
	expect(await terminal.screen()).not.toContain(password.slice(3, 9));
	await terminal.shows("code 0");
});

test.skipIf(!possible)(`a program asks its person through the library, until it stops to${why}`, () => {
	const { home, password, as } = newUser();
	const [program, ...words] = [...as, process.execPath, path.resolve("test/sudo/library.mjs")];
	const { stdout, stderr, status } = spawnSync(program, words, {
		encoding: "utf8",
		cwd: home,
		input: `${password}\n`,
		env: { HOME: home, PATH: "/usr/local/bin:/usr/bin:/bin", TEST_ROOT: testRoot() },
	});
	expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
	expect(JSON.parse(stdout)).toEqual({ asked: ["a"], given: "root\n", afterwards: expect.stringContaining("ended 1"), inside: "FORBIDDEN" });
});
