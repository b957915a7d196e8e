/** The tools for files in a sandbox: they reach what its commands reach, and nothing else. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";
import { agent, ok } from "../tools/files/support.js";
import { raceInSandbox } from "./race.js";

describe.skipIf(noSandbox !== undefined)(`files in a sandbox${noSandbox === undefined ? "" : ` (${noSandbox})`}`, () => {
	const setup = async () => {
		const [work, other] = [tempDir("work"), tempDir("other")];
		fs.writeFileSync(path.join(other, "secret"), "out of reach\n");
		const runtime = await agent({ place: "local+sandbox", sandbox: { directory: work } });
		return { work, other, runtime };
	};

	test("read, write, patch and search in its directory and in its own /tmp", async () => {
		const { work, runtime } = await setup();
		ok(await runtime.writeFile({ path: "a/f", content: "one\n" }));
		expect(fs.readFileSync(path.join(work, "a", "f"), "utf8")).toBe("one\n");
		ok(await runtime.patch({ path: "a/f", old_string: "one", new_string: "two" }));
		expect(ok(await runtime.readFile({ path: "a/f" })).output).toBe("     1\ttwo");
		expect(ok(await runtime.searchFiles({ pattern: "two" }))).toMatchObject({ matches: 1 });
		const name = `/tmp/holdfast-only-inside-${process.pid}`;
		ok(await runtime.writeFile({ path: name, content: "inside\n" }));
		expect(fs.existsSync(name)).toBe(false);
		expect(ok(await runtime.readFile({ path: name })).output).toBe("     1\tinside");
	});

	test("what its commands do not see the tools do not see, also through a link and through upload and download", async () => {
		const { work, other, runtime } = await setup();
		expect(await runtime.readFile({ path: path.join(other, "secret") })).toMatchObject({ status: "not_found" });
		expect(await runtime.searchFiles({ pattern: "reach", path: other })).toMatchObject({ status: "not_found" });
		for (const source of [path.join(other, "secret"), path.join(os.homedir(), ".bashrc"), runtime.home.procs])
			expect(await runtime.upload({ source, target: "stolen" })).toMatchObject({ status: "not_found" });
		fs.symlinkSync(path.join(other, "secret"), path.join(work, "link"));
		expect((await runtime.readFile({ path: "link" })).status).not.toBe("ok");
		await runtime.writeFile({ path: "link", content: "changed" });
		expect(fs.readFileSync(path.join(other, "secret"), "utf8")).toBe("out of reach\n");
		ok(await runtime.writeFile({ path: "mine", content: "x" }));
		await runtime.download({ source: "mine", target: path.join(other, "planted") });
		expect(fs.readdirSync(other)).toEqual(["secret"]);
		expect(fs.existsSync(path.join(work, "stolen"))).toBe(false);
	});

	test("upload and download are copies within it, from the directory of its shell, and say what is not on the disk", async () => {
		const { work, runtime } = await setup();
		await runtime.terminal({ command: "mkdir -p sub/folder && cd sub && echo x > folder/f && ln -s f folder/l && echo y > /tmp/made" });
		expect(ok(await runtime.upload({ source: "folder", target: "/tmp/there" }))).toMatchObject({
			kind: "directory",
			files: 1,
			links: 1,
			note: expect.stringContaining("may be in the sandbox alone"),
		});
		expect(ok(await runtime.download({ source: "/tmp/made", target: "got" }))).toMatchObject({ path: path.join(work, "sub", "got") });
		expect(fs.readFileSync(path.join(work, "sub", "got"), "utf8")).toBe("y\n");
	});

	test("no link leads a download out of it: one that dangles, one that came by a download, and one that takes a directory's place", async () => {
		await raceInSandbox(5);
	});
});
