import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it, vi } from "vitest";
import { loadTasks } from "../../src/tasks/index.js";
import { folder, good, put } from "./support.js";

/** A tar archive by its entries, with whatever names and types. */
function tar(...entries: readonly { readonly name: string; readonly type?: string; readonly target?: string; readonly text?: string }[]): Buffer {
	const blocks = entries.map(({ name, type = "0", target = "", text = "" }) => {
		const head = Buffer.alloc(512);
		head.write(name, 0, 100);
		head.write("0000755\0", 100);
		head.write(`${text.length.toString(8).padStart(11, "0")}\0`, 124);
		head.write("        ", 148);
		head.write(type, 156);
		head.write(target, 157, 100);
		head.write("ustar\x0000", 257, "latin1");
		head.write(
			`${head
				.reduce((sum, byte) => sum + byte, 0)
				.toString(8)
				.padStart(6, "0")}\0 `,
			148,
		);
		return Buffer.concat([head, Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)]);
	});
	return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function inHome(): string {
	const home = folder();
	vi.stubEnv("HOLDFAST_AGENT_HOME", path.join(home, "agent"));
	return home;
}

it("a tarball made by tar has the same task as its folder, also with a long name", () => {
	const home = inHome();
	const task = good(path.join(home, "in/task"), "", { [`tests/${"deep/".repeat(30)}data`]: "x", "tests/again": "->test.sh" });
	execFileSync("tar", ["-C", path.join(home, "in"), "-czf", path.join(home, "a.tar.gz"), "task"]);
	execFileSync("tar", ["-C", path.join(home, "in"), "--format=pax", "-cf", path.join(home, "b.tar"), "task"]);
	const [wanted] = loadTasks(task).items;
	for (const name of ["a.tar.gz", "b.tar"])
		expect(loadTasks(path.join(home, name)).items.map(({ key, digest }) => [key, digest])).toEqual([[wanted?.key, wanted?.digest]]);
});

it.each([
	["..", [{ name: "a/../../x" }], /"a\/\.\.\/\.\.\/x\\?" leads out of the archive/],
	["an absolute name", [{ name: "/etc/x" }], /leads out of the archive/],
	["a link out", [{ name: "a", type: "2", target: "../x" }], /is a link out of the archive, to "..\/x"/],
	["an absolute link", [{ name: "a", type: "2", target: "/etc" }], /is a link out/],
	["a hard link", [{ name: "a", type: "1", target: "b" }], /is a hard link/],
	["a device", [{ name: "a", type: "3" }], /is a hard link, a device/],
	[
		"a file behind a link of its own",
		[
			{ name: "d", type: "5" },
			{ name: "l", type: "2", target: "d" },
			{ name: "l/x", text: "y" },
		],
		/is behind a link of the same archive/,
	],
])("a tarball with %s is refused, and nothing of it is kept", (_, entries, words) => {
	const home = inHome();
	fs.writeFileSync(path.join(home, "bad.tgz"), gzipSync(tar(...entries)));
	expect(() => loadTasks(path.join(home, "bad.tgz"))).toThrow(words);
	expect(fs.existsSync(path.join(home, "agent/tasks")) ? fs.readdirSync(path.join(home, "agent/tasks")) : []).toEqual([]);
});

it("what is no tarball, or half of one, is refused in words", () => {
	const home = inHome();
	put(home, { "a.tar": "x".repeat(600), "b.tgz": "\x1f\x8bnothing" });
	fs.writeFileSync(path.join(home, "c.tar"), tar({ name: "x", text: "y".repeat(5_000) }).subarray(0, 3_000));
	expect(() => loadTasks(path.join(home, "a.tar"))).toThrow(/is no tar archive/);
	expect(() => loadTasks(path.join(home, "c.tar"))).toThrow(/cut short at byte 0/);
});

it("a git repository is cloned at the wanted branch, without what would run; one that is not there is said", () => {
	const home = inHome();
	const repo = path.join(home, "repo");
	good(path.join(repo, "tasks/one"));
	const git = (...args: string[]) => execFileSync("git", ["-C", repo, "-c", "user.name=t", "-c", "user.email=t@t", ...args]);
	git("init", "--quiet", "--initial-branch=main");
	git("add", "-A");
	git("commit", "--quiet", "-m", "x");
	git("checkout", "--quiet", "-b", "more");
	good(path.join(repo, "tasks/two"));
	git("add", "-A");
	git("commit", "--quiet", "-m", "y");
	git("checkout", "--quiet", "main");
	expect(loadTasks(`file://${repo}`).items.map(({ key }) => key)).toEqual(["one"]);
	expect(loadTasks(`file://${repo}#more`).items.map(({ key }) => key)).toEqual(["one", "two"]);
	expect(() => loadTasks(`file://${repo}#nothing`)).toThrow(/cannot be cloned: .*nothing/);
});
