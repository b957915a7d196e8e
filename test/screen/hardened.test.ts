/** Boxes where the kernel says less: system calls that may not be looked at, and programs of another user. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { untilWaiting, waitingFor } from "../../src/screen/index.js";
import { atEnd, testRuntime } from "../support/home.js";
import { missing, onTerminal, which } from "./programs.js";

/** A processor whose call numbers are not known: then system calls say as little as where tracing is forbidden. */
function withoutSyscalls(): void {
	const known = Object.getOwnPropertyDescriptor(process, "arch") as PropertyDescriptor;
	Object.defineProperty(process, "arch", { ...known, value: "pdp11" });
	atEnd(() => Object.defineProperty(process, "arch", known));
}

describe("where system calls cannot be seen", () => {
	test.each([
		["read -r x", "line", /kernel function \w+ on the terminal/],
		["read -r -s x", "password", /does not echo/],
		["bash --norc -i", "keys", /has the terminal open/],
	])("%s: %s by what the kernel sleeps in", async (command, kind, evidence) => {
		const kept = await onTerminal(await testRuntime(), command);
		withoutSyscalls();
		expect(await untilWaiting(kept, { timeout: 100_000 })).toMatchObject({
			...{ matched: "input", waiting_for: kind, waiting_evidence: expect.stringMatching(evidence) },
		});
	});

	test.each(["echo up; sleep 30", "echo up; while :; do :; done", "echo up; sleep 20 | cat"])("%s does not wait", async (command) => {
		const kept = await onTerminal(await testRuntime(), command);
		await kept.wait({ until: { pattern: "up" }, timeout: 100_000 });
		withoutSyscalls();
		for (let look = 0; look < 50; look++) expect(await waitingFor(kept, { idleMs: 0 })).toEqual({ waiting: false });
	});

	test.skipIf(!which("node"))(`a server does not wait${missing("node")}`, async () => {
		const kept = await onTerminal(await testRuntime(), `node -e 'require("net").createServer().listen(0, "127.0.0.1", () => console.log("up"))'`);
		await kept.wait({ until: { pattern: "up" }, timeout: 100_000 });
		withoutSyscalls();
		for (let look = 0; look < 50; look++) expect(await waitingFor(kept, { idleMs: 0 })).toEqual({ waiting: false });
	});

	test.skipIf(!which("python3"))(`where only silence suggests that it waits, that is said${missing("python3")}`, async () => {
		const select = 'import os, select; print("up", flush=True); select.select([os.pipe()[0]], [], [])';
		const kept = await onTerminal(await testRuntime(), `python3 -c '${select}'`);
		await kept.wait({ until: { pattern: "up" }, timeout: 100_000 });
		expect(await untilWaiting(kept, { timeout: 400, idleMs: 0 })).toMatchObject({ matched: null }); // it is told by the system call
		withoutSyscalls();
		expect(await waitingFor(kept, { idleMs: 60_000 })).toEqual({ waiting: false });
		expect(await untilWaiting(kept, { timeout: 100_000, idleMs: 300 })).toMatchObject({
			...{ matched: "input", waiting_for: "idle", waiting_evidence: expect.stringMatching(/^nothing printed for 0.3 s; python3 .*may be for something else/) },
		});
	});
});

const NOBODY = 65_534;
const dist = path.resolve("dist");
const why = [
	process.getuid?.() === 0 ? "" : " (skipped: only root can become another user)",
	missing("su"),
	fs.existsSync(path.join(dist, "screen/index.js")) ? "" : " (skipped: not built)",
].join("");

/** Run as nobody: `su` is root's, so all that is to be seen of it is that it sleeps, and that the terminal does not echo. */
const ASKED_BY_SU = `
	const { openRuntime } = await import(${JSON.stringify(path.join(dist, "index.js"))});
	const { untilWaiting } = await import(${JSON.stringify(path.join(dist, "screen/index.js"))});
	const runtime = await openRuntime({ home: process.env.HOME, warm: 0, cgroup: "off" });
	const kept = await runtime.spawn({ command: "su root -c true", terminal: true, cwd: "/" });
	const result = await untilWaiting(kept, { timeout: 100_000 });
	await kept.write("\\x03");
	await kept.wait({ timeout: 100_000 });
	await runtime.close();
	console.log(JSON.stringify(result));`;

test.skipIf(why !== "")(`a password prompt of another user's program is told by the terminal's modes${why}`, () => {
	const home = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-nobody-")); // the tests' own directory is for root alone
	atEnd(() => fs.rmSync(home, { recursive: true, force: true }));
	fs.chownSync(home, NOBODY, NOBODY);
	const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", ASKED_BY_SU], {
		...{ uid: NOBODY, gid: NOBODY, cwd: "/", encoding: "utf8", timeout: 60_000 },
		env: { PATH: process.env.PATH, HOME: home, TEST_ROOT: process.env.TEST_ROOT },
	});
	expect(stderr).toBe("");
	expect(JSON.parse(stdout)).toMatchObject({
		...{ matched: "input", waiting_for: "password", waiting_evidence: expect.stringMatching(/^su .* asleep, and the kernel does not say.*does not echo/) },
	});
});
