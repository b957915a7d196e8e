/** A program that has no file descriptor left for a moment, as under `ulimit -n`. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { tempDir } from "../support/home.js";

const SCRIPT = `
import fs from "node:fs";
import { openRuntime } from ${JSON.stringify(path.resolve("dist/lib/index.js"))};
const [home, dir] = process.argv.slice(1);
const runtime = await openRuntime({ home, task: "t", warm: 0 });
const calls = {
	terminal: { command: "echo hello" },
	pty: { command: "echo hello", pty: true },
	writeFile: { path: dir + "/new", content: "x" },
	readFile: { path: dir + "/f" },
	patch: { path: dir + "/f", old_string: "a", new_string: "a" + "b" },
	searchFiles: { pattern: "a", path: dir },
	upload: { source: dir + "/f", target: dir + "/up" },
	download: { source: dir + "/f", target: dir + "/down" },
};
fs.writeFileSync(dir + "/f", "a\\n");
const all = async () => {
	const seen = {};
	for (const [name, args] of Object.entries(calls)) seen[name] = await runtime[name === "pty" ? "terminal" : name](args).then(({ status }) => status, (error) => "threw " + error.message);
	return seen;
};
const taken = [];
try { for (;;) taken.push(fs.openSync("/dev/null")); } catch { /* EMFILE: none is left, which is what this wants */ }
const without = await all();
for (const fd of taken) fs.closeSync(fd);
const again = await all();
await runtime.endTask("t");
await runtime.close();
process.stdout.write(JSON.stringify({ without, again }));
`;

test("a moment without descriptors is an error in words for each tool, and the next call works", async () => {
	const [home, dir] = [tempDir("home"), tempDir()];
	const { stdout } = await promisify(execFile)("sh", [
		"-c",
		'ulimit -n 256 && exec "$0" "$@"',
		process.execPath,
		"--input-type=module",
		"-e",
		SCRIPT,
		home,
		dir,
	]);
	const names = ["terminal", "pty", "writeFile", "readFile", "patch", "searchFiles", "upload", "download"];
	const each = (status: (name: string) => string) => Object.fromEntries(names.map((name) => [name, status(name)]));
	expect(JSON.parse(stdout)).toEqual({
		without: each(() => "error"),
		again: each((name) => (name === "terminal" || name === "pty" ? "exited" : "ok")),
	});
});
