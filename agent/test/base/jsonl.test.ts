import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { LineFile, readLines } from "../../src/base/index.js";
import { tempDir } from "../support/dirs.js";
import { smallDisk } from "../support/small-disk.js";

const inDir = (name = "a.jsonl"): string => path.join(tempDir(), name);

it("appends whole lines and reads them back, whatever is in them", async () => {
	const file = inDir();
	const values = [{ text: "one\ntwo\u2028" }, { text: "\ud800 half of a pair, \0 and 🙂" }, { nested: [1, { deep: null }] }, { text: "x".repeat(3_000_000) }];
	const lines = LineFile.open(file);
	await Promise.all(values.map((value) => lines.append([value], { sync: true })));
	await lines.close();
	expect(readLines(file).values).toEqual(values);
	expect(fs.statSync(file).mode & 0o777).toBe(0o600);
});

it("a torn last line is left out by readers, and cut off and kept aside by the next writer", async () => {
	const file = inDir();
	fs.writeFileSync(file, '{"a":1}\n{"a":2}\n{"a":"thr');
	expect(readLines(file).values).toEqual([{ a: 1 }, { a: 2 }]);
	expect(fs.readFileSync(file, "utf8")).toContain("thr");
	const lines = LineFile.open(file);
	expect(lines.cut).toBe('{"a":"thr'.length);
	await lines.append([{ a: 3 }]);
	await lines.close();
	expect(fs.readFileSync(file, "utf8")).toBe('{"a":1}\n{"a":2}\n{"a":3}\n');
	expect(fs.readFileSync(`${file}.cut`, "utf8")).toBe('{"a":"thr\n');
});

it("a last line that is whole but for its newline was never acknowledged, and is cut off too", () => {
	const file = inDir();
	fs.writeFileSync(file, '{"a":1}\n{"a":2}');
	expect(LineFileAt(file)).toEqual([{ a: 1 }]);
});

it("a last line of zeros, as some file systems leave after a power cut, is torn", () => {
	const file = inDir();
	fs.writeFileSync(file, Buffer.concat([Buffer.from('{"a":1}\n'), Buffer.alloc(100), Buffer.from('"}\n')]));
	expect(LineFileAt(file)).toEqual([{ a: 1 }]);
});

function LineFileAt(file: string): readonly unknown[] {
	const lines = LineFile.open(file);
	void lines.close();
	return lines.values;
}

it("a damaged line in the middle is named, and the file is left as it is", () => {
	const file = inDir();
	const text = '{"a":1}\n{"a":\n{"a":3}\n';
	fs.writeFileSync(file, text);
	expect(() => readLines(file)).toThrow(expect.objectContaining({ code: "BROKEN", message: expect.stringContaining(`line 2 of ${file} is damaged`) }));
	expect(() => LineFile.open(file)).toThrow(expect.objectContaining({ code: "BROKEN" }));
	expect(fs.readFileSync(file, "utf8")).toBe(text);
	expect(fs.existsSync(`${file}.cut`)).toBe(false);
});

it("lines of JSON that are no objects are damage", () => {
	const file = inDir();
	fs.writeFileSync(file, '{"a":1}\n7\n{"a":3}\n');
	expect(() => readLines(file)).toThrow(/line 2/);
});

it("a write of which the disk takes only a part leaves nothing of its line", async () => {
	const file = inDir();
	let short = false;
	const write = (fd: number, bytes: Buffer) => fs.writeSync(fd, short ? bytes.subarray(0, 5) : bytes);
	const lines = LineFile.open(file, { disk: { write, sync: async () => {} } });
	await lines.append([{ a: 1 }]);
	short = true;
	await expect(lines.append([{ a: 2 }])).rejects.toMatchObject({ code: "NO_SPACE" });
	expect(fs.readFileSync(file, "utf8")).toBe('{"a":1}\n');
	short = false;
	await lines.append([{ a: 3 }]);
	await lines.close();
	expect(readLines(file).values).toEqual([{ a: 1 }, { a: 3 }]);
});

it("a line whose sync fails is taken back", async () => {
	const file = inDir();
	const failing = {
		write: (fd: number, bytes: Buffer) => fs.writeSync(fd, bytes),
		sync: () => Promise.reject(Object.assign(new Error("no"), { code: "EDQUOT" })),
	};
	const lines = LineFile.open(file, { disk: failing });
	await lines.append([{ a: 1 }]);
	await expect(lines.append([{ a: 2 }], { sync: true })).rejects.toMatchObject({ code: "NO_SPACE" });
	await lines.close();
	expect(fs.readFileSync(file, "utf8")).toBe('{"a":1}\n');
});

it("a second writer that was not held off is found out before the next line is written", async () => {
	const file = inDir();
	const lines = LineFile.open(file);
	await lines.append([{ a: 1 }]);
	fs.appendFileSync(file, '{"b":1}\n');
	await expect(lines.append([{ a: 2 }])).rejects.toMatchObject({ code: "BUSY" });
	await lines.close();
	expect(fs.readFileSync(file, "utf8")).toBe('{"a":1}\n{"b":1}\n');
});

it("on a full disk an append fails by its code, leaves no torn line, and succeeds again when there is room", async (context) => {
	const disk = smallDisk(context);
	const file = path.join(disk.dir, "a.jsonl");
	const lines = LineFile.open(file);
	await lines.append([{ a: 1 }], { sync: true });
	disk.fill(4096);
	await expect(lines.append([{ text: "x".repeat(20_000) }], { sync: true })).rejects.toMatchObject({
		code: "NO_SPACE",
		message: expect.stringContaining("free some space"),
	});
	expect(fs.readFileSync(file, "utf8")).toBe('{"a":1}\n');
	disk.empty();
	await lines.append([{ a: 2 }], { sync: true });
	await lines.close();
	expect(readLines(file).values).toEqual([{ a: 1 }, { a: 2 }]);
});
