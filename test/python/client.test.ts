/** The Python client in clients/python, by its own tests: they start a server and talk to it. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../support/home.js";

const noPython = spawnSync("python3", ["-c", "import sys, unittest, http.client; sys.exit(sys.version_info < (3, 9))"]).status !== 0;

test.skipIf(noPython)("python3 -m unittest passes against a real server", async () => {
	const cwd = path.join(import.meta.dirname, "../../clients/python");
	const env = { ...process.env, TMPDIR: tempDir("python"), PYTHONDONTWRITEBYTECODE: "1" };
	const child = spawn("python3", ["-m", "unittest", "-v"], { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
	let printed = "";
	child.stderr.on("data", (piece) => {
		printed += piece;
	});
	const [code] = await once(child, "close");
	expect(code, printed).toBe(0);
	expect(printed).toMatch(/Ran \d\d tests/);
});
