/** Calls with an id: found again, whatever happened to their caller. test/crash/calls.test.ts kills the caller. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { auditFile } from "../../src/audit/audit.js";
import { identityOf } from "../../src/base/files.js";
import { openRuntime, type Runtime } from "../../src/index.js";
import { CallRecord, pruneCalls, readCall } from "../../src/process/call-record.js";
import { atEnd, endAll, tempDir, until } from "../support/home.js";

async function library(home = tempDir("home")): Promise<Runtime> {
	const runtime = await openRuntime({ warm: 0, home });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime;
}

test("a call is never, running, ended; its result is kept until it is settled", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const other = await library(runtime.home.root); // another runtime on the same home sees the same
	expect(await other.calls.find("t", "a")).toEqual({ state: "never" });
	const stop = new AbortController();
	const running = task.terminal({ command: "echo out; sleep 300" }, { id: "a", keep: true, signal: stop.signal });
	await until("it runs", () => task.processes({ ended: false }).length === 1);
	const session_id = task.processes()[0]?.id;
	expect(runtime.get(session_id as string).spec).toMatchObject({ call: "a" });
	expect(await other.calls.find("t", "a")).toEqual({ state: "running", tool: "terminal", session_id });
	await expect(runtime.calls.settle("t", "a")).rejects.toMatchObject({ code: "CONFLICT" });
	stop.abort();
	const result = await running;
	expect(result).toMatchObject({ status: "interrupted", session_id, exit_code: 130 });
	expect(await other.calls.find("t", "a")).toEqual({ state: "ended", tool: "terminal", session_id, status: "interrupted", exit_code: 130, result });
	expect(await task.process({ action: "log", session_id: session_id as string })).toMatchObject({ output: "out\n" });
	await runtime.calls.settle("a");
	await runtime.calls.settle("t", "a");
	expect(await other.calls.find("t", "a")).toEqual({ state: "ended", tool: "terminal", session_id, status: "interrupted", exit_code: 130, settled: true });
	expect(await task.process({ action: "log", session_id: session_id as string })).toMatchObject({ status: "not_found" });
	const audit = () => fs.readFileSync(auditFile(agentOf(runtime).home, "t"), "utf8");
	expect(audit()).toMatch(/"event":"run".*"call":"a"/);
	await until("its end is in the audit", () => /"event":"ended".*"call":"a"/.test(audit()));
});

test("without keep the end is known, and nothing else is kept", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	expect(await task.terminal({ command: "echo x; exit 3" }, { id: "a" })).not.toHaveProperty("session_id");
	expect(await task.findCall("a")).toEqual({ state: "ended", tool: "terminal", status: "exited", exit_code: 3 });
	await until("its log is removed", () => task.processes().length === 0);
	expect(await task.terminal({ command: "true" }, { id: "b", keep: true })).toMatchObject({ exit_code: 0, session_id: expect.any(String) });
	expect(await task.findCall("b")).toMatchObject({ state: "ended", exit_code: 0, result: { status: "exited" } });
	await task.settleCall("b");
	expect(task.processes()).toEqual([]);
});

test("every tool is found: what is running by its process, files by their answer, and what was refused as well", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const file = path.join(tempDir(), "f");
	const { session_id } = await task.terminal({ command: "sleep 300", background: true }, { id: "bg", keep: true });
	expect(await task.findCall("bg")).toMatchObject({ state: "running", tool: "terminal", session_id, result: { status: "running", session_id } });
	await task.process({ action: "kill", session_id: session_id as string }, { id: "kill" });
	expect(await task.findCall("kill")).toMatchObject({ state: "ended", tool: "process", status: "killed" });
	expect(await task.findCall("bg")).toMatchObject({ state: "ended", status: "killed", session_id });
	await task.process({ action: "poll", session_id: session_id as string }, { id: "poll" });
	expect(await task.findCall("poll")).toMatchObject({ state: "ended", tool: "process", status: "killed" });
	const written = await task.writeFile({ path: file, content: "a\n" }, { id: "write", keep: true });
	expect(await task.findCall("write")).toEqual({ state: "ended", tool: "write_file", status: "ok", result: written });
	await task.patch({ path: file, old_string: "a", new_string: "b" }, { id: "patch" });
	expect(await task.findCall("patch")).toEqual({ state: "ended", tool: "patch", status: "ok" });
	await task.readFile({ path: `${file}x` }, { id: "read" });
	expect(await task.findCall("read")).toEqual({ state: "ended", tool: "read_file", status: "not_found" });
	await task.terminal({ command: "" }, { id: "wrong" });
	expect(await task.findCall("wrong")).toMatchObject({ state: "ended", status: "error" });
	await task.call("nothing", {}, { id: "nothing" });
	expect(await task.findCall("nothing")).toMatchObject({ state: "ended", status: "error" });
});

test("an id is used once in a task: the second call does nothing, and the first one's record stays", async () => {
	const runtime = await library();
	const file = path.join(tempDir(), "f");
	const [task, other] = [runtime.task("t"), runtime.task("u")];
	const command = `echo x >> ${file}`;
	const both = await Promise.all([task.terminal({ command }, { id: "a" }), task.terminal({ command }, { id: "a" })]);
	expect(both.map(({ status }) => status).sort()).toEqual(["error", "exited"]);
	expect(await task.writeFile({ path: file, content: "" }, { id: "a" })).toMatchObject({
		status: "error",
		error: expect.stringMatching(/nothing was done: the id "a" was used before in this task, by a call that has ended/),
	});
	expect(fs.readFileSync(file, "utf8")).toBe("x\n");
	expect(await other.terminal({ command }, { id: "a" })).toMatchObject({ exit_code: 0 });
	await expect(runtime.calls.settle("a")).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("2 tasks") });
	await runtime.calls.settle("u", "a");
	expect(await other.terminal({ command }, { id: "a" })).toMatchObject({ status: "error" });
});

test("bad ids and keep without one are refused by name", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	for (const id of ["", "x".repeat(201), "a\nb", 5, null, {}])
		expect(await task.terminal({ command: "true" }, { id: id as string })).toMatchObject({ status: "error", error: expect.stringContaining("id is") });
	expect(await task.terminal({ command: "true" }, { keep: true })).toMatchObject({ status: "error", error: expect.stringContaining("keep: true needs an id") });
	expect(await task.terminal({ command: "true" }, { id: "a", keep: "yes" as never })).toMatchObject({
		status: "error",
		error: expect.stringContaining("keep is"),
	});
	await expect(runtime.calls.find("t", "")).rejects.toMatchObject({ code: "INVALID" });
	for (const name of ["", "a\0b", 5]) await expect(runtime.calls.find(name as string, "a")).rejects.toMatchObject({ code: "INVALID" });
	await expect(runtime.calls.settle("t", "nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
	await expect(runtime.calls.settle("nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
	expect(task.processes({ shells: true })).toEqual([]);
});

test("files that are copied, made and removed by a call are known by their identity, and nothing is left beside them", async () => {
	const runtime = await library();
	const dir = tempDir();
	const task = runtime.task("t", { cwd: dir });
	const at = (name: string) => path.join(dir, name);
	fs.mkdirSync(at("folder"));
	for (const name of ["one", "folder/a"]) fs.writeFileSync(at(name), "x\n");
	for (const [id, call] of [
		["up", () => task.upload({ source: "one", target: "up" }, { id: "up" })],
		["down", () => task.download({ source: "one", target: "down" }, { id: "down" })],
		["new", () => task.upload({ source: "folder", target: "new" }, { id: "new" })],
	] as const) {
		expect(await call()).toMatchObject({ status: "ok" });
		expect(readCall(agentOf(runtime).home, "t", id)?.effect).toMatchObject({ files: [{ target: at(id), identity: identityOf(at(id)) }] });
	}
	await task.upload({ source: "folder/.", target: "new" }, { id: "merged" });
	expect(readCall(agentOf(runtime).home, "t", "merged")?.effect).toEqual({ act: "upload" });
	const identity = identityOf(at("one"));
	expect(await task.patch({ diff: "--- one\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" }, { id: "gone" })).toMatchObject({ status: "ok" });
	expect(readCall(agentOf(runtime).home, "t", "gone")?.effect).toMatchObject({ files: [{ target: at("one"), identity, removes: true }] });
	await until("what was put aside is gone", () => fs.readdirSync(dir).every((name) => !name.startsWith(".")));
	expect(fs.readdirSync(dir).sort()).toEqual(["down", "folder", "new", "up"]);
	// Without a file that was copied nothing is put in place, and the audit has no line of it.
	expect(await task.upload({ source: "nothing", target: "x" }, { id: "none" })).toMatchObject({ status: "not_found" });
	expect(readCall(agentOf(runtime).home, "t", "none")).not.toHaveProperty("effect");
});

test("a call whose caller died at a file: never while it is not in place, ended once it is, unknown when nothing is left to know it by", async () => {
	const runtime = await library();
	const { home } = agentOf(runtime);
	for (const removes of [false, true]) {
		const dir = tempDir();
		const [temp, target] = [path.join(dir, "temp"), path.join(dir, "target")];
		const [from, to] = removes ? [target, temp] : [temp, target];
		fs.writeFileSync(from, "x");
		const id = `removes ${removes}`;
		const record = CallRecord.begin(home, { id, task: "t", tool: "patch", keep: false }, undefined) as CallRecord;
		record.effect({ files: [{ temp, target, identity: identityOf(from) as string, ...(removes ? { removes } : {}) }] });
		expect(await runtime.calls.find("t", id)).toEqual({ state: "running", tool: "patch" });
		record.close(); // as if its program had died
		expect(await runtime.calls.find("t", id)).toEqual({ state: "never" });
		fs.renameSync(from, to);
		expect(await runtime.calls.find("t", id)).toEqual({ state: "ended", tool: "patch", status: "ok" });
		fs.rmSync(to);
		expect(await runtime.calls.find("t", id)).toMatchObject({ state: "unknown", reason: expect.stringContaining("look at the file") });
	}
});

test("when records of old calls are removed, a call without one may have been", async () => {
	const runtime = await library();
	const { home } = agentOf(runtime);
	const task = runtime.task("t");
	await task.terminal({ command: "true" }, { id: "a" });
	await task.terminal({ command: "true" }, { id: "kept", keep: true });
	pruneCalls(home, 7 * 24 * 3_600_000, Date.now() + 8 * 24 * 3_600_000);
	expect(await task.findCall("a")).toMatchObject({ state: "unknown", reason: expect.stringContaining("old calls") });
	expect(await task.findCall("kept")).toMatchObject({ state: "ended", result: { exit_code: 0 } });
	expect(await runtime.calls.find("u", "a")).toEqual({ state: "never" });
});

test("a process that was removed is not taken for one that never ran", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const { session_id } = await task.terminal({ command: "cat", background: true }, { id: "a" });
	const cat = runtime.get(session_id as string);
	await cat.closeStdin();
	await cat.wait();
	expect(await task.findCall("a")).toMatchObject({ state: "ended", status: "exited", exit_code: 0 });
	agentOf(runtime).prune({ olderThanMs: -1 });
	expect(await task.findCall("a")).toMatchObject({ state: "unknown", reason: expect.stringContaining("removed") });
});
