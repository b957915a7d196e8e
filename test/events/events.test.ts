/** Events of a home and of a task: live, after an absence, in another program, and with bad input. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { eventSource } from "../../src/events/index.js";
import { type HoldfastEvent, openRuntime, type Runtime } from "../../src/index.js";
import { atEnd, endAll, tempDir, until } from "../support/home.js";

async function library(home = tempDir("home")): Promise<Runtime> {
	const runtime = await openRuntime({ warm: 0, home });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime;
}

/** Everything that comes, from when it listens. */
class Heard {
	readonly got: HoldfastEvent[] = [];
	readonly ended: Promise<void>;
	readonly #stop = new AbortController();

	constructor(events: (signal: AbortSignal) => AsyncIterable<HoldfastEvent>) {
		this.ended = this.#listen(events(this.#stop.signal));
		atEnd(() => this.stop());
	}

	async #listen(events: AsyncIterable<HoldfastEvent>): Promise<void> {
		for await (const event of events) this.got.push(event);
	}

	async has<T extends HoldfastEvent["type"]>(type: T, holds: (event: Extract<HoldfastEvent, { type: T }>) => boolean = () => true) {
		const find = () => this.got.find((event): event is Extract<HoldfastEvent, { type: T }> => event.type === type && holds(event as never));
		await until(`${type} among ${JSON.stringify(this.got.map((event) => event.type))}`, () => find() !== undefined);
		return find() as Extract<HoldfastEvent, { type: T }>;
	}

	types(id: string): string[] {
		return this.got.flatMap((event) => ("session_id" in event && event.session_id === id && event.type !== "process.printed" ? [event.type] : []));
	}

	async stop(): Promise<void> {
		this.#stop.abort();
		await this.ended;
	}
}

const listen = async (runtime: Runtime, options: Parameters<Runtime["events"]>[0] = {}): Promise<Heard> => {
	const heard = new Heard((signal) => runtime.events({ signal, ...options }));
	await heard.has("listening");
	return heard;
};

test("a process starts, prints, waits and ends: an event each, in order, and nothing is watched afterwards", async () => {
	const runtime = await library();
	const heard = await listen(runtime);
	const { id, spec } = await runtime.spawn({ command: "echo hello; read -r x; exit 3", task: "a", terminal: true });
	expect(await heard.has("process.started")).toMatchObject({ task: "a", session_id: id, command: spec.command, place: "local", pty: true, foreground: false });
	expect(await heard.has("process.waits")).toMatchObject({ session_id: id, waiting_for: "line", byte_offset: 7 });
	await runtime.get(id).write("x\n");
	expect(await heard.has("process.ended")).toMatchObject({ session_id: id, status: "exited", exit_code: 3, signal: null });
	expect(heard.types(id)).toEqual(["process.started", "process.waits", "process.ended"]);
	expect([7, 10]).toContain((await heard.has("process.printed")).byte_offset); // with what was typed, if that came before it was told
	expect(new Set(heard.got.map((event) => event.id)).size).toBe(heard.got.length);
	await heard.stop();
	expect(eventSource(agentOf(runtime)).processes).toEqual([]);
});

test("a consumer that resumes after its last id gets what it missed: from memory exactly, in another program from disk", async () => {
	const home = tempDir("home");
	const runtime = await library(home);
	const stays = await listen(runtime); // so that what happens is kept
	const first = await listen(runtime, { task: "a" });
	const one = await runtime.spawn({ command: "true", task: "a" });
	const last = await first.has("process.ended");
	await first.stop();
	const two = await runtime.spawn({ command: "exit 2", task: "a" });
	await runtime.spawn({ command: "true", task: "b" });
	await stays.has("process.ended", ({ session_id }) => session_id === two.id);
	const back = await listen(runtime, { task: "a", after: last.id });
	expect(back.got.map(({ type }) => type).filter((type) => type !== "process.printed")).toEqual(["process.started", "process.ended", "listening"]);
	expect(back.types(two.id)).toEqual(["process.started", "process.ended"]);
	await back.stop();

	const elsewhere = await listen(await library(home), { task: "a", after: last.id });
	expect(elsewhere.types(two.id)).toEqual(["process.started", "process.ended"]);
	expect(elsewhere.got.every((event) => !("task" in event) || event.task === "a")).toBe(true);
	const three = await runtime.spawn({ command: "exit 4", task: "a" }); // and goes on with what happens now
	expect(await elsewhere.has("process.ended", ({ session_id }) => session_id === three.id)).toMatchObject({ exit_code: 4 });
	expect(elsewhere.types(three.id)).toEqual(["process.started", "process.ended"]);
	expect(elsewhere.types(one.id).filter((type) => type === "process.ended").length).toBeLessThanOrEqual(1);
});

test("questions, answers and notices are events, live and after an absence", async () => {
	const home = tempDir("home");
	const runtime = await library(home);
	const heard = await listen(runtime);
	const begin = await heard.has("listening");
	const { approval_id } = await runtime.terminal({ command: "git push --force origin main" }, { task: "a" });
	expect(await heard.has("approval.asked")).toMatchObject({ task: "a", approval_id, command: "git push --force origin main", place: "local" });
	await runtime.approvals.answer(approval_id as string, { answer: "no", by: "test" });
	expect(await heard.has("approval.answered")).toMatchObject({ approval_id, answer: "no", by: "test" });
	const { session_id } = await runtime.terminal({ command: "read x", background: true, notify_on_complete: true }, { task: "a" });
	await runtime.get(session_id as string).write("\n");
	expect((await heard.has("notice")).notice).toMatchObject({ kind: "completed", session_id });
	await heard.stop();
	const back = await listen(await library(home), { after: begin.id });
	expect(back.got.map(({ type }) => type).filter((type) => /^approval|notice/.test(type))).toEqual(["approval.asked", "approval.answered", "notice"]);
	expect(runtime.notices.waiting("a")).toHaveLength(1); // it was shown, not taken
});

test("a consumer that does not read costs nothing, and is told later what it missed", async () => {
	const runtime = await library();
	const events = runtime.events();
	expect((await events.next()).value).toMatchObject({ type: "listening" });
	const job = await runtime.spawn({ command: "for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done; read x", stdin: true });
	const watcher = await listen(runtime);
	await until("it has printed all", () => job.read(0).next === 12);
	await watcher.has("process.printed", ({ byte_offset }) => byte_offset === 12);
	await job.kill();
	await watcher.has("process.ended");
	const got: HoldfastEvent[] = [];
	for await (const event of events) {
		got.push(event);
		if (event.type === "process.ended") break;
	}
	expect(got.map(({ type }) => type)).toEqual(["process.started", "process.printed", "process.ended"]); // of what it printed, the last word
	expect(got[1]).toMatchObject({ byte_offset: 12 });
});

test("what was pruned meanwhile is a gap, said", async () => {
	const runtime = await library();
	const heard = await listen(runtime);
	const begin = await heard.has("listening");
	await (await runtime.spawn({ command: "true" })).wait();
	await heard.has("process.ended");
	await heard.stop();
	runtime.prune({ olderThanMs: 0 });
	const back = await listen(runtime, { after: begin.id });
	expect(back.got.map(({ type }) => type)).toEqual(["gap", "listening"]);
	expect(await back.has("gap")).toMatchObject({ text: expect.stringMatching(/^processes that ended before .* have been removed$/) });
});

test("a task's own events end with the task, after the last of them", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const heard = new Heard((signal) => task.events({ signal }));
	await heard.has("listening");
	const { id } = await task.spawn({ command: "sleep 300" });
	await runtime.spawn({ command: "true", task: "other" });
	await heard.has("process.started");
	await task.end();
	await heard.ended;
	expect(heard.types(id)).toEqual(["process.started", "process.ended"]);
	expect(heard.got.some((event) => "task" in event && event.task === "other")).toBe(false);
	expect(() => task.events()).toThrow(expect.objectContaining({ code: "ENDED" }));
	const closed = runtime.task("u");
	const silent = new Heard((signal) => closed.events({ signal }));
	await silent.has("listening");
	await closed.close();
	await silent.ended;
});

test("a runtime that is closed ends its streams, and refuses new ones", async () => {
	const runtime = await openRuntime({ warm: 0, home: tempDir("home") });
	const heard = await listen(runtime);
	await runtime.close();
	await heard.ended;
	expect(() => runtime.events()).toThrow(expect.objectContaining({ code: "ABORTED" }));
});

test("bad options are refused when it is called: wrong types, unknown keys, what is no id, and an id of another home", async () => {
	const runtime = await library();
	const other = await library();
	const { id } = await (await listen(other)).has("listening");
	for (const bad of [{ task: 7 }, { task: "" }, { after: 7 }, { after: null }, { signal: {} }, { since: id }, null, 7, "a"])
		expect(() => runtime.events(bad as never), JSON.stringify(bad)).toThrow(/^events: /);
	for (const bad of ["", "x", "00000000-7", `${id}-1`, "a".repeat(10_000)]) expect(() => runtime.events({ after: bad })).toThrow("is not the id of an event");
	expect(() => runtime.events({ after: id })).toThrow("is the id of an event of another home");
	expect(() => runtime.task("t").events({ task: "u" } as never)).toThrow("leave task out");
	expect(() => runtime.task("t").events(7 as never)).toThrow(/^events: /);
	const future = await listen(other, { after: id.replace(/-[0-9a-z]+-[0-9a-z]+-[0-9a-z]+$/, "-zzzzzzzzz-disk-0") });
	expect(await future.has("gap")).toMatchObject({ text: "the clock of this machine was set back" });
	const aborted = new AbortController();
	aborted.abort();
	for await (const event of runtime.events({ signal: aborted.signal })) expect(event).toBe("nothing");
	expect(fs.existsSync(path.join(runtime.home.root, "pruned"))).toBe(false);
});
