import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openAgentRuntime } from "../../src/tools/index.js";
import { cli } from "../support/cli.js";
import { atEnd, endAll, tempDir } from "../support/home.js";

/** A home whose shells are ended with the test, and a directory to work in. */
async function setup() {
	const home = tempDir("home");
	atEnd(async () => endAll(await openAgentRuntime({ home, warm: 0 })));
	const dir = tempDir();
	expect((await cli(home, ["terminal", "--", `cd ${dir}`])).code).toBe(0);
	return { home, dir };
}

test("the tools for files are commands: words, options, standard input, JSON", async () => {
	const { home, dir } = await setup();
	expect(await cli(home, ["write-file", "a b.txt"], { input: "one\ntwo\n" })).toMatchObject({ code: 0, stdout: expect.stringContaining("created") });
	expect(fs.readFileSync(path.join(dir, "a b.txt"), "utf8")).toBe("one\ntwo\n");
	expect((await cli(home, ["read-file", "a b.txt", "--offset", "2"])).stdout).toContain("     2\ttwo");
	expect((await cli(home, ["patch", "a b.txt", "--old-string", "two", "--new-string", "2"])).stdout).toContain("+2");
	const diff = "--- a/a b.txt\n+++ b/a b.txt\n@@ -1 +1 @@\n-one\n+1\n";
	expect((await cli(home, ["patch"], { input: diff })).code).toBe(0);
	expect(fs.readFileSync(path.join(dir, "a b.txt"), "utf8")).toBe("1\n2\n");
	const edits = JSON.stringify([
		{ old_string: "1", new_string: "one" },
		{ old_string: "one\n2", new_string: "1\n2" },
	]);
	expect((await cli(home, ["patch", "a b.txt", "--edits", edits])).code).toBe(0);
	expect(await cli(home, ["patch", "a b.txt", "--edits", "1 to 2"])).toMatchObject({
		code: 2,
		stderr: "holdfast: --edits takes a JSON list, not 1 to 2; --help has an example\n",
	});
	expect(fs.readFileSync(path.join(dir, "a b.txt"), "utf8")).toBe("1\n2\n");
	expect(JSON.parse((await cli(home, ["search-files", "2", "--json"])).stdout)).toMatchObject({ status: "ok", matches: 1 });
	expect((await cli(home, ["read-file", "nothing"])).code).toBe(3);
	expect((await cli(home, ["patch", "a b.txt", "--old-string", "nowhere", "--new-string", "x"])).code).toBe(1);
});

test("cp goes both ways, with files and folders, and says what is wrong", async () => {
	const { home, dir } = await setup();
	const here = tempDir();
	fs.mkdirSync(path.join(here, "tree", "sub"), { recursive: true });
	fs.writeFileSync(path.join(here, "tree", "sub", "x"), "x");
	fs.writeFileSync(path.join(here, "a:b"), "colon");
	expect(await cli(home, ["cp", "tree", ":"], { cwd: here })).toMatchObject({ code: 0, stdout: expect.stringContaining("  1 file, 1 byte\n") });
	expect(fs.readFileSync(path.join(dir, "tree", "sub", "x"), "utf8")).toBe("x");
	expect((await cli(home, ["cp", "./a:b", "tree/sub/x", "there:tree"], { cwd: here })).code).toBe(0);
	expect(fs.readdirSync(path.join(dir, "tree")).sort()).toEqual(["a:b", "sub", "x"]);
	const back = JSON.parse((await cli(home, ["cp", "--json", ":tree/.", "back"], { cwd: here })).stdout);
	expect(back.copied).toMatchObject([{ kind: "directory", files: 3, path: path.join(here, "back") }]);
	expect((await cli(home, ["cp", "tree", "other"], { cwd: here })).stderr).toContain("write :PATH");
	expect((await cli(home, ["cp", "nowhere:x", "y"], { cwd: here })).stderr).toContain('"nowhere:" is not known');
	expect((await cli(home, ["cp", ":nothing", "y"], { cwd: here })).code).toBe(3);
	expect((await cli(home, ["cp", "tree"], { cwd: here })).code).toBe(2);
});
