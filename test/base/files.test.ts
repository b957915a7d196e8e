import fs from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { ensureDir } from "../../src/base/files.js";
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
