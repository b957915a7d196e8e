import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parseInode } from "../../../src/places/link/questions.js";
import { tempDir } from "../../support/home.js";
import { linkTo, SHELLS, ShellHost } from "../../support/shell-host.js";

const KINDS = [...SHELLS.map((shell) => ({ shell, perl: false })), { shell: "dash" as const, perl: true }, { shell: "bash" as const, perl: true }];

describe.each(KINDS)("a link to $shell, perl: $perl", ({ shell, perl }) => {
	const open = () => linkTo(new ShellHost({ shell }), { perl });

	test("tells what it found there", async () => {
		const link = await open();
		await link.ping();
		expect(link.facts).toMatchObject({ uid: process.getuid?.(), sh: shell, helper: perl ? "perl" : "sh", proc: true });
	});

	test("reads and writes", async () => {
		const link = await open();
		const file = path.join(tempDir(), "a file");
		await link.write(file, 0, Buffer.from("hello\0\n world"));
		await link.write(file, 5, Buffer.from("\x01"));
		expect(fs.readFileSync(file, "latin1")).toBe("hello\x01\n world");
		expect(await link.read(file, 6, 100)).toEqual({ bytes: Buffer.from("\n world"), size: 13 });
		expect(await link.read(file, 13, 100)).toEqual({ bytes: Buffer.alloc(0), size: 13 });
		await expect(link.read("/nowhere", 0, 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
	});

	test("runs scripts", async () => {
		const link = await open();
		expect(await link.run("printf 'a\\0b'; echo oops >&2; exit 3")).toEqual({ status: 3, output: Buffer.from("a\0b"), size: 3, error: "oops" });
		expect(await link.run("cat; echo done", { input: Buffer.from("in\0put") })).toMatchObject({ status: 0, output: Buffer.from("in\0putdone\n") });
		expect(await link.run("if then")).toMatchObject({ status: 2 });
		expect(await link.run("cat <<EOF\na\nb\nEOF", { starts: true })).toMatchObject({ status: 0, output: Buffer.from("a\nb\n") });
		expect(await link.run("head -c 100000 /dev/zero", { limit: 10 })).toMatchObject({ status: 0, output: Buffer.alloc(10), size: 100000 });
	});

	test("tells what is behind a path", async () => {
		const link = await open();
		const answers = await link.look(["/dev/null", "/nowhere", process.cwd()].map((path) => ({ ask: "inode", path })));
		expect(answers[1]).toBeUndefined();
		for (const [index, path] of [
			[0, "/dev/null"],
			[2, process.cwd()],
		] as const) {
			const { dev, rdev, ino, nlink, mode, uid } = fs.statSync(path);
			expect(parseInode(answers[index] as Buffer)).toMatchObject({ dev, rdev, ino, links: nlink, mode, uid });
		}
	});

	test("looks", async () => {
		const link = await open();
		const [stat, cwd, none, names] = await link.look([
			{ ask: "content", path: `/proc/${process.pid}/stat` },
			{ ask: "link", path: `/proc/${process.pid}/cwd` },
			{ ask: "content", path: "/nowhere" },
			{ ask: "names", path: `/proc/${process.pid}/task/${process.pid}/net` },
		]);
		expect(stat?.toString()).toMatch(new RegExp(`^${process.pid} `));
		expect(cwd?.toString()).toBe(process.cwd());
		expect(none).toBeUndefined();
		expect(names?.toString()).toContain("unix\0");
	});
});
