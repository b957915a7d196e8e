/** The tools for files through a runtime: the shell's directory, the rules, the audit, copies, and the sandbox. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readAudit } from "../../../src/audit/index.js";
import { atEnd, tempDir } from "../../support/home.js";
import { agent, ok } from "./support.js";

describe("through a runtime", () => {
	test("paths start where the task's shell is, and ~ is its home", async () => {
		const runtime = await agent();
		const dir = tempDir();
		await runtime.terminal({ command: `mkdir -p ${dir}/sub && cd ${dir}/sub && export HOME=${dir}` });
		ok(await runtime.writeFile({ path: "f", content: "x\n" }));
		expect(fs.readFileSync(path.join(dir, "sub", "f"), "utf8")).toBe("x\n");
		expect(ok(await runtime.readFile({ path: "~/sub/f" })).output).toBe("     1\tx");
		const none = await runtime.readFile({ path: "~/sub/g" });
		expect(none).toMatchObject({ status: "not_found", error: expect.stringContaining(`there is no ${dir}/sub/g`) });
		ok(await runtime.writeFile({ path: "configuration.json", content: "{}" }));
		expect(await runtime.readFile({ path: "configuratoin.json" })).toMatchObject({
			status: "not_found",
			similar: [path.join(dir, "sub", "configuration.json")],
		});
		expect(await runtime.readFile({ path: "../nodir/x" })).toMatchObject({ status: "not_found", error: expect.stringContaining('has no directory "nodir"') });
		expect(none).not.toHaveProperty("exit_code");
	});

	test("bad input is said in words, and nothing is done", async () => {
		const runtime = await agent();
		expect(await runtime.readFile({ path: "" })).toMatchObject({ status: "error", error: expect.stringContaining("path is empty") });
		expect(await runtime.readFile({ path: "x\0y" })).toMatchObject({ status: "error", error: expect.stringContaining("NUL") });
		expect(await runtime.readFile({ file: "x" })).toMatchObject({
			status: "error",
			error: expect.stringContaining('path is missing (there is no parameter "file"; perhaps path)'),
		});
		expect(await runtime.upload({ source: "x", destination: "y" })).toMatchObject({
			status: "error",
			error: expect.stringContaining('target is missing (there is no parameter "destination"; perhaps target)'),
		});
		expect(await runtime.readFile({ path: "x", limit: 0 })).toMatchObject({ status: "error" });
		expect(await runtime.patch({ path: "x" })).toMatchObject({ status: "error", error: expect.stringContaining("say what to change") });
		expect(await runtime.patch({ path: "x", old_string: "a" })).toMatchObject({ status: "error", error: expect.stringContaining("new_string is missing") });
		expect(await runtime.patch({ path: "x", old_string: "a", new_string: "b", diff: "c" })).toMatchObject({
			status: "error",
			error: expect.stringContaining("not several"),
		});
		expect(await runtime.writeFile({ path: "x", content: 5 })).toMatchObject({ status: "error", error: expect.stringContaining("content must be a string") });
	});

	test("the floor refuses, keys are asked about, and each change is in the audit", async () => {
		const runtime = await agent();
		const dir = tempDir();
		for (const name of [".ssh", ".holdfast"]) fs.mkdirSync(path.join(dir, name));
		await runtime.terminal({ command: `cd ${dir}` });
		for (const file of [path.join(runtime.home.root, "approvals", "x"), path.join(dir, ".holdfast", "policy.json")]) {
			expect(await runtime.writeFile({ path: file, content: "{}" })).toMatchObject({ status: "blocked", outcome: "refused_by_rule", rule: "floor-policy" });
			expect(await runtime.patch({ diff: `--- /dev/null\n+++ ${file}\n@@ -0,0 +1 @@\n+{}\n` })).toMatchObject({ status: "blocked", rule: "floor-policy" });
			expect(fs.existsSync(file)).toBe(false);
		}
		fs.writeFileSync(path.join(dir, ".ssh", "id_rsa"), "key\n");
		const asked = await runtime.readFile({ path: ".ssh/id_rsa" });
		expect(asked).toMatchObject({
			status: "pending_approval",
			rule: "credentials",
			note: expect.stringContaining("call read_file again with exactly the same arguments"),
		});
		await runtime.approvals.answer(asked.approval_id as string, { answer: "once", by: "test" });
		expect(ok(await runtime.readFile({ path: ".ssh/id_rsa" })).output).toContain("key");
		expect(await runtime.upload({ source: ".ssh/id_rsa", target: "copy" })).toMatchObject({ status: "pending_approval" });
		ok(await runtime.writeFile({ path: "plain file", content: "four" }));
		ok(await runtime.patch({ path: "plain file", old_string: "four", new_string: "fives" }));
		const events = readAudit(runtime.home, { task: runtime.task }, () => null).filter(({ event }) => event === "file");
		expect(events.map(({ tool, command, bytes, by }) => ({ tool, command, bytes, by }))).toEqual([
			{ tool: "write_file", command: `cat > '${dir}/plain file'`, bytes: 4, by: "library" },
			{ tool: "patch", command: `cat > '${dir}/plain file'`, bytes: 5, by: "library" },
		]);
	});

	test("upload and download over a file outside the project pass as write_file does; a tree with keys in it is asked about", async () => {
		const runtime = await agent();
		const dir = tempDir();
		const outside = fs.mkdtempSync(path.join(process.cwd(), "node_modules/.gate-")); // not temporary, as far as rules are concerned
		atEnd(() => fs.rmSync(outside, { recursive: true }));
		await runtime.terminal({ command: `cd ${dir}` });
		fs.writeFileSync(path.join(dir, "new"), "new\n");
		for (const name of ["written", "up", "down", "folder/new"]) {
			fs.mkdirSync(path.dirname(path.join(outside, name)), { recursive: true });
			fs.writeFileSync(path.join(outside, name), "old\n");
		}
		ok(await runtime.writeFile({ path: path.join(outside, "written"), content: "new\n" }));
		ok(await runtime.upload({ source: "new", target: path.join(outside, "up") }));
		ok(await runtime.download({ source: "new", target: path.join(outside, "down") }));
		ok(await runtime.upload({ source: "new", target: path.join(outside, "folder") }));
		for (const name of ["written", "up", "down", "folder/new"]) expect(fs.readFileSync(path.join(outside, name), "utf8")).toBe("new\n");
		const events = readAudit(runtime.home, { task: runtime.task }, () => null).filter(({ event }) => event === "file");
		expect(events.at(-1)).toMatchObject({ tool: "upload", command: `cat '${dir}/new' | cat > '${outside}/folder/new'` });
		expect(await runtime.upload({ source: "new", target: "/etc/holdfast-gate-test" })).toMatchObject({ status: "pending_approval", rule: "system-files" });
		expect(await runtime.upload({ source: "~", target: "copy" })).toMatchObject({ status: "pending_approval", rule: "credentials" });
	});

	test("through a dangling link nothing is written that a rule guards, and what none guards goes where the link leads", async () => {
		const runtime = await agent();
		const dir = fs.realpathSync(tempDir());
		fs.mkdirSync(path.join(dir, "sub/a"), { recursive: true });
		await runtime.terminal({ command: `cd ${dir}` });
		const guarded = path.join(runtime.home.root, "approvals", "planted");
		fs.symlinkSync(guarded, path.join(dir, "notes.md"));
		fs.symlinkSync("notes.md", path.join(dir, "chain.md"));
		for (const name of ["notes.md", "chain.md"])
			for (const result of [
				await runtime.writeFile({ path: name, content: "{}" }),
				await runtime.patch({ diff: `--- /dev/null\n+++ ${name}\n@@ -0,0 +1 @@\n+{}\n` }),
				await runtime.terminal({ command: `printf '{}' > ${name}` }),
				await runtime.upload({ source: "/etc/hostname", target: name }),
				await runtime.download({ source: "/etc/hostname", target: name }),
			])
				expect(result).toMatchObject({ status: "blocked", rule: "floor-policy" });
		expect(fs.existsSync(guarded)).toBe(false);
		fs.symlinkSync("sub/a", path.join(dir, "deep"));
		fs.symlinkSync("deep/../new", path.join(dir, "link")); // `deep/..` is sub
		expect(ok(await runtime.writeFile({ path: "link", content: "x" })).path).toBe(path.join(dir, "sub/new"));
		expect(fs.readFileSync(path.join(dir, "sub/new"), "utf8")).toBe("x");
	});

	test("a name that is not UTF-8 is said to be one, by search_files and by read_file", async () => {
		const runtime = await agent();
		const dir = fs.realpathSync(tempDir());
		await runtime.terminal({ command: `cd ${dir}` });
		fs.writeFileSync(Buffer.concat([Buffer.from(`${dir}/bad`), Buffer.from([0xff]), Buffer.from(".txt")]), "needle\n");
		const why = /its name is not UTF-8 .* `cat \.\/bad\*\.txt`/;
		expect(ok(await runtime.searchFiles({ pattern: "needle" }))).toMatchObject({ matches: 1, output: expect.stringMatching(why) });
		expect(ok(await runtime.searchFiles({ pattern: "*.txt", target: "names" }))).toMatchObject({ files: 1, note: expect.stringMatching(why) });
		const read = await runtime.readFile({ path: "bad\ufffd.txt" });
		expect(read).toMatchObject({ status: "not_found", error: expect.stringMatching(why) });
		expect(read.error).not.toContain("Perhaps");
		expect((await runtime.readFile({ path: "bad.txt" })).similar).toBeUndefined();
		expect((await runtime.terminal({ command: "cat ./bad*.txt" })).output).toBe("needle\n");
	});

	test("upload and download on this machine are copies, byte for byte", async () => {
		const runtime = await agent();
		const dir = tempDir();
		await runtime.terminal({ command: `cd ${dir}` });
		fs.mkdirSync(path.join(dir, "a"));
		const bytes = Buffer.from([0, 255, 13, 10, ...Buffer.from("ghp_0123456789abcdefghijklmnopqrstuvwxyz")]);
		fs.writeFileSync(path.join(dir, "a", "x"), bytes);
		expect(ok(await runtime.upload({ source: "a", target: "b" }))).toMatchObject({
			kind: "directory",
			files: 1,
			bytes: bytes.length,
			path: path.join(dir, "b"),
		});
		expect(ok(await runtime.download({ source: "b/x", target: "c" }))).toMatchObject({ kind: "file", created: true, path: path.join(dir, "c") });
		expect(fs.readFileSync(path.join(dir, "c")).equals(bytes)).toBe(true);
		expect(await runtime.download({ source: "nothing", target: "d" })).toMatchObject({ status: "not_found" });
	});

	test.skipIf(process.getuid?.() !== 0)("what the user may not do is said, and leaves everything as it was", async () => {
		const dir = tempDir();
		fs.chmodSync(dir, 0o755);
		fs.writeFileSync(path.join(dir, "theirs"), "theirs\n", { mode: 0o600 });
		const { execFileSync } = await import("node:child_process");
		const script = `
			import { localFiles } from ${JSON.stringify(path.resolve("dist/places/files/index.js"))};
			const files = localFiles();
			const tries = [() => files.read("${dir}/theirs", 0, 10), () => files.write("${dir}/theirs", Buffer.from("x")), () => files.write("${dir}/new", Buffer.from("x")), () => files.remove("${dir}/theirs")];
			for (const act of tries) console.log(await act().then(() => "done", (error) => error.code));`;
		const output = execFileSync("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, "--input-type=module", "-e", script], {
			encoding: "utf8",
			cwd: "/",
		});
		expect(output.trim().split("\n")).toEqual(["FORBIDDEN", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"]);
		expect(fs.readdirSync(dir)).toEqual(["theirs"]);
	});
});

const hasRipgrep = (process.env.PATH ?? "").split(":").some((dir) => fs.existsSync(path.join(dir, "rg")));

test.skipIf(!hasRipgrep)("ripgrep's rules hold: what is ignored or hidden is left out, also when a glob would fit it", async () => {
	const runtime = await agent();
	const dir = tempDir();
	await runtime.terminal({ command: `cd ${dir}` });
	fs.mkdirSync(path.join(dir, ".git"));
	for (const [name, content] of Object.entries({
		".gitignore": "ignored.ts\nout/\n",
		"ignored.ts": "needle",
		"out/x.ts": "needle",
		".hidden.ts": "needle",
		"seen.ts": "needle",
	})) {
		fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
		fs.writeFileSync(path.join(dir, name), content);
	}
	expect(ok(await runtime.searchFiles({ pattern: "needle", glob: "*.ts" }))).toMatchObject({
		engine: "ripgrep",
		matches: 1,
		output: `${dir}/seen.ts\n  1: needle`,
	});
	expect(ok(await runtime.searchFiles({ pattern: "*.ts", target: "names" })).output).toBe(`${dir}/seen.ts`);
	expect(ok(await runtime.searchFiles({ pattern: "needle", hidden: true }))).toMatchObject({ matches: 4 });
	expect(ok(await runtime.searchFiles({ pattern: "needle", path: "ignored.ts" }))).toMatchObject({ matches: 1 });
});
