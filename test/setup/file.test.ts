import fs from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { readConfig, replaceConfig } from "../../src/doors/setup/file.js";
import { atEnd, tempDir } from "../support/home.js";

function oldFile(): string {
	const file = path.join(tempDir(), "config");
	fs.writeFileSync(file, "old", { mode: 0o640 });
	return file;
}

test("on a file system without hard links the backup is a copy, and never over an earlier one", () => {
	const refuse = vi.spyOn(fs, "linkSync").mockImplementation(() => {
		throw Object.assign(new Error("no hard links"), { code: "EPERM" });
	});
	atEnd(() => refuse.mockRestore());
	vi.useFakeTimers({ now: 0, toFake: ["Date"] });
	atEnd(() => vi.useRealTimers());
	const file = oldFile();
	const backups = ["one", "two"].map((text) => replaceConfig(readConfig(file), text) as string);
	expect(backups).toEqual([`${file}.holdfast-backup-19700101T000000Z`, `${file}.holdfast-backup-19700101T000000Z-2`]);
	expect([...backups, file].map((name) => fs.readFileSync(name, "utf8"))).toEqual(["old", "one", "two"]);
	expect(backups.map((name) => fs.statSync(name).mode & 0o777)).toEqual([0o640, 0o640]);
});

test("when the last step fails nothing is left behind and the file is as it was", () => {
	const file = oldFile();
	const refuse = vi.spyOn(fs, "renameSync").mockImplementation(() => {
		throw Object.assign(new Error("read-only"), { code: "EROFS" });
	});
	atEnd(() => refuse.mockRestore());
	expect(() => replaceConfig(readConfig(file), "new")).toThrow(`cannot change ${file}, nothing was done: not allowed (EROFS)`);
	expect(fs.readdirSync(path.dirname(file))).toEqual(["config"]);
	expect(fs.readFileSync(file, "utf8")).toBe("old");
});

test.skipIf(process.getuid?.() !== 0)("root leaves a file to whom it belongs (needs root)", () => {
	const file = oldFile();
	fs.chownSync(file, 12345, 23456);
	const backup = replaceConfig(readConfig(file), "new") as string;
	for (const name of [file, backup]) expect(fs.statSync(name)).toMatchObject({ uid: 12345, gid: 23456 });
});
