import { execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { copy, localFiles } from "../../../src/places/files/index.js";
import { atEnd, tempDir, until } from "../../support/home.js";
import { rounds } from "../../support/seed.js";
import { hostileTree, picture } from "../../support/trees.js";
import { ENDS } from "./ends.js";

describe.each(ENDS)("copy: $name", ({ name, open, missing }) => {
	const it = test.skipIf(missing !== undefined);

	it("a folder there and back is the same, whatever its names", async () => {
		const there = open();
		const tree = hostileTree();
		const [over, back] = [path.join(tempDir(), "there"), path.join(tempDir(), "back")];
		const up = await copy({ files: localFiles(), path: tree }, { files: there, path: over });
		expect(picture(over)).toEqual(picture(tree));
		const seen: number[] = [];
		const down = await copy({ files: there, path: over }, { files: localFiles(), path: back }, { progress: ({ bytes }) => seen.push(bytes) });
		expect(picture(back)).toEqual(picture(tree));
		expect(up).toMatchObject({ kind: "directory", created: true, links: 3, skipped: [] });
		expect({ ...down, path: "" }).toEqual({ ...up, path: "", notes: down.notes });
		expect(seen.at(-1)).toBe(down.bytes);
		for (const dir of [tree, over, back]) fs.chmodSync(path.join(dir, "locked"), 0o755);
	});

	// Where each file is a script of its own, fewer say as much.
	const dirs = name === "near" || name.includes("link") ? rounds(15, 50) : name.includes("without tar") ? rounds(1, 5) : rounds(3, 5);
	it(`${dirs * 100} small files there and back are the same`, async () => {
		const there = open();
		const tree = path.join(tempDir(), "tree");
		for (let dir = 0; dir < dirs; dir++) {
			fs.mkdirSync(path.join(tree, `dir ${dir}`), { recursive: true });
			for (let file = 0; file < 100; file++) fs.writeFileSync(path.join(tree, `dir ${dir}`, `${file}`), `${dir} ${file} ${"x".repeat(file * 20)}`);
		}
		const [over, back] = [tempDir(), tempDir()];
		expect(await copy({ files: localFiles(), path: tree }, { files: there, path: over })).toMatchObject({ path: path.join(over, "tree"), files: dirs * 100 });
		await copy({ files: there, path: `${over}/tree/.` }, { files: localFiles(), path: back });
		expect(picture(back)).toEqual(picture(tree));
	}, 240_000);

	const megabytes = name === "far, a link" ? 100 : rounds(20, 100);
	test.skipIf(missing !== undefined || name.includes("busybox"))(
		`${megabytes} MB there and back have the same sha256`,
		async () => {
			const there = open();
			const dir = tempDir();
			const piece = randomBytes(1_000_000);
			const hash = createHash("sha256");
			for (let at = 0; at < megabytes; at++) {
				piece.writeUInt32LE(at, 0);
				fs.appendFileSync(path.join(dir, "big"), piece);
				hash.update(piece);
			}
			const sha256 = hash.digest("hex");
			expect(await copy({ files: localFiles(), path: path.join(dir, "big") }, { files: there, path: path.join(dir, "over") })).toMatchObject({
				bytes: megabytes * 1_000_000,
				sha256,
			});
			expect(await copy({ files: there, path: path.join(dir, "over") }, { files: localFiles(), path: path.join(dir, "back") })).toMatchObject({ sha256 });
			expect(execFileSync("sha256sum", [path.join(dir, "over"), path.join(dir, "back")], { encoding: "utf8" }).match(new RegExp(sha256, "g"))).toHaveLength(2);
		},
		240_000,
	);

	it("goes where cp would put it", async () => {
		const there = open();
		const dir = tempDir();
		fs.writeFileSync(path.join(dir, "a"), "a");
		fs.mkdirSync(path.join(dir, "d"));
		fs.writeFileSync(path.join(dir, "d", "x"), "x");
		const go = async (from: string, to: string) =>
			(await copy({ files: localFiles(), path: path.join(dir, from) }, { files: there, path: `${dir}/${to}` })).path;
		expect(await go("a", "b")).toBe(path.join(dir, "b"));
		expect(await go("a", "d")).toBe(path.join(dir, "d", "a"));
		expect(await go("a", "new/")).toBe(path.join(dir, "new", "a"));
		expect(await go("d", "e")).toBe(path.join(dir, "e"));
		expect(await go("d", "e")).toBe(path.join(dir, "e", "d"));
		expect((await copy({ files: localFiles(), path: `${dir}/d/.` }, { files: there, path: path.join(dir, "new") })).path).toBe(path.join(dir, "new"));
		expect(fs.readdirSync(path.join(dir, "new")).sort()).toEqual(["a", "x"]);
		await expect(go("d", "b")).rejects.toThrow(/no directory/);
		await expect(go("nothing", "b")).rejects.toMatchObject({ code: "NOT_FOUND" });
	});

	it("what is no file is left out, and named", async () => {
		const there = open();
		const tree = tempDir();
		execFileSync("mkfifo", [path.join(tree, "pipe")]);
		fs.writeFileSync(Buffer.concat([Buffer.from(`${tree}/bad`), Buffer.from([0xff])]), "x");
		fs.writeFileSync(path.join(tree, "good"), "x");
		const { skipped } = await copy({ files: localFiles(), path: `${tree}/.` }, { files: there, path: path.join(tempDir(), "over") });
		expect([...skipped].sort()).toEqual(["bad\ufffd (its name is not UTF-8)", "pipe (a device, a pipe or a socket)"]);
	});

	it("an existing file keeps its own permissions, a new one gets those of the source", async () => {
		const there = open();
		const dir = tempDir();
		fs.writeFileSync(path.join(dir, "a"), "a");
		fs.chmodSync(path.join(dir, "a"), 0o750);
		fs.writeFileSync(path.join(dir, "old"), "b");
		fs.chmodSync(path.join(dir, "old"), 0o600);
		for (const name of ["old", "new"]) await copy({ files: localFiles(), path: path.join(dir, "a") }, { files: there, path: path.join(dir, name) });
		expect(["old", "new"].map((name) => fs.statSync(path.join(dir, name)).mode & 0o777)).toEqual([0o600, 0o750]);
	});
});

test("a download never writes through a link that an earlier one has brought", async () => {
	const [box, here, outside] = [tempDir(), tempDir(), tempDir()];
	fs.symlinkSync(outside, path.join(box, "trap"));
	await copy({ files: localFiles(), path: `${box}/.` }, { files: localFiles(), path: here });
	fs.rmSync(path.join(box, "trap"));
	fs.mkdirSync(path.join(box, "trap"));
	fs.writeFileSync(path.join(box, "trap", "file"), "x");
	await expect(copy({ files: localFiles(), path: `${box}/.` }, { files: localFiles(), path: here })).rejects.toThrow(/no directory/);
	expect(fs.readdirSync(outside)).toEqual([]);
});

test("a directory is not copied into itself", async () => {
	const dir = tempDir();
	await expect(copy({ files: localFiles(), path: dir }, { files: localFiles(), path: path.join(dir, "below") })).rejects.toThrow(/into itself/);
});

test("kill -9 in the middle of a write leaves the old file, and beside it something that is known for what it is", async () => {
	const dir = tempDir();
	fs.writeFileSync(path.join(dir, "file"), "old");
	const script = `
		import { localFiles } from ${JSON.stringify(path.resolve("dist/places/files/index.js"))};
		async function* endless() { for (;;) yield Buffer.alloc(100_000, 97); }
		await localFiles().write(${JSON.stringify(path.join(dir, "file"))}, endless());`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
	atEnd(() => child.kill("SIGKILL"));
	const temporary = () => fs.readdirSync(dir).find((name) => name.startsWith(".holdfast-tmp."));
	await until("it has written something", () => temporary() !== undefined && fs.statSync(path.join(dir, temporary() as string)).size > 0);
	const ended = new Promise((resolve) => child.once("exit", resolve));
	child.kill("SIGKILL");
	await ended;
	expect(fs.readFileSync(path.join(dir, "file"), "utf8")).toBe("old");
	fs.utimesSync(path.join(dir, temporary() as string), 1_000_000_000, 1_000_000_000);
	await localFiles().write(path.join(dir, "file"), Buffer.from("new"));
	expect(fs.readdirSync(dir)).toEqual(["file"]);
});
