/** What forks and exits all the time is gone before a signal to its number arrives; its group is not. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { findTools } from "../../src/keeper/tools.js";
import { testShell } from "../shell/harness.js";
import { atEnd, tempDir, testRuntime, until } from "../support/home.js";
import type { Process } from "../support/internal.js";
import { chain } from "../support/scripts.js";

const NOBODY = 65534;
const SECONDS = [0.002, 0.02, 0.1];

/** A FIFO that each generation holds open for writing, and who finds out whether anything still does. */
function witness(): { fifo: string; holders: () => "some" | "none" } {
	const fifo = path.join(tempDir("chain"), "fifo");
	execFileSync("mkfifo", [fifo]);
	const fd = fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
	atEnd(() => fs.closeSync(fd));
	const holders = () => {
		try {
			return fs.readSync(fd, Buffer.alloc(1)) === 0 ? "none" : "some";
		} catch {
			return "some"; // EAGAIN: nothing to read yet
		}
	};
	return { fifo, holders };
}

test.each([
	["control groups", { cgroup: "auto" as const }],
	["a subreaper", { cgroup: "off" as const }],
	["a walk", { cgroup: "off" as const, tools: { ...findTools(), subreaper: undefined } }],
])("a chain of forks is ended by a kill with %s", async (_name, options) => {
	const runtime = await testRuntime(options);
	for (const seconds of SECONDS) {
		const { fifo, holders } = witness();
		const process = await runtime.spawn({ command: chain({ fifo, seconds }) });
		await process.wait({ until: { pattern: "ready" }, timeout: 100_000 });
		await until("the chain is there", () => holders() === "some");
		expect(await process.kill({ graceMs: 500 })).toMatchObject({ status: "killed", survivors: [] });
		expect([seconds, holders()]).toEqual([seconds, "none"]);
	}
});

test("a chain that ignores TERM, and one in a session of its own, are ended too, and in the shell of a task", async () => {
	const runtime = await testRuntime({ cgroup: "off" });
	for (const every of [`$SIG{TERM} = "IGNORE"`, "syscall(112) unless $own++"]) {
		const { fifo, holders } = witness();
		const process: Process = await runtime.spawn({ command: chain({ fifo, seconds: 0.02, every }) });
		await process.wait({ until: { pattern: "ready" }, timeout: 100_000 });
		expect(await process.kill({ graceMs: 200 })).toMatchObject({ status: "killed", survivors: [] });
		expect([every, holders()]).toEqual([every, "none"]);
	}
	const shell = await testShell(runtime);
	const { fifo, holders } = witness();
	expect(await shell.run(chain({ fifo, seconds: 0.02 }), { timeoutMs: 1_000 })).toMatchObject({ end: "timeout" });
	expect(holders()).toBe("none");
});

test.skipIf(process.getuid?.() !== 0)(
	"an ordinary user without control groups ends it, and is told what cannot be known of an ended one (needs root to become one)",
	() => {
		const work = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-user-"));
		atEnd(() => fs.rmSync(work, { recursive: true, force: true }));
		const [fifo, home] = ["fifo", "home"].map((name) => path.join(work, name)) as [string, string];
		execFileSync("mkfifo", ["-m", "666", fifo]);
		fs.mkdirSync(home);
		for (const file of [work, home]) fs.chownSync(file, NOBODY, NOBODY);
		const fd = fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
		atEnd(() => fs.closeSync(fd));
		const script = `const { openRuntime } = await import(${JSON.stringify(path.resolve("dist/lib/index.js"))});
		const runtime = await openRuntime({ home: ${JSON.stringify(path.join(home, "h"))}, warm: 0 });
		const process = await runtime.spawn({ command: ${JSON.stringify(chain({ fifo, seconds: 0.02 }))} });
		await process.wait({ until: { pattern: "ready" }, timeout: 100_000 });
		const { status, method, survivors } = await process.kill();
		const ended = await runtime.spawn({ command: "exit 0" });
		await ended.wait({ timeout: 100_000 });
		const { status: second, note } = await runtime.process({ action: "kill", session_id: ended.id });
		await runtime.close();
		console.log(JSON.stringify({ status, method, survivors, second, note }));`;
		const as = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", process.execPath, "--input-type=module", "-e", script];
		const found = JSON.parse(
			execFileSync("setpriv", as, { cwd: "/", env: { PATH: process.env.PATH, HOME: home, TEST_ROOT: process.env.TEST_ROOT }, encoding: "utf8" }),
		);
		expect(found).toMatchObject({
			status: "killed",
			method: "subreaper",
			survivors: [],
			second: "already_exited",
			note: expect.stringContaining("cannot be found"),
		});
		expect(fs.readSync(fd, Buffer.alloc(1))).toBe(0); // no writer is left
	},
);
