/** What the library shows of a home besides its tasks: doctor, sandboxes, the audit, recordings. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { asciicast, openRuntime, type Runtime, readAudit } from "../../src/index.js";
import { atEnd, endAll, tempDir } from "../support/home.js";
import { noSandbox } from "../support/sandbox.js";

async function library(): Promise<Runtime> {
	const runtime = await openRuntime({ warm: 0, home: tempDir("home") });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime;
}

const SECRET = `AKIA${"GHIJKLMNOPQRSTUV"}`;

test("doctor says what this machine can do and what was left, and clean moves that aside", async () => {
	const runtime = await library();
	const id = "proc_0123456789ab";
	const dir = path.join(runtime.home.root, "procs", "0", id);
	fs.mkdirSync(dir, { recursive: true });
	const { checks, orphans, cleaned } = await runtime.doctor();
	expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(["home", "keeper", "kill", "limits", "sandbox"]));
	expect(orphans).toMatchObject([{ kind: "directory", path: expect.stringContaining(id) }]);
	expect(cleaned).toEqual([]);
	expect(await runtime.doctor({ clean: true })).toMatchObject({ cleaned: [expect.stringContaining(`removed`)] });
	expect((await runtime.doctor()).orphans).toEqual([]);
	await expect(runtime.doctor({ fix: true } as object)).rejects.toMatchObject({
		code: "INVALID",
		message: 'runtime.doctor: there is no key "fix"; there are signal, clean',
	});
});

test.skipIf(noSandbox)("sandboxes are listed and can be stopped, with all that runs in them", async () => {
	const runtime = await library();
	const task = runtime.task("t", { place: "local+sandbox", cwd: tempDir("work"), dispose: "end" });
	await task.terminal({ command: "sleep 300 & echo begun" });
	const own = async () => (await runtime.sandboxes()).sandboxes.filter(({ home }) => home === runtime.home.root);
	const [one] = await own();
	expect(one).toMatchObject({ kind: "bubblewrap", task: "t", state: "running", orphan: false });
	await expect(runtime.stopSandbox("zzzz")).rejects.toMatchObject({ code: "NOT_FOUND" });
	await expect(runtime.stopSandbox("")).rejects.toMatchObject({ code: "INVALID" });
	expect(await runtime.stopSandbox(one?.id as string)).toContain("has ended, with all that ran in it");
	expect(await own()).toEqual([]);
	await task.end();
});

test("the audit is read by task and time, with ends that no program has written down", async () => {
	const runtime = await library();
	await runtime.task("a").terminal({ command: `echo ${SECRET}` });
	await runtime.task("b").terminal({ command: "exit 3" });
	const all = readAudit(runtime);
	expect(all.filter(({ event }) => event === "run").map(({ task }) => task)).toEqual(["a", "b"]);
	expect(JSON.stringify(all)).not.toContain(SECRET);
	expect(readAudit(runtime, { task: "b" })).toMatchObject([
		{ event: "run", command: "exit 3" },
		{ event: "ended", exit_code: 3 },
	]);
	expect(readAudit(runtime, { since: new Date(Date.now() + 60_000) })).toEqual([]);
	expect(() => readAudit(runtime, { since: "1h" } as never)).toThrow(/^readAudit: since is "1h", but must be/);
	expect(() => readAudit({} as Runtime)).toThrow("openRuntime() of this copy of holdfast");
});

test("a recording is masked unless it is not to be, and only terminals have one", async () => {
	const runtime = await library();
	const one = await runtime.spawn({ command: `printf 'key ${SECRET}\\n'`, terminal: { cols: 60, rows: 10 } });
	await one.wait();
	const text = async (options?: { mask?: boolean }) => {
		let all = "";
		for await (const line of asciicast(one, options)) all += line;
		return all;
	};
	expect(JSON.parse((await text()).split("\n")[0] as string)).toMatchObject({ version: 2, width: 60, height: 10 });
	expect(await text()).not.toContain(SECRET);
	expect(await text({ mask: false })).toContain(SECRET);
	const plain = await runtime.spawn({ command: "true" });
	await expect(asciicast(plain).next()).rejects.toMatchObject({ code: "NO_TERMINAL" });
	await expect(asciicast({ ...one } as never).next()).rejects.toMatchObject({ code: "INVALID" });
});
