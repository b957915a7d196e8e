/** One home in two pid namespaces, as with a container that has it mounted: neither takes the other's programs for dead. */
import { execFile, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Lease } from "../../src/base/lease.js";
import { isProgramGone } from "../../src/base/presence.js";
import { hostIdentity } from "../../src/base/proc.js";
import { here } from "../../src/base/who.js";
import { fixture } from "../fixtures/programs.js";
import { tempDir, testRuntime, until } from "../support/home.js";

const UNSHARE = ["--pid", "--fork", "--mount-proc", "--kill-child"];
const noNamespace = spawnSync("unshare", [...UNSHARE, "true"]).status !== 0;

const { NODE_OPTIONS: _, ...env } = process.env;
const visitor = (...words: string[]) => [...UNSHARE, process.execPath, fixture("visitor.mjs"), ...words];
const answers = (stdout: string): unknown[] =>
	stdout
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));

/** What a program of another pid namespace says that uses the same home. Meanwhile this one does nothing. */
function visit(home: string, task: string, ...commands: string[]): unknown[] {
	const { stdout, status, stderr } = spawnSync("unshare", visitor(home, task, ...commands), { env, encoding: "utf8", timeout: 60_000 });
	expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
	return answers(stdout);
}

test.skipIf(noNamespace)("a runtime that comes and goes in another pid namespace leaves prepared keepers and the shell at work alone", async () => {
	const runtime = await testRuntime({ warm: 2 });
	const claims = () => fs.readdirSync(runtime.home.blank).filter((name) => name.includes("."));
	await runtime.terminal({ command: "cd /; A=1" });
	const running = runtime.terminal({ command: "sleep 300", timeout: 600 }, { task: "busy" });
	await until("it is at work", () => runtime.list({ task: "busy", ended: false }).length === 1);
	await until("two keepers are warm", () => claims().length >= 2);
	const before = claims();
	const said = visit(runtime.home.root, "busy", "echo $((6 * 7))");
	expect(claims()).toEqual(expect.arrayContaining(before));
	expect(said).toMatchObject([{ output: "42\n", exit_code: 0, note: expect.stringContaining("another command of this task is running") }]);
	expect(await runtime.terminal({ command: "echo $A; pwd" })).toMatchObject({ output: "1\n/\n", exit_code: 0, error: null });
	await runtime.endTask("busy");
	await running;
});

test.skipIf(noNamespace)("a lease that its holder renews is not free for a program of another pid namespace", async () => {
	const home = tempDir("home");
	const file = path.join(tempDir("lease"), "lease");
	const lease = Lease.take(file);
	const { stdout } = await promisify(execFile)("unshare", visitor(home, "any", `lease ${file}`), { env, timeout: 60_000 });
	expect(answers(stdout)).toEqual([{ free: false }]);
	expect(lease?.held()).toBe(true);
	lease?.release();
});

test.skipIf(noNamespace)("a task that moves to another pid namespace gets a new shell there with its state", async () => {
	const runtime = await testRuntime();
	await runtime.terminal({ command: "cd /usr; export B=2" }, { task: "moves" });
	expect(visit(runtime.home.root, "moves", "echo $B; pwd")).toMatchObject([{ output: "2\n/usr\n", exit_code: 0 }]);
});

test("a program that cannot be looked at is gone when it was silent for long, or its machine was restarted; never by its pid", () => {
	const root = tempDir("home");
	const claim = path.join(root, "claim");
	const sign = path.join(root, "alive", "0badf00d.4194305.1");
	fs.mkdirSync(path.dirname(sign));
	fs.writeFileSync(claim, "");
	const gone = (who: string, silentMs?: number) => isProgramGone({ root }, who, claim, silentMs);
	expect(gone(`${here()}.4194305.1`)).toBe(true);
	expect(gone("0badf00d.4194305.1")).toBe(false); // its claim is new
	expect(gone("0badf00d.4194305.1", -1)).toBe(true);
	fs.writeFileSync(sign, JSON.stringify({ host: "another", boot: "b", pidns: "p" }));
	expect(gone("0badf00d.4194305.1")).toBe(false);
	fs.writeFileSync(sign, JSON.stringify({ host: hostIdentity().host, boot: "an earlier one", pidns: "p" }));
	expect(gone("0badf00d.4194305.1")).toBe(true);
});
