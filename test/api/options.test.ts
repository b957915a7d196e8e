/** Options that cannot be used: each is refused in words that name it, before anything runs. */
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { agentOf } from "../../src/api/index.js";
import { untilWaiting, waitingFor } from "../../src/api/screen.js";
import { FakeClock, recordTask, runtimeDouble, taskDouble, testRuntime } from "../../src/api/testing.js";
import { createServer, httpDoor, serveStdio } from "../../src/doors/mcp/library.js";
import { HoldfastError, openRuntime, type Runtime, renderResult, toolsWith } from "../../src/index.js";
import { atEnd, endAll, tempDir } from "../support/home.js";

async function library(): Promise<Runtime> {
	const runtime = await openRuntime({ warm: 0, home: tempDir("home"), task: "t" });
	atEnd(() => endAll(agentOf(runtime)));
	return runtime;
}

const refusal = (error: RegExp) => expect.objectContaining({ status: "error", error: expect.stringMatching(error) });

const circle: Record<string, unknown> = { kind: "docker" };
circle.image = circle;

test.each<[string, object, RegExp]>([
	["an unknown key", { users: "root" }, /there is no key "users"; there are task, id, keep, place, user/],
	["id", { id: 7 }, /id is 7, but/],
	["keep", { id: "a", keep: 1 }, /keep is 1, but must be/],
	["keep without an id", { keep: true }, /keep: true needs an id/],
	["place", { place: 7 }, /place is 7, but must be/],
	["place: an object without a kind", { place: { image: "x" } }, /place is .*, but must be|an object without a kind/],
	["place: a kind that is no text", { place: { kind: 5, image: "x" } }, /an object whose kind is no text/],
	["place: a circle", { place: circle }, /what JSON can hold, and these are not: Converting circular structure/],
	["place: a key of another kind", { place: { kind: "ssh", host: "h", image: "x" } }, /ssh: there is no key "image", which is a key of docker/],
	[
		"place: two settings that exclude each other",
		{ place: { kind: "docker", image: "x", container: "y" } },
		/"container" names a container that is there already, so "image" cannot/,
	],
	["yield", { yield: true }, /yield is true, but must be an AbortSignal/],
	["signal", { signal: {} }, /signal is .*, but must be an AbortSignal/],
	["within", { within: "1 s" }, /within is "1 s", but must be/],
	["progress", { progress: 1 }, /progress is 1, but must be a function/],
	["gone", { gone: true }, /gone is true, but must be a function/],
	["door", { door: 1 }, /door is 1, but must be/],
	["approver", { approver: {} }, /approver is .*, but must be a function/],
	["asksLater", { asksLater: "yes" }, /asksLater is "yes", but must be/],
	["user: a number", { user: 0 }, /user is 0, but takes "host", a name or an id/],
	["user: nothing", { user: "" }, /user is "", but takes "host", a name or an id/],
	["user: null", { user: null }, /user is null, but takes "host"/],
	["user: words of a shell", { user: "root; id" }, /user is "root; id", but takes/],
	["user on this machine", { user: "root" }, /user: "root" cannot be chosen for commands on local: .*use a container/],
	["user over ssh", { user: "root", place: "ssh://nobody@nowhere.invalid" }, /user: "root" cannot be chosen for commands on ssh:\/\/nobody@nowhere\.invalid/],
	["user in a sandbox", { user: "root", place: "local+sandbox" }, /user: "root" cannot be chosen for commands on local\+sandbox/],
])("an option of a call, %s: refused, and nothing ran", async (_, options, words) => {
	const runtime = await library();
	const file = path.join(tempDir(), "ran");
	expect(await runtime.terminal({ command: `touch ${file}` }, options)).toEqual(refusal(words));
	expect(await runtime.writeFile({ path: file, content: "" }, options)).toEqual(refusal(words));
	expect(fs.existsSync(file)).toBe(false);
	expect(runtime.list({ task: null, shells: true })).toEqual([]);
});

test("user of a task: as of a call; and not of tools that start nothing", async () => {
	const runtime = await library();
	for (const user of ["", 7, null]) expect(() => runtime.task("u", { user: user as string })).toThrow(/runtime.task: user is .*, but takes "host"/);
	expect(() => runtime.task("u", { user: "root" })).toThrow(/user: "root" cannot be chosen for commands on local/);
	expect(() => runtime.task("u", { user: "root", place: "ssh://nowhere.invalid" })).toThrow(/cannot be chosen for commands on ssh/);
	expect(await runtime.process({ action: "list" }, { user: "root" })).toEqual(refusal(/process takes no user/));
	expect(runtime.task("u").name).toBe("u"); // what was refused has not opened it
});

test.each([undefined, "", 7, "a\0b"])("a task that is ended or left by a name that cannot be one is refused: %j", async (name) => {
	const runtime = await library();
	await expect(runtime.endTask(name as string)).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("runtime.endTask: the name") });
	await expect(runtime.leaveTask(name as string)).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("runtime.leaveTask: the name") });
});

test("a task that is ended twice by its name: the second finds nothing, and says so", async () => {
	const runtime = await library();
	await runtime.terminal({ command: "true" }, { task: "twice" });
	expect(await runtime.endTask("twice")).toMatchObject({ gone: true, shells: 1 });
	expect(await runtime.endTask("twice")).toEqual({ task: "twice", gone: true, processes: [], shells: 0, sandboxes: [], notes: [] });
});

test("links: where the page is reached, and what cannot be that", async () => {
	const runtime = await library();
	const { id: session_id } = await runtime.spawn({ command: "sleep 300", terminal: true });
	for (const origin of ["https://tunnel.example", "https://tunnel.example/", "http://h:1/terminals/"]) {
		const { url, hash } = runtime.links.create({ session_id, origin });
		expect(url).toBe(`${origin.replace(/\/$/, "")}/${hash}`);
	}
	expect(runtime.links.create({ session_id })).toMatchObject({ url: null, hash: expect.stringMatching(/^#view=/) });
	const count = runtime.links.list().length;
	for (const origin of ["", "tunnel.example", "ftp://x", "https://x/#a", "https://x/?a", "https://", 7, null])
		expect(() => runtime.links.create({ session_id, origin: origin as string })).toThrow(/a link: origin is .*, but must be an address/);
	expect(() => runtime.links.create({ session_id, host: "x" } as never)).toThrow(/there is no key "host"/);
	expect(runtime.links.list()).toHaveLength(count);
});

test("the keyboard of a process: one person at a time, agents only look, and the task is told when it is theirs again", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const { id: session_id } = await task.spawn({ command: "cat", stdin: true });
	expect(runtime.keyboards.holder(session_id)).toBeUndefined();
	const taken = runtime.keyboards.take(session_id, { who: "Ada" });
	expect(runtime.keyboards.take(session_id, { who: "Bob" })).toBeUndefined();
	expect([taken?.renew(), runtime.keyboards.holder(session_id)]).toEqual([true, { who: "Ada", since: expect.any(Date) }]);
	expect((await task.process({ action: "kill", session_id })).error).toContain("Ada has taken the keyboard");
	taken?.release();
	expect([taken?.renew(), runtime.keyboards.holder(session_id)]).toEqual([false, undefined]);
	expect((await runtime.notices.take("t")).map(({ text }) => text)).toEqual([expect.stringContaining("is yours again: Ada had it")]);
	expect((await task.process({ action: "kill", session_id })).status).toBe("killed");
});

const given = (value: unknown) => value as never; // stands for what a caller without types may give
const first = async (all: AsyncIterable<unknown>) => {
	for await (const one of all) return one;
};

test("options and arguments that cannot be used: each is refused with INVALID, in words that name it", async () => {
	const runtime = await library();
	const task = runtime.task("t");
	const process = await runtime.spawn({ command: "cat" });
	const cases: [string, () => unknown, RegExp][] = [
		["openRuntime: null", () => openRuntime(given(null)), /^openRuntime: it is null, but must be an object/],
		["openRuntime: a list", () => openRuntime(given([])), /^openRuntime: it is \[\], but must be an object/],
		["openRuntime: an unknown key", () => openRuntime(given({ tools: {} })), /^openRuntime: there is no key "tools"; there are home, .*\blimits\b/],
		["openRuntime: sandbox", () => openRuntime(given({ sandbox: "yes" })), /^openRuntime: sandbox is "yes", but must be an object/],
		["a name of a variable of a task", () => runtime.task("e", { env: { "A=B": "1" } }), /^runtime.task: env has the name "A=B", but/],
		["an empty name of a variable", () => runtime.task("e", { env: { "": "1" } }), /^runtime.task: env has the name "", but/],
		["a name of a variable of a process", () => runtime.spawn({ command: "true", env: { "A=B": "1" } }), /^spawn: env has the name "A=B", but/],
		["list: an unknown key", () => runtime.list(given({ x: 1 })), /^runtime.list: there is no key "x"; there are task, ended, shells/],
		["list: a task", () => runtime.list(given({ task: 7 })), /^runtime.list: task is 7, but must be a string/],
		["list: null", () => runtime.list(given(null)), /^runtime.list: it is null/],
		["processes: a task", () => task.processes(given({ task: "u" })), /^task.processes: there is no key "task"; there are ended, shells/],
		["task.spawn: null", () => task.spawn(given(null)), /^spawn: command is missing/],
		["sync", () => runtime.sync(given({ ms: "1" })), /^runtime.sync: ms is "1", but must be a number/],
		["prune", () => runtime.prune(given({ keepMs: 1 })), /^runtime.prune: there is no key "keepMs"; there are olderThanMs/],
		["pruneSandboxes", () => runtime.pruneSandboxes(given({ allHome: true })), /^runtime.pruneSandboxes: there is no key "allHome"; there are allHomes/],
		["pruneSandboxes: a type", () => runtime.pruneSandboxes(given({ allHomes: "yes" })), /^runtime.pruneSandboxes: allHomes is "yes"/],
		["waitingFor", () => waitingFor(process, given({ timeout: 1 })), /^waitingFor: there is no key "timeout"; there are idleMs/],
		["untilWaiting", () => untilWaiting(process, given({ idleMs: "1" })), /^untilWaiting: idleMs is "1", but must be a number/],
		["untilWaiting: no process", () => untilWaiting(given({})), /^this takes a process that a runtime of this copy of holdfast has returned/],
		["task.notices", () => first(task.notices(given({ task: "u" }))), /^task.notices: there is no key "task"; there are signal, leave/],
		["notices.take", () => runtime.notices.take(given(undefined)), /^notices.take: the name of a task/],
		["notices.waiting", () => runtime.notices.waiting(given(7)), /^notices.waiting: the name of a task/],
		["notices.putBack", () => runtime.notices.putBack(given([{}])), /^notices.putBack: \[0\]\.id is missing/],
		["approvals.list", () => runtime.approvals.list(given({ task: 7 })), /^approvals.list: task is 7/],
		["approvals.stream", () => first(runtime.approvals.stream(given({ x: 1 }))), /^approvals.stream: there is no key "x"; there are task, signal/],
		["approvals.answer: nothing", () => runtime.approvals.answer("appr_1234", given(undefined)), /^approvals.answer: it is missing, but must be an object/],
		["approvals.answer: an unknown key", () => runtime.approvals.answer("appr_1234", given({ answer: "once", who: "me" })), /no key "who"/],
		["approvals.answer: by", () => runtime.approvals.answer("appr_1234", given({ answer: "once", by: 7 })), /^approvals.answer: by is 7/],
		["approvals.revoke", () => runtime.approvals.revoke("t", given({ who: "me" })), /^approvals.revoke: there is no key "who"; there are by/],
		["keyboards.take", () => runtime.keyboards.take(process.id, given({ name: "me" })), /^keyboards.take: who is missing/],
		["calls.settle", () => runtime.calls.settle("t", given(null)), /^calls.settle: the id/],
		["wait: an unknown key", () => process.wait(given({ pattern: "x" })), /^wait: there is no key "pattern"; there are until, timeout/],
		["wait: a signal", () => process.wait(given({ signal: true })), /^wait: signal is true, but must be an AbortSignal/],
		["follow", () => first(process.follow(given({ offset: 1 }))), /^follow: there is no key "offset"; there are from, signal/],
		["read", () => process.read(given(undefined)), /an offset must be a whole number/],
		["write: nothing", () => process.write(given(undefined)), /^write: it takes a string or bytes, not undefined/],
		["write: a number", () => process.write(given(7)), /^write: it takes a string or bytes, not 7/],
		["kill: an unknown key", () => process.kill(given({ grace: 1 })), /^kill: there is no key "grace"; there are graceMs/],
		["kill: a time", () => process.kill({ graceMs: -1 }), /^kill: graceMs is -1, but must be at least 0/],
		["discard", () => process.discard(given("x")), /an offset must be a whole number/],
		["toolsWith", () => toolsWith(given({ timeout: "x" })), /^limits: timeout is "x"/],
		["toolsWith: null", () => toolsWith(given(null)), /^limits: it is null/],
		["renderResult", () => renderResult(given(null)), /^renderResult: it takes a result of a tool, not null/],
		["createServer: no task", () => createServer(runtime, given({ tools: [] })), /^createServer: task is missing/],
		[
			"createServer: an unknown key",
			() => createServer(runtime, given({ task: "t", x: 1 })),
			/^createServer: there is no key "x"; there are task, answerMs, tools/,
		],
		["serveStdio", () => serveStdio(runtime, given({ task: 7 })), /^serveStdio: task is 7/],
		["httpDoor", () => httpDoor(runtime, given({ limits: { sessions: 0 } })), /^httpDoor: limits.sessions is 0/],
		["testRuntime: no object", () => testRuntime(given(7)), /^testRuntime: it is 7, but must be an object/],
		["testRuntime: a home", () => testRuntime(given({ home: "/tmp" })), /^testRuntime: it makes a home of its own, so leave home out/],
		["testRuntime: a clock", () => testRuntime(given({ clock: {} })), /^testRuntime: clock is .*, but must be a FakeClock/],
		["FakeClock.pass", () => new FakeClock().pass(-1), /^FakeClock.pass: it takes a number of milliseconds from 0 on, not -1/],
		["taskDouble: no list", () => taskDouble(given(7)), /^taskDouble: it is 7, but must be a list/],
		["taskDouble: no call", () => taskDouble(given([{ result: {} }])), /^taskDouble: \[0\]\.tool is missing/],
		["taskDouble: options", () => taskDouble([], given({ file: {} })), /^taskDouble: there is no key "file"; there are name, files/],
		["runtimeDouble", () => runtimeDouble(given(7)), /^runtimeDouble: it is 7, but must be an object/],
		["recordTask", () => recordTask(given(7)), /^recordTask: it takes a task/],
	];
	const wrong: unknown[] = [];
	for (const [name, act, words] of cases) {
		const error: unknown = await (async () => act())().then(
			() => "nothing was thrown",
			(thrown: unknown) => thrown,
		);
		if (!(error instanceof HoldfastError && error.code === "INVALID" && words.test(error.message))) wrong.push([name, error]);
	}
	expect(wrong).toEqual([]);
	expect(process.status().status).toBe("running");
});

test("approvals and notices of the library have no members beside those of their interfaces", async () => {
	const runtime = await library();
	expect(Object.keys(runtime.approvals).sort()).toEqual(["answer", "attend", "get", "list", "revoke", "stream"]);
	expect(Object.keys(runtime.notices).sort()).toEqual(["putBack", "stream", "take", "waiting"]);
});
