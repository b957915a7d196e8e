import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ENDS } from "../../places/files/ends.js";
import { tempDir } from "../../support/home.js";
import { ok, toolsOn } from "./support.js";

const SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
const numbered = (from: number, to: number) =>
	Array.from({ length: to - from + 1 }, (_, at) => `${String(from + at).padStart(6)}\tline ${from + at}`).join("\n");

describe.each(ENDS)("tools for files: $name", ({ name: end, open, missing }) => {
	const it = test.skipIf(missing !== undefined);
	const searching = test.skipIf(missing !== undefined || end.includes("without"));
	const setup = async () => {
		const dir = tempDir();
		const put = (name: string, content: string | Buffer) => {
			fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
			fs.writeFileSync(path.join(dir, name), content);
			return path.join(dir, name);
		};
		const get = (name: string) => fs.readFileSync(path.join(dir, name), "utf8");
		return { dir, put, get, tools: await toolsOn(open(), dir) };
	};

	it("read_file: numbers, parts, the end, and what is behind it", async () => {
		const { put, tools } = await setup();
		put("f", Array.from({ length: 5000 }, (_, at) => `line ${at + 1}\n`).join(""));
		const first = ok(await tools.read({ path: "f" }));
		expect(first).toMatchObject({ output: numbered(1, 2000), total_lines: 5000, next_offset: 2001, kind: "text", line_endings: "lf" });
		expect(ok(await tools.read({ path: "f", offset: 4990, limit: 5 })).output).toBe(numbered(4990, 4994));
		const last = ok(await tools.read({ path: "f", offset: 4999 }));
		expect([last.output, last.next_offset]).toEqual([numbered(4999, 5000), undefined]);
		expect(await tools.read({ path: "f", offset: 5001 })).toMatchObject({ status: "error", error: expect.stringContaining("has 5000 lines") });
		put("bare", "a\nb");
		expect(ok(await tools.read({ path: "bare" }))).toMatchObject({ output: "     1\ta\n     2\tb", total_lines: 2 });
		put("empty", "");
		expect(ok(await tools.read({ path: "empty" }))).toMatchObject({ output: "", total_lines: 0, note: "The file is empty." });
	});

	searching("of one thing they speak in the singular", async () => {
		const { put, tools } = await setup();
		put("one/x", "x");
		expect(ok(await tools.read({ path: "one" })).showing).toBe("directory, 1 entry");
		expect(ok(await tools.read({ path: "one/x" })).showing).toBe("x, lines 1-1 of 1, 1 byte");
		expect(await tools.read({ path: "one/x", offset: 5 })).toMatchObject({ error: expect.stringMatching(/has 1 line(\.|$)/) });
		put("one/y", "x\nx\n");
		expect(ok(await tools.search({ pattern: "x", limit: 2 })).note).toContain("1 more match is not shown");
		expect(ok(await tools.search({ pattern: "*", target: "names", limit: 1 })).note).toContain("1 more is not shown");
		expect(ok(await tools.write({ path: "z", content: "z" })).showing).toMatch(/, 1 byte$/);
	});

	it("read_file: a large file is not loaded whole, and its lines are found", async () => {
		const { put, tools } = await setup();
		put("big", Array.from({ length: 600_000 }, (_, at) => `line ${at + 1}\n`).join(""));
		expect(ok(await tools.read({ path: "big", offset: 599_990, limit: 3 }))).toMatchObject({
			output: numbered(599_990, 599_992),
			total_lines: 600_000,
			next_offset: 599_993,
		});
		expect(await tools.read({ path: "big", offset: 600_001 })).toMatchObject({ status: "error" });
	});

	it("read_file: long lines are cut and that is said; CRLF, BOM, UTF-16 and bad bytes", async () => {
		const { put, tools } = await setup();
		put("long", `${"x".repeat(2500)}\nshort\n`);
		const long = ok(await tools.read({ path: "long" }));
		expect(long.output).toBe(`     1\t${"x".repeat(2000)}… (500 more characters)\n     2\tshort`);
		expect(long.note).toContain("1 line was cut after 2000 characters");
		put("crlf", "a\r\nb\r\n");
		expect(ok(await tools.read({ path: "crlf" }))).toMatchObject({ output: "     1\ta\n     2\tb", line_endings: "crlf" });
		put("bom", "\ufeffa\n");
		expect(ok(await tools.read({ path: "bom" }))).toMatchObject({ output: "     1\ta", encoding: "utf-8 with BOM" });
		put("wide", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("ä\nb\n", "utf16le")]));
		expect(ok(await tools.read({ path: "wide" }))).toMatchObject({ output: "     1\tä\n     2\tb", encoding: "utf-16le" });
		put("bad", Buffer.from([0x61, 0xff, 0x62, 0x0a]));
		expect(ok(await tools.read({ path: "bad" }))).toMatchObject({ output: "     1\ta\ufffdb", note: expect.stringContaining("not UTF-8") });
	});

	it("read_file: images and binaries are named, not shown; directories are listed; similar names", async () => {
		const { dir, put, tools } = await setup();
		const png = Buffer.alloc(40);
		Buffer.from("\x89PNG\r\n\x1a\n", "latin1").copy(png);
		png.writeUInt32BE(640, 16);
		png.writeUInt32BE(480, 20);
		put("x.png", png);
		expect(ok(await tools.read({ path: "x.png" }))).toMatchObject({ kind: "image", type: "png", width: 640, height: 480, size: 40, output: "" });
		put("x.gif", Buffer.from("GIF89a\x10\x00\x20\x00", "latin1"));
		expect(ok(await tools.read({ path: "x.gif" }))).toMatchObject({ kind: "image", type: "gif", width: 16, height: 32 });
		put("x.jpg", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8, 0, 30, 0, 40, 3, 0, 0, 0]));
		expect(ok(await tools.read({ path: "x.jpg" }))).toMatchObject({ kind: "image", type: "jpeg", width: 40, height: 30 });
		put("x.bin", Buffer.from([1, 0, 2]));
		expect(ok(await tools.read({ path: "x.bin" }))).toMatchObject({ kind: "binary", size: 3, output: "" });
		put("sub/configuration.json", "{}");
		expect(ok(await tools.read({ path: "." }))).toMatchObject({ kind: "directory", output: "sub/\nx.bin\nx.gif\nx.jpg\nx.png" });
		expect(dir).toBeTruthy();
	});

	it("read_file: secrets are masked line by line, and lines keep their numbers", async () => {
		const { put, tools } = await setup();
		const key = [
			"-----BEGIN RSA PRIVATE KEY-----",
			...Array.from({ length: 8 }, () => "MIIEpAIBAAKCAQEA0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM"),
			"-----END RSA PRIVATE KEY-----",
		];
		put("f", ["before", `token = ${SECRET}`, ...key, "after", ""].join("\n"));
		const { output } = ok(await tools.read({ path: "f" }));
		expect(output).not.toContain(SECRET);
		expect(output).not.toContain("MIIEpAIBAAKCAQEA0123");
		expect(output.split("\n").at(-1)).toBe("    13\tafter");
		const middle = ok(await tools.read({ path: "f", offset: 6, limit: 2 }));
		expect(middle.output).not.toContain("MIIEpAIBAAKCAQEA0123");
	});

	it("write_file: creates, replaces, keeps line endings, BOM and encoding, and says so", async () => {
		const { dir, put, get, tools } = await setup();
		expect(ok(await tools.write({ path: "new/dir/f", content: "häl\nlo" }))).toMatchObject({
			created: true,
			bytes: 7,
			made_directory: path.join(dir, "new"),
			sha256: createHash("sha256").update("häl\nlo").digest("hex"),
		});
		expect(get("new/dir/f")).toBe("häl\nlo");
		put("crlf", "a\r\nb\r\n");
		expect(ok(await tools.write({ path: "crlf", content: "c\nd\n" }))).toMatchObject({ created: false, bytes: 6, note: expect.stringContaining("CRLF") });
		expect(get("crlf")).toBe("c\r\nd\r\n");
		put("bom", "\ufeffa\n");
		ok(await tools.write({ path: "bom", content: "b\n" }));
		expect(get("bom")).toBe("\ufeffb\n");
		put("wide", Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from("a\n", "utf16le").swap16()]));
		ok(await tools.write({ path: "wide", content: "ü\n" }));
		expect(fs.readFileSync(path.join(dir, "wide"))).toEqual(Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from("ü\n", "utf16le").swap16()]));
		expect(await tools.write({ path: ".", content: "x" })).toMatchObject({ status: "error", error: expect.stringContaining("is a directory") });
		expect(await tools.write({ path: "/dev/null", content: "x" })).toMatchObject({ status: expect.stringMatching(/error|blocked/) });
	});

	it("a mask is never written over the secret that it stands for, and the true bytes around it can be patched", async () => {
		const { put, get, tools } = await setup();
		put("env", `A=1\nTOKEN=${SECRET}\nB=2\n`);
		const { output } = ok(await tools.read({ path: "env" }));
		const masked = output.replace(/^ *\d+\t/gm, "");
		expect(masked).toContain("…[redacted]");
		expect(await tools.write({ path: "env", content: masked })).toMatchObject({ status: "error", error: expect.stringContaining("stands for a secret") });
		expect(await tools.patch({ path: "env", old_string: masked.split("\n")[1], new_string: "TOKEN=x" })).toMatchObject({
			status: "error",
			error: expect.stringContaining("stands for a secret"),
		});
		const changed = ok(await tools.patch({ path: "env", old_string: "B=2", new_string: "B=3" }));
		expect(get("env")).toBe(`A=1\nTOKEN=${SECRET}\nB=3\n`);
		expect(changed.output).toContain("+B=3");
		expect(changed.output).not.toContain(SECRET);
	});

	it("patch: exactly once, or every one; else what is there instead", async () => {
		const { put, get, tools } = await setup();
		put("f", "one\ntwo\nthree two\n");
		const result = ok(await tools.patch({ path: "f", old_string: "three", new_string: "3 $& $1" }));
		expect(get("f")).toBe("one\ntwo\n3 $& $1 two\n");
		expect(result).toMatchObject({ replacements: 1, output: expect.stringContaining("-three two\n+3 $& $1 two") });
		expect(await tools.patch({ path: "f", old_string: "two", new_string: "2" })).toMatchObject({
			status: "error",
			error: expect.stringContaining("2 times (lines 2, 3)"),
		});
		expect(ok(await tools.patch({ path: "f", old_string: "two", new_string: "2", replace_all: true }))).toMatchObject({ replacements: 2 });
		expect(get("f")).toBe("one\n2\n3 $& $1 2\n");
		put("g", "function alpha() {\n  return calculate(1);\n}\n");
		const wrong = await tools.patch({ path: "g", old_string: "  return calculat(1)", new_string: "x" });
		expect(wrong.error).toContain("     2\t  return calculate(1);");
		expect(await tools.patch({ path: "g", old_string: "     2\t  return", new_string: "x" })).toMatchObject({ error: expect.stringContaining("line numbers") });
		expect(await tools.patch({ path: "g", old_string: "never seen", new_string: "alpha" })).toMatchObject({
			error: expect.stringContaining("there already, at line 1"),
		});
	});

	it("patch: only whitespace may differ, the file's indentation is kept, and the result says so", async () => {
		const { put, get, tools } = await setup();
		put("f", "if x:\n\tfoo( a,  b )   \n\tbar()\nend\n");
		const result = ok(await tools.patch({ path: "f", old_string: "    foo( a, b )\n    bar()\n", new_string: "    foo(b)\n    if y:\n        baz()\n" }));
		expect(result.note).toContain("without regard to whitespace, at line 2");
		expect(get("f")).toBe("if x:\n\tfoo(b)\n\tif y:\n\t    baz()\nend\n");
		expect(await tools.patch({ path: "f", old_string: "foo(b )", new_string: "x" })).toMatchObject({ status: "error" });
	});

	it("patch: line endings, permissions and bad bytes stay; several edits are all or nothing", async () => {
		const { dir, put, get, tools } = await setup();
		fs.chmodSync(put("f", Buffer.concat([Buffer.from("a\r\nb\r\n"), Buffer.from([0xff, 0xfe, 0x0d, 0x0a]), Buffer.from("c\r\n")])), 0o751);
		ok(
			await tools.patch({
				path: "f",
				edits: [
					{ old_string: "a\nb", new_string: "x\ny\nz" },
					{ old_string: "z", new_string: "Z" },
				],
			}),
		);
		expect(fs.readFileSync(path.join(dir, "f"))).toEqual(
			Buffer.concat([Buffer.from("x\r\ny\r\nZ\r\n"), Buffer.from([0xff, 0xfe, 0x0d, 0x0a]), Buffer.from("c\r\n")]),
		);
		expect(fs.statSync(path.join(dir, "f")).mode & 0o777).toBe(0o751);
		put("g", "1\n2\n3\n");
		expect(
			await tools.patch({
				path: "g",
				edits: [
					{ old_string: "1", new_string: "one" },
					{ old_string: "nothing like it", new_string: "x" },
				],
			}),
		).toMatchObject({ status: "error", error: expect.stringContaining("edit 2:") });
		expect(get("g")).toBe("1\n2\n3\n");
		put("mixed", "a\nb\r\nc\nd\r\n");
		ok(await tools.patch({ path: "mixed", old_string: "c", new_string: "C" }));
		expect(get("mixed")).toBe("a\nb\r\nC\nd\r\n");
	});

	it("patch: a diff of several files, new and deleted ones too, whole or not at all", async () => {
		const { dir, put, get, tools } = await setup();
		put("src/a.txt", Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join(""));
		put("gone.txt", "bye\n");
		const diff = `diff --git a/src/a.txt b/src/a.txt
--- a/src/a.txt
+++ b/src/a.txt
@@ -1,3 +1,3 @@
 line 1
-line 2
+LINE 2
 line 3
@@ -18,3 +18,4 @@ near here
 line 20
+line 20b
 line 21
 line 22
--- /dev/null
+++ b/made/new.txt
@@ -0,0 +1,2 @@
+hello
+there
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
`;
		const result = ok(await tools.patch({ diff }));
		expect(get("src/a.txt").split("\n").slice(0, 3)).toEqual(["line 1", "LINE 2", "line 3"]);
		expect(get("src/a.txt")).toContain("line 20\nline 20b\nline 21\n");
		expect(get("made/new.txt")).toBe("hello\nthere\n");
		expect(fs.existsSync(path.join(dir, "gone.txt"))).toBe(false);
		expect(result.files?.map(({ change }) => change)).toEqual(["changed", "created", "deleted"]);
		expect(result.note).toContain("found at line 20");
		const before = get("src/a.txt");
		const bad = `--- a/made/new.txt\n+++ b/made/new.txt\n@@ -1,2 +1,2 @@\n hello\n-there\n+you\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n line 1\n-line two\n+x\n`;
		expect(await tools.patch({ diff: bad })).toMatchObject({ status: "error", error: expect.stringContaining("hunk 1 (line 1) does not fit") });
		expect([get("src/a.txt"), get("made/new.txt")]).toEqual([before, "hello\nthere\n"]);
		expect(await tools.patch({ diff: "nothing" })).toMatchObject({ status: "error", error: expect.stringContaining("no hunk") });
	});

	it("patch: two at the same time both count, and a change by another program is not lost", async () => {
		const { put, get, tools } = await setup();
		put("f", "a\nb\nc\n");
		await Promise.all(["a", "b", "c"].map(async (letter) => ok(await tools.patch({ path: "f", old_string: letter, new_string: letter.toUpperCase() }))));
		expect(get("f")).toBe("A\nB\nC\n");
	});

	searching("search_files: contents with context, by type and glob, counted, without binaries and hidden files", async () => {
		const { dir, put, tools } = await setup();
		put("src/a.ts", "one\nneedle 1\nthree\nneedle 2\n");
		put("src/with space's.py", "needle\n");
		put(".hidden/x", "needle\n");
		put("bin", Buffer.from("needle\0\n"));
		const all = ok(await tools.search({ pattern: "needle", context: 1 }));
		expect(all).toMatchObject({ matches: 3, files: 2, omitted: 0 });
		expect(all.output).toBe(
			[path.join(dir, "src/a.ts"), "  1- one", "  2: needle 1", "  3- three", "  4: needle 2", path.join(dir, "src/with space's.py"), "  1: needle"].join("\n"),
		);
		expect(ok(await tools.search({ pattern: "needle", type: "py" }))).toMatchObject({ matches: 1, files: 1 });
		expect(ok(await tools.search({ pattern: "needle", glob: "*.{ts,js}" }))).toMatchObject({ matches: 2 });
		expect(ok(await tools.search({ pattern: "needle", glob: "src/**/*.py" }))).toMatchObject({ matches: 1 });
		expect(ok(await tools.search({ pattern: "needle", limit: 1 }))).toMatchObject({ matches: 3, omitted: 2, note: expect.stringContaining("2 more matches") });
		expect(ok(await tools.search({ pattern: "NEEDLE \\d", ignore_case: true }))).toMatchObject({ matches: 2 });
		expect(ok(await tools.search({ pattern: "needle 1", path: "src/a.ts" }))).toMatchObject({ matches: 1, files: 1 });
		expect(ok(await tools.search({ pattern: "needle", hidden: true }))).toMatchObject({ matches: 4 });
		expect(ok(await tools.search({ pattern: "nowhere" }))).toMatchObject({ matches: 0, output: "" });
		expect(await tools.search({ pattern: "(" })).toMatchObject({ status: "error", error: expect.stringContaining("fixed=true") });
		expect(await tools.search({ pattern: "x", type: "klingon" })).toMatchObject({ status: "error" });
	});

	searching("search_files: names by glob, the newest first", async () => {
		const { dir, put, tools } = await setup();
		for (const [at, name] of ["old.ts", "a/mid.ts", "a/b/new.ts", "a/other.js", ".x/hidden.ts"].entries())
			fs.utimesSync(put(name, ""), 1_000_000_000 + at * 100, 1_000_000_000 + at * 100);
		const names = async (args: object) =>
			ok(await tools.search({ target: "names", ...args }))
				.output.split("\n")
				.map((name) => path.relative(dir, name));
		expect(await names({ pattern: "*.ts" })).toEqual(["a/b/new.ts", "a/mid.ts", "old.ts"]);
		expect(await names({ pattern: "a/**/*.ts" })).toEqual(["a/b/new.ts", "a/mid.ts"]);
		expect(await names({ pattern: "a/*" })).toEqual(["a/other.js", "a/mid.ts"]);
		expect(await names({ pattern: "*.{js,none}" })).toEqual(["a/other.js"]);
		expect(ok(await tools.search({ target: "names", pattern: "*", limit: 1 }))).toMatchObject({ files: 4, omitted: 3 });
	});

	test.runIf(end.includes("without"))("search_files: where nothing can search, that is said", async () => {
		const { tools } = await setup();
		expect(await tools.search({ pattern: "x" })).toMatchObject({ status: "error", error: expect.stringContaining("no ripgrep") });
	});

	searching("search_files: no shell looks at a pattern, and secrets are masked", async () => {
		const { dir, put, tools } = await setup();
		put("f", `$(touch pwned) \`x\` "q" 'q' ; -rf\ntoken = ${SECRET}\n`);
		for (const pattern of ["$(touch pwned)", "`x`", "'q'", '"q"', "; -rf", "-rf"])
			expect(ok(await tools.search({ pattern, fixed: true }))).toMatchObject({ matches: 1 });
		for (const pattern of ["$(touch pwned)", "-rf", "*'*", "--help"]) ok(await tools.search({ target: "names", pattern }));
		expect(fs.readdirSync(dir)).toEqual(["f"]);
		const found = ok(await tools.search({ pattern: "token" }));
		expect(found.output).toContain("token");
		expect(found.output).not.toContain(SECRET);
	});
});
