/** Manual pages, read by man(1). */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { commandNamed, GROUPS } from "../../src/doors/cli/commands/index.js";
import { optionsOf } from "../../src/doors/cli/help.js";
import { cli } from "../support/cli.js";
import { tempDir } from "../support/home.js";

const noMan = !fs.existsSync("/usr/bin/man");

test.skipIf(noMan)("there is a page for every command, with every option and example, and man has no complaint (needs man-db)", async () => {
	const dir = path.join(tempDir("man"), "man1");
	const home = tempDir("home");
	expect(await cli(home, ["man", "--output", dir])).toMatchObject({ code: 0, stdout: "" });
	const names = Object.values(GROUPS).flatMap((group) => Object.keys(group));
	expect(fs.readdirSync(dir).sort()).toEqual(["holdfast.1", ...names.map((name) => `holdfast-${name}.1`)].sort());
	const read = async (name: string) => {
		const env = { ...process.env, MANWIDTH: "1000", MAN_KEEP_FORMATTING: "", LC_ALL: "C.UTF-8" };
		const { stdout, stderr } = await promisify(execFile)("man", ["--warnings=all", "-l", path.join(dir, name)], { env });
		expect(stderr, name).toBe("");
		return stdout;
	};
	expect(await read("holdfast.1")).toContain("holdfast-attach(1)");
	for (const name of ["run", "logs", "approvals"]) {
		const page = await read(`holdfast-${name}.1`);
		const command = await commandNamed(name);
		for (const { flags } of await optionsOf(command)) expect(page).toContain(flags);
		const [, examples = ""] = command.teach.split(/^Examples?\n/m);
		for (const line of examples.split("\n")) expect(page).toContain(line); // can be copied
	}
	expect((await cli(home, ["man", "run"])).stdout).toBe(fs.readFileSync(path.join(dir, "holdfast-run.1"), "utf8"));
});

test("pages that cannot be written are an error in words", async () => {
	const file = path.join(tempDir(), "file");
	fs.writeFileSync(file, "");
	expect(await cli(tempDir("home"), ["man", "--output", file])).toMatchObject({
		code: 1,
		stdout: "",
		stderr: expect.stringMatching(/^holdfast: cannot write the pages to .*\n$/),
	});
	expect(await cli(tempDir("home"), ["man", "frobnicate"])).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no command") });
});

test("the package brings the pages", () => {
	const { directories } = JSON.parse(fs.readFileSync("package.json", "utf8"));
	expect(fs.existsSync(path.join(directories.man, "holdfast-run.1"))).toBe(true);
});
