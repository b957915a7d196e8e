/** The transcript of a task: all that it ran, with its output, also after the program that ran it has gone. */
import fs from "node:fs";
import { expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { openRuntime, type Runtime, type Task, type TranscriptCommand } from "../../src/index.js";
import { atEnd, endAll, tempDir } from "../support/home.js";

async function library(home = tempDir("home")): Promise<Runtime> {
	const runtime = await openRuntime({ warm: 0, home });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime;
}

async function all(commands: AsyncIterable<TranscriptCommand>): Promise<TranscriptCommand[]> {
	const found: TranscriptCommand[] = [];
	for await (const command of commands) found.push(command);
	return found;
}

const outputs = (found: readonly TranscriptCommand[]) => found.map(({ command, bytes, read }) => [command, read(0, bytes).bytes.toString()]);

/** One of each kind that leaves something different on disk. */
async function work(task: Task): Promise<string> {
	await task.terminal({ command: "echo one" }, { id: "first" });
	await task.terminal({ command: "cd /tmp; echo two; (exit 3)" }, { id: "second", keep: true });
	await task.terminal({ command: "true" });
	await task.terminal({ command: "echo four | cat" });
	await task.terminal({ command: "echo on a terminal", pty: true }, { id: "pty" });
	const { session_id } = await task.terminal({ command: "echo six; exec sleep 300", background: true }, { id: "background" });
	await task.process({ action: "wait", session_id: session_id as string, until: { pattern: "six" } });
	return session_id as string;
}

test("a task's commands and processes, in order, with call, code, place and output; the same in another program, and after the first has gone", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const session = await work(task);
	await runtime.terminal({ command: "echo of another task" }, { task: "other" });
	const found = await all(task.transcript());
	const known = found.map(({ call, status, exit_code, place, pty }) => ({ call, status, exit_code, place, pty }));
	const local = { place: "local", pty: false };
	expect(known).toEqual([
		{ call: "first", status: "exited", exit_code: 0, ...local },
		{ call: "second", status: "exited", exit_code: 3, ...local },
		{ status: "exited", exit_code: 0, ...local },
		{ status: "exited", exit_code: 0, ...local },
		{ call: "pty", status: "exited", exit_code: 0, place: "local", pty: true },
		{ call: "background", status: "running", exit_code: null, ...local },
	]);
	expect(outputs(found)).toEqual([
		["echo one", "one\n"],
		["cd /tmp; echo two; (exit 3)", "two\n"],
		["true", ""],
		["echo four | cat", "four\n"],
		["echo on a terminal", "on a terminal\r\n"],
		["echo six; exec sleep 300", "six\n"],
	]);
	expect(found.map(({ started_at }) => started_at)).toEqual(found.map(({ started_at }) => started_at).toSorted());
	expect(found.every(({ ended_at, status, task: of }) => of === "t" && (ended_at === null) === (status === "running"))).toBe(true);
	expect(found.at(-1)?.id).toBe(session);

	const plain = (list: readonly TranscriptCommand[]) => list.map(({ read: _, ...rest }) => rest);
	const other = await library(runtime.home.root);
	expect(plain(await all(other.transcript("t")))).toEqual(plain(found));
	await runtime.close();
	const third = await library(runtime.home.root);
	const later = await all(third.transcript("t"));
	expect(plain(later)).toEqual(plain(found));
	expect(outputs(later)).toEqual(outputs(found));
	const since = new Date((found[4] as TranscriptCommand).started_at);
	expect(plain(await all(third.transcript("t", { since })))).toEqual(plain(found.slice(4)));
	expect(await all(third.transcript("nobody"))).toEqual([]);
	// A command of a slot that serves others is found by its id, with its own call.
	expect(third.get((found[0] as TranscriptCommand).id).spec).toMatchObject({ command: "echo one", call: "first" });
	await third.endTask("t");
	expect((await all(third.transcript("t"))).map(({ status }) => status)).not.toContain("running");
});

test("secrets in commands are masked; what was cut by a full disk or cannot be read is left out", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	await task.terminal({ command: "export TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz; echo shown" });
	await task.terminal({ command: "echo last" });
	const [masked] = await all(task.transcript());
	expect(masked?.command).toMatch(/^export TOKEN=.*\[redacted\]; echo shown$/);
	const { registry } = agentOf(runtime);
	const id = registry.directories().find((one) => registry.servedFor("t", one).length === 2) as string;
	const dir = `${runtime.home.root}/procs/${id.charAt(5)}/${id}`;
	fs.appendFileSync(`${dir}/ranges`, '{"id":"proc_00');
	expect(await all(task.transcript())).toHaveLength(2);
	fs.writeFileSync(`${dir}/spec.json`, "no spec");
	expect(await all(task.transcript())).toEqual([]);
});

test("bad options are refused at once, and an abort ends it", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	for (const [options, words] of [
		[{ since: "yesterday" }, /since is "yesterday", but must be/],
		[{ signal: 1 }, /signal is 1, but must be an AbortSignal/],
		[{ from: 1 }, /there is no key "from"; there are since, signal/],
		[7, /./],
	] as const) {
		expect(() => task.transcript(options as never)).toThrow(words);
		expect(() => runtime.transcript("t", options as never)).toThrow(words);
	}
	for (const name of ["", undefined, 7]) expect(() => runtime.transcript(name as string)).toThrow(/runtime.transcript: the name of a task/);
	await task.terminal({ command: "echo x" });
	await expect(all(task.transcript({ signal: AbortSignal.abort() }))).rejects.toThrow();
});
