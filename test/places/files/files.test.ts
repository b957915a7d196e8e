import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type Files, linkEnd, localFiles, remoteFiles } from "../../../src/places/files/index.js";
import { atEnd, tempDir } from "../../support/home.js";
import { ShellHost } from "../../support/shell-host.js";
import { HOSTILE } from "../../support/trees.js";
import { ENDS, linkTo } from "./ends.js";

const sha = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
const modeOf = (file: string) => fs.statSync(file).mode & 0o7777;

describe.each(ENDS)("files: $name", ({ open, missing }) => {
	const it = test.skipIf(missing !== undefined);

	it.each(HOSTILE)("writes, looks at, lists, reads, hashes, renames and removes %j", async (name) => {
		const files = open();
		const dir = tempDir();
		const file = path.join(dir, name);
		const content = randomBytes(3000);
		const written = await files.write(file, content);
		expect(written).toEqual({ path: file, created: true, bytes: 3000, sha256: sha(content), notes: written.notes });
		expect(fs.readdirSync(dir)).toEqual([name]);
		expect(fs.readFileSync(file).equals(content)).toBe(true);
		expect(await files.stat(file)).toMatchObject({ name, kind: "file", size: 3000, links: 1 });
		expect((await files.list(dir)).map((entry) => entry.name)).toEqual([name]);
		expect((await files.read(file, 1000, 500)).equals(content.subarray(1000, 1500))).toBe(true);
		expect((await files.read(file, 2900, 500)).equals(content.subarray(2900))).toBe(true);
		expect(await files.read(file, 5000, 10)).toHaveLength(0);
		expect(await files.hash(file)).toBe(sha(content));
		await files.rename(file, path.join(dir, "other"));
		expect(fs.readdirSync(dir)).toEqual(["other"]);
		await files.rename(path.join(dir, "other"), file);
		await files.remove(file);
		expect(await files.stat(file)).toBeUndefined();
		expect(fs.readdirSync(dir)).toEqual([]);
		await files.mkdir(path.join(file, name, name));
		expect(await files.stat(path.join(file, name, name))).toMatchObject({ kind: "directory" });
		await files.remove(file, { recursive: true });
		expect(fs.readdirSync(dir)).toEqual([]);
	});

	it("every byte there is, and an empty file", async () => {
		const files = open();
		const dir = tempDir();
		const all = Buffer.from(Array.from({ length: 65_536 }, (_, at) => at & 255));
		await files.write(path.join(dir, "all"), all);
		expect((await files.read(path.join(dir, "all"), 0, 100_000)).equals(all)).toBe(true);
		await files.write(path.join(dir, "empty"), Buffer.alloc(0));
		expect(await files.read(path.join(dir, "empty"), 0, 10)).toHaveLength(0);
		expect(await files.hash(path.join(dir, "empty"))).toBe(sha(""));
	});

	it("a stream of pieces of any size is written whole", async () => {
		const files = open();
		const file = path.join(tempDir(), "file");
		const pieces = [1, 70_000, 3, 1_500_000, 0, 2_000_001].map((size) => randomBytes(size));
		async function* stream() {
			yield* pieces;
		}
		const seen: number[] = [];
		const written = await files.write(file, stream(), { progress: (bytes) => seen.push(bytes) });
		expect(sha(fs.readFileSync(file))).toBe(sha(Buffer.concat(pieces)));
		expect(written.sha256).toBe(sha(Buffer.concat(pieces)));
		expect(seen.at(-1)).toBe(written.bytes);
	});

	it("a replaced file keeps its permissions, and its owner as far as we may give it away", async () => {
		const files = open();
		const file = path.join(tempDir(), "file");
		fs.writeFileSync(file, "old");
		fs.chmodSync(file, 0o4751);
		if (process.getuid?.() === 0) fs.chownSync(file, 65534, 65534);
		fs.chmodSync(file, 0o4751);
		expect(await files.write(file, Buffer.from("new"))).toMatchObject({ created: false });
		expect(modeOf(file)).toBe(0o4751);
		if (process.getuid?.() === 0) expect(fs.statSync(file)).toMatchObject({ uid: 65534, gid: 65534 });
		expect(fs.readFileSync(file, "utf8")).toBe("new");
	});

	it("a new file has what the umask leaves, or the mode that was asked for", async () => {
		const files = open();
		const dir = tempDir();
		await files.write(path.join(dir, "plain"), Buffer.from("x"));
		expect(modeOf(path.join(dir, "plain"))).toBe(0o644);
		await files.write(path.join(dir, "asked"), Buffer.from("x"), { mode: 0o750 });
		expect(modeOf(path.join(dir, "asked"))).toBe(0o750);
	});

	it("writes through symbolic links, also to what is not there yet, and says where it is", async () => {
		const files = open();
		const dir = tempDir();
		fs.mkdirSync(path.join(dir, "sub"));
		fs.symlinkSync("sub/middle", path.join(dir, "link"));
		fs.symlinkSync("../target\n", path.join(dir, "sub", "middle"));
		expect((await files.write(path.join(dir, "link"), Buffer.from("1"))).created).toBe(true);
		expect(fs.readFileSync(path.join(dir, "target\n"), "utf8")).toBe("1");
		const again = await files.write(path.join(dir, "link"), Buffer.from("2"));
		expect(fs.realpathSync(again.path)).toBe(fs.realpathSync(path.join(dir, "target\n")));
		expect(fs.readFileSync(path.join(dir, "target\n"), "utf8")).toBe("2");
		expect(fs.lstatSync(path.join(dir, "link")).isSymbolicLink()).toBe(true);
		await files.write(path.join(dir, "link"), Buffer.from("3"), { replaceLink: true });
		expect(fs.lstatSync(path.join(dir, "link")).isSymbolicLink()).toBe(false);
		expect(fs.readFileSync(path.join(dir, "target\n"), "utf8")).toBe("2");
		expect(await files.readLink(path.join(dir, "sub", "middle"))).toBe("../target\n");
	});

	it("a circle of links is an error in words, for reading and for writing", async () => {
		const files = open();
		const dir = tempDir();
		fs.symlinkSync("b", path.join(dir, "a"));
		fs.symlinkSync("a", path.join(dir, "b"));
		await expect(files.write(path.join(dir, "a"), Buffer.from("x"))).rejects.toThrow(/leads back to itself/);
		await expect(files.read(path.join(dir, "a"), 0, 10)).rejects.toThrow(/leads back to itself/);
		await expect(files.stat(path.join(dir, "a"))).rejects.toThrow(/leads back to itself/);
		expect(await files.stat(path.join(dir, "a"), { follow: false })).toMatchObject({ kind: "link" });
	});

	it("refuses to write to a directory, a pipe or a device, and to read from them", async () => {
		const files = open();
		const dir = tempDir();
		const pipe = path.join(dir, "pipe");
		execFileSync("mkfifo", [pipe]);
		await expect(files.write(dir, Buffer.from("x"))).rejects.toThrow(/is a directory/);
		await expect(files.write(pipe, Buffer.from("x"))).rejects.toThrow(/a device, a pipe or a socket/);
		await expect(files.write("/dev/null", Buffer.from("x"))).rejects.toThrow(/a device, a pipe or a socket/);
		await expect(files.read(dir, 0, 10)).rejects.toThrow(/is a directory/i);
		expect(fs.readdirSync(dir)).toEqual(["pipe"]);
	});

	it("makes the directories above, and says which was the first", async () => {
		const files = open();
		const dir = tempDir();
		expect((await files.write(path.join(dir, "a b", "c", "d"), Buffer.from("x"))).made).toBe(path.join(dir, "a b"));
		expect((await files.write(path.join(dir, "a b", "e"), Buffer.from("x"))).made).toBeUndefined();
		expect(await files.mkdir(path.join(dir, "f", "g"))).toBe(path.join(dir, "f"));
		expect(await files.mkdir(path.join(dir, "f", "g"))).toBeUndefined();
		await expect(files.write(path.join(dir, "a b", "e", "below"), Buffer.from("x"))).rejects.toThrow();
		await expect(files.mkdir(path.join(dir, "a b", "e"))).rejects.toThrow();
	});

	it("what is not there is not found", async () => {
		const files = open();
		const nothing = path.join(tempDir(), "nothing");
		expect(await files.stat(nothing)).toBeUndefined();
		expect(await files.stat(path.join(nothing, "below"))).toBeUndefined();
		await expect(files.read(nothing, 0, 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
		await expect(files.list(nothing)).rejects.toMatchObject({ code: "NOT_FOUND" });
		await expect(files.hash(nothing)).rejects.toMatchObject({ code: "NOT_FOUND" });
		await expect(files.remove(nothing)).rejects.toMatchObject({ code: "NOT_FOUND" });
		await expect(files.write(path.join(tempDir(), "y".repeat(256)), Buffer.from("x"))).rejects.toThrow(/longer than/);
	});

	it("with `expect`, a file that another program has changed meanwhile is not overwritten", async () => {
		const files = open();
		const file = path.join(tempDir(), "file");
		fs.writeFileSync(file, "theirs");
		await expect(files.write(file, Buffer.from("mine"), { expect: sha("before") })).rejects.toMatchObject({ code: "CONFLICT" });
		await expect(files.write(file, Buffer.from("mine"), { expect: null })).rejects.toMatchObject({ code: "CONFLICT" });
		expect(fs.readFileSync(file, "utf8")).toBe("theirs");
		await files.write(file, Buffer.from("mine"), { expect: sha("theirs") });
		expect(fs.readFileSync(file, "utf8")).toBe("mine");
		await files.write(`${file}2`, Buffer.from("mine"), { expect: null });
		expect(fs.readdirSync(path.dirname(file)).sort()).toEqual(["file", "file2"]);
	});

	it("a draft that is dropped leaves nothing, and what a killed writer left long ago is removed", async () => {
		const files = open();
		const dir = tempDir();
		const old = path.join(dir, ".holdfast-tmp.0123456789abcdef");
		const young = path.join(dir, ".holdfast-tmp.fedcba9876543210");
		fs.writeFileSync(old, "half");
		fs.writeFileSync(young, "half");
		fs.utimesSync(old, Date.now() / 1000 - 7200, Date.now() / 1000 - 7200);
		const draft = await files.draft(path.join(dir, "file"), Buffer.from("x"));
		await draft.drop();
		const left = fs.readdirSync(dir);
		expect(left).toContain(path.basename(young));
		expect(left).not.toContain("file");
		if ((await files.run("command -v find", [])).status === 0) expect(left).toEqual([path.basename(young)]);
	});

	it("a stream that fails in the middle leaves the old file", async () => {
		const files = open();
		const dir = tempDir();
		fs.writeFileSync(path.join(dir, "file"), "old");
		async function* broken() {
			yield randomBytes(2_000_000);
			throw new Error("the other side hung up");
		}
		await expect(files.write(path.join(dir, "file"), broken())).rejects.toThrow("hung up");
		expect(fs.readFileSync(path.join(dir, "file"), "utf8")).toBe("old");
		expect(fs.readdirSync(dir)).toEqual(["file"]);
		const stop = new AbortController();
		async function* endless() {
			for (;;) {
				yield randomBytes(1_100_000);
				stop.abort();
			}
		}
		await expect(files.write(path.join(dir, "file"), endless(), { signal: stop.signal })).rejects.toMatchObject({ code: "ABORTED" });
		expect(fs.readdirSync(dir)).toEqual(["file"]);
	});

	it("concurrent writers: the file is always one of theirs, whole", async () => {
		const files = open();
		const file = path.join(tempDir(), "file");
		const contents = Array.from({ length: 8 }, (_, at) => Buffer.alloc(200_000, 65 + at));
		await Promise.all(contents.map((content) => files.write(file, content)));
		const left = fs.readFileSync(file);
		expect(contents.some((content) => content.equals(left))).toBe(true);
		expect(fs.readdirSync(path.dirname(file))).toEqual(["file"]);
	});

	it("a script gets its arguments as they are, and its status and output come back", async () => {
		const files = open();
		const cwd = tempDir();
		const { status, output } = await files.run('printf "%s|" "$@"; pwd; exit 3', HOSTILE, { cwd });
		expect(status).toBe(3);
		expect(output.toString()).toBe(`${HOSTILE.map((name) => `${name}|`).join("")}${cwd}\n`);
		expect((await files.run("cat", [], { input: Buffer.from("in\0put") })).output.toString()).toBe("in\0put");
		expect(fs.readdirSync(cwd)).toEqual([]);
		const cut = await files.run("seq 1 5000", [], { limit: 1000 });
		expect([cut.cut, cut.output.length]).toEqual([true, 1000]);
	});

	test.skipIf(missing !== undefined || process.getuid?.() !== 0)("a full disk leaves the old file, and says so", async () => {
		const files = open();
		const dir = tempDir();
		execFileSync("mount", ["-t", "tmpfs", "-o", "size=1M", "tmpfs", dir]);
		atEnd(() => execFileSync("umount", [dir]));
		fs.writeFileSync(path.join(dir, "file"), "old");
		await expect(files.write(path.join(dir, "file"), randomBytes(3_000_000))).rejects.toMatchObject({ code: "NO_SPACE" });
		expect(fs.readFileSync(path.join(dir, "file"), "utf8")).toBe("old");
		expect(fs.readdirSync(dir)).toEqual(["file"]);
	});
});

/** The one file everywhere that makes its reader wait. */
const KERNEL = "/proc/kmsg";
const waits = () => {
	try {
		fs.closeSync(fs.openSync(KERNEL, "r"));
		return true;
	} catch {
		return false;
	}
};

const OPEN: readonly (readonly [string, () => Files])[] = [
	["near", localFiles],
	["a link", () => remoteFiles(linkEnd(linkTo(new ShellHost())))],
	["a link without perl", () => remoteFiles(linkEnd(linkTo(new ShellHost({ shell: "busybox" }))))],
];

test.skipIf(!waits()).each(OPEN)("a file that makes its reader wait delays no other reader: %s", async (_, open) => {
	const files = open();
	const own = path.join(tempDir(), "file");
	fs.writeFileSync(own, "content");
	const all = async () => {
		while ((await files.read(KERNEL, 0, 1 << 20)).length > 0); // what has gathered there
	};
	const reading = all();
	reading.catch(() => {});
	expect((await files.read(own, 0, 100)).toString()).toBe("content");
	await expect(reading).rejects.toMatchObject({ code: "INVALID", message: expect.stringMatching(/nothing to read in \/proc\/kmsg now/) });
	expect((await files.read("/proc/version", 0, 100)).toString()).toMatch(/^Linux version /);
});
