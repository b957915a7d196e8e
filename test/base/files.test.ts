import fs from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { ensureDir, realPath } from "../../src/base/files.js";
import { tempDir } from "../support/home.js";

test("a directory is made though another program makes the one above it at the same moment", () => {
	const dir = path.join(tempDir(), "a", "b");
	const mkdir = vi.spyOn(fs, "mkdirSync").mockImplementationOnce(() => {
		fs.mkdirSync(path.dirname(dir)); // the other program, just after ours was told that there is none
		throw Object.assign(new Error("no such directory"), { code: "ENOENT" });
	});
	try {
		ensureDir(dir);
	} finally {
		mkdir.mockRestore();
	}
	expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
});

test("what cannot be a directory is an error, and comes to an end", () => {
	const file = path.join(tempDir(), "file");
	fs.writeFileSync(file, "");
	expect(() => ensureDir(file)).toThrow(expect.objectContaining({ code: "EEXIST" }));
	expect(() => ensureDir(path.join(file, "below"))).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
	expect(() => ensureDir("/proc/nothing/here")).toThrow(expect.objectContaining({ code: "ENOENT" }));
});

test("a real path goes through links to what is not there yet, as the kernel would", () => {
	const dir = fs.realpathSync(tempDir());
	fs.mkdirSync(path.join(dir, "a/b"), { recursive: true });
	const link = (name: string, target: string) => fs.symlinkSync(target, path.join(dir, name));
	link("one", "two");
	link("two", `${dir}/a/new`);
	link("deep", "a/b");
	link("up", "deep/../new"); // above a/b, not above the link
	link("above", "missing/x");
	link("circle", "circle");
	const seen = ["one", "two/below/x", "up", "deep/none/../y", "above/z", "circle/x", "a", "none", "one/", "deep/none", "none/x"].map((name) =>
		path.relative(dir, realPath(`${dir}/${name}`)),
	);
	expect(seen).toEqual(["a/new", "a/new/below/x", "a/new", "a/b/y", "missing/x/z", "circle/x", "a", "none", "a/new", "a/b/none", "none/x"]);
	for (let at = 0; at < 60; at++) link(`long${at}`, `long${at + 1}`);
	expect(realPath(`${dir}/long10`)).toBe(`${dir}/long50`); // no further than the kernel goes
	expect(realPath("not/absolute")).toBe("not/absolute");
});
