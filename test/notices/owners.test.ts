/** Promise 7: a notice reaches one live owner once; after a crash at least once, under the same id. */
import fs from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";
import type { Notice } from "../../src/notices/index.js";
import { QUEUED_AT_MOST } from "../../src/notices/queue.js";
import { sweep } from "../../src/notices/sweep.js";
import { run } from "../fixtures/programs.js";
import { tempDir, testRuntime, until } from "../support/home.js";
import { armedState, Listener, spawnArmed, TestClock, taskDir, testNotices } from "./support.js";

const NOTIFY = { notifyOnComplete: true };
const parse = (line: string | undefined): Notice => JSON.parse(line ?? "null");

test("two programs listen: every notice reaches one of them, and when that one is closed the other goes on at once", async () => {
	const runtime = await testRuntime();
	const other = await testRuntime({ home: runtime.home.root });
	const [mine, theirs] = [testNotices(runtime), testNotices(other)];
	const [first, second] = [new Listener(mine), new Listener(theirs)];
	const ids: string[] = [];
	for (let n = 0; n < 10; n++) ids.push((await spawnArmed(n % 2 ? runtime : other, n % 2 ? mine : theirs, { command: "true" }, NOTIFY)).id);
	await until("all have arrived", () => first.got.length + second.got.length >= 10);
	await mine.close();
	const last = await spawnArmed(other, theirs, { command: "true" }, NOTIFY);
	await until("the other goes on", () => second.got.some(({ session_id }) => session_id === last.id));
	expect(await theirs.take("default")).toEqual([]);
	expect([...first.got, ...second.got].map(({ session_id }) => session_id).sort()).toEqual([...ids, last.id].sort());
});

test("a program that listens is killed: another that stood by takes over, and nothing is lost or told twice", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const owner = run("listener.mjs", runtime.home.root, "default");
	expect(await owner.line()).toBe("ready");
	const before = await spawnArmed(runtime, notices, { command: "true" }, NOTIFY);
	expect(parse(await owner.line())).toMatchObject({ session_id: before.id });
	const standby = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "echo hit; read x; exit 5" }, { watchPatterns: ["hit"] });
	expect(parse(await owner.line())).toMatchObject({ kind: "match", session_id: process.id });
	const ending = await spawnArmed(runtime, notices, { command: "read x; exit 6" }, NOTIFY);
	await until("the notice was put away", () => !fs.readdirSync(taskDir(runtime)).some((name) => name.startsWith("taken.")));
	await owner.kill();
	await ending.write("\n");
	expect(await standby.has(1)).toMatchObject([{ session_id: ending.id, exit_code: 6 }]);
	await process.kill();
	await until("there is nothing more to tell", () => !armedState(runtime, process) && !armedState(runtime, ending));
	expect(standby.got).toHaveLength(1);
});

test("a program that listens is stopped: another takes over, and the first sees that when it goes on", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const owner = run("listener.mjs", runtime.home.root, "default");
	expect(await owner.line()).toBe("ready");
	const before = await spawnArmed(runtime, notices, { command: "true" }, NOTIFY);
	expect(parse(await owner.line())).toMatchObject({ session_id: before.id });
	await until("the notice was put away", () => !fs.readdirSync(taskDir(runtime)).some((name) => name.startsWith("taken.")));
	const standby = new Listener(notices);
	globalThis.process.kill(owner.pid, "SIGSTOP");
	const process = await spawnArmed(runtime, notices, { command: "true" }, NOTIFY);
	for (const name of fs.readdirSync(taskDir(runtime))) if (name.startsWith("owner.")) fs.utimesSync(path.join(taskDir(runtime), name), 1, 1); // it was silent for long
	expect(await standby.has(1)).toMatchObject([{ session_id: process.id }]);
	globalThis.process.kill(owner.pid, "SIGCONT");
	const last = await spawnArmed(runtime, notices, { command: "true" }, NOTIFY);
	expect(await standby.has(2)).toMatchObject([{ session_id: process.id }, { session_id: last.id }]);
	await owner.kill();
	expect(await owner.line()).toBeUndefined();
});

test("killed with a notice in its hands, a program has it told again, under the same id", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	await spawnArmed(runtime, notices, { command: "exit 3" }, NOTIFY);
	const owner = run("listener.mjs", runtime.home.root, "default", "hang");
	expect(await owner.line()).toBe("ready");
	const notice = parse(await owner.line());
	expect(await notices.take("default")).toEqual([]); // it is in its hands
	await owner.kill();
	expect(await notices.take("default")).toEqual([notice]);
	expect(await notices.take("default")).toEqual([]);
});

test("killed before its answer is out, a program has what it took told again", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	await spawnArmed(runtime, notices, { command: "exit 3" }, NOTIFY);
	await spawnArmed(runtime, notices, { command: "exit 4" }, NOTIFY);
	await until("both have ended", () => runtime.list({ ended: false }).length === 0);
	const taker = run("taker.mjs", runtime.home.root, "default");
	const taken = JSON.parse((await taker.line()) ?? "null") as Notice[];
	expect(await taker.ended).toBe("SIGKILL");
	expect(taken.map(({ exit_code }) => exit_code).sort()).toEqual([3, 4]);
	expect(await notices.take("default")).toEqual(taken);
});

test("a match and an end while no program ran are told to the next one", async () => {
	const home = tempDir("home");
	const armer = run("armer.mjs", home, JSON.stringify({ command: "read x; echo hit; exit 2" }), JSON.stringify({ watchPatterns: ["hit"] }));
	const other = run("armer.mjs", home, JSON.stringify({ command: "exit 7" }), JSON.stringify(NOTIFY));
	const [id, ended] = [await armer.line(), await other.line()];
	await armer.kill();
	await other.kill();
	const runtime = await testRuntime({ home });
	const process = runtime.get(id ?? "");
	await process.write("\n");
	await process.wait({ timeout: 100_000 });
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	await listener.has(2);
	expect(listener.got.map(({ kind, session_id }) => [kind, session_id]).sort()).toEqual([
		["completed", ended],
		["match", id],
	]);
});

test("killed again and again while a process prints matches, listeners together tell each, and repeat one only under the same id", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const process = await spawnArmed(runtime, notices, { command: "cat" }, { watchPatterns: ["hit"] });
	const told: Notice[] = [];
	for (let n = 1; n <= 6; n++) {
		const owner = run("listener.mjs", runtime.home.root, "default");
		expect(await owner.line()).toBe("ready");
		await process.write(`hit ${n}\n`);
		if (n % 2) told.push(parse(await owner.line()));
		await owner.kill();
		for (let line = await owner.line(); line; line = await owner.line()) told.push(parse(line));
		// What it has not told is told before the next comes, which would else be too soon after it.
		await process.wait({ until: { pattern: `^hit ${n}$` }, timeout: 100_000 });
		told.push(...(await notices.take("default")));
		// As if the window had passed, which real time would take fifteen seconds for.
		const file = path.join(taskDir(runtime), `armed.${process.id}`);
		const armed = JSON.parse(fs.readFileSync(file, "utf8"));
		fs.writeFileSync(file, JSON.stringify({ ...armed, limit: { ...armed.limit, windowEnds: 0, droppedInWindow: false } }));
	}
	const shown = new Map(told.map(({ id, text }) => [id, text.split("\n").filter((line) => line.startsWith("hit"))]));
	const lines = [...shown.values()].flat();
	expect([...new Set(lines)].sort()).toEqual(["hit 1", "hit 2", "hit 3", "hit 4", "hit 5", "hit 6"]);
	expect(lines).toHaveLength(6); // under one id each
});

test("listeners come and are killed while many processes end: no end is lost, and only what one had in hand is told again", async () => {
	const runtime = await testRuntime({ warm: 2 });
	const notices = testNotices(runtime);
	const [ids, told]: [string[], Notice[]] = [[], []];
	const kills = 4;
	for (let round = 0; round < kills; round++) {
		const owner = run("listener.mjs", runtime.home.root, "default");
		expect(await owner.line()).toBe("ready");
		for (let n = 0; n < 10; n++) ids.push((await spawnArmed(runtime, notices, { command: "true" }, NOTIFY)).id);
		for (let n = 0; n <= round * 3; n++) told.push(parse(await owner.line()));
		await owner.kill();
		for (let line = await owner.line(); line; line = await owner.line()) told.push(parse(line));
	}
	const last = new Listener(notices);
	const untold = () => ids.filter((id) => ![...told, ...last.got].some(({ session_id }) => session_id === id));
	await until("every end is told", () => untold().length === 0);
	expect(await notices.take("default")).toEqual([]);
	expect(told.length + last.got.length).toBeLessThanOrEqual(ids.length + kills);
});

test("a program that waits for an end is killed: the end is told after all", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	const spawned = await spawnArmed(runtime, notices, { command: "read x" }, NOTIFY);
	const waiter = run("starter.mjs", runtime.home.root, JSON.stringify({ command: "true" }));
	await waiter.line();
	const stat = fs.readFileSync(`/proc/${waiter.pid}/stat`, "utf8").split(") ")[1]?.split(" ")[19];
	const release = notices.hold(spawned);
	const [held] = fs.readdirSync(taskDir(runtime)).filter((name) => name.startsWith("held."));
	const theirs = held?.replace(`.${process.pid}.`, `.${waiter.pid}.`).replace(/\.\d+\.(\w+)$/, `.${stat}.$1`) as string;
	fs.writeFileSync(path.join(taskDir(runtime), theirs), ""); // as the waiter would have written it
	release(false);
	await spawned.write("\n");
	await until("it has ended", () => spawned.status().status === "exited");
	expect(await notices.take("default")).toEqual([]);
	await waiter.kill();
	await until("it is told", () => listener.got.length > 0);
	expect(fs.readdirSync(taskDir(runtime)).filter((name) => name.startsWith("held."))).toEqual([]);
});

test("one task never hears of another's", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const [a, b] = [new Listener(notices, "a"), new Listener(notices, "b/../a")];
	const first = await spawnArmed(runtime, notices, { command: "true", task: "a" }, NOTIFY);
	const second = await spawnArmed(runtime, notices, { command: "true", task: "b/../a" }, NOTIFY);
	await Promise.all([a.has(1), b.has(1)]);
	expect(await notices.take("nobody")).toEqual([]);
	expect(a.got).toMatchObject([{ task: "a", session_id: first.id }]);
	expect(b.got).toMatchObject([{ task: "b/../a", session_id: second.id }]);
});

test("a reader with `leave` shows each notice once and does not take it", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const shown = [new Listener(notices, "default", { leave: true }), new Listener(notices, "default", { leave: true })];
	await spawnArmed(runtime, notices, { command: "exit 1" }, NOTIFY);
	for (const listener of shown) await listener.has(1);
	await spawnArmed(runtime, notices, { command: "exit 2" }, NOTIFY);
	for (const listener of shown) await listener.has(2);
	const taken = await notices.take("default");
	expect(taken.map(({ exit_code }) => exit_code)).toEqual([1, 2]);
	for (const listener of shown) expect(listener.got).toEqual(taken);
	expect(await notices.take("default")).toEqual([]);
});

test("a stream that is left has told what it gave; what could not be delivered can be put back", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	await spawnArmed(runtime, notices, { command: "exit 1" }, NOTIFY);
	const got: Notice[] = [];
	for await (const notice of notices.stream("default")) {
		got.push(notice);
		break;
	}
	expect(await notices.take("default")).toEqual([]);
	notices.putBack(got);
	const taken = await notices.take("default");
	expect(taken).toEqual(got);
	notices.putBack(taken);
	expect(await notices.take("default")).toEqual(got);
});

test("an aborted stream ends, and so does every stream when the notices are closed", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const [stopped, closed] = [new Listener(notices), new Listener(notices, "other")];
	await stopped.stop();
	await notices.close();
	await closed.ended;
	await expect(notices.take("default")).rejects.toMatchObject({ code: "ABORTED" });
	for await (const notice of notices.stream("default")) throw new Error(`${notice.id} after the end`);
});

test("a result carries only so much, and says that more waits", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	for (let n = 0; n < 13; n++) await spawnArmed(runtime, notices, { command: `exit ${n}` }, NOTIFY);
	await until("all have ended", () => runtime.list({ ended: false }).length === 0);
	const first = await notices.take("default");
	expect(first).toHaveLength(10);
	expect(first[9]?.text).toMatch(/\n\(3 more notices wait for your next call\.\)$/);
	const second = await notices.take("default");
	expect(second).toHaveLength(3);
	expect([...first, ...second].map(({ exit_code }) => exit_code).sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 13 }, (_, n) => n));
});

test("a full queue drops the oldest reports of progress first, and says so", async () => {
	const runtime = await testRuntime();
	const clock = new TestClock();
	const notices = testNotices(runtime, clock);
	const showing = new Listener(notices, "default", { leave: true });
	const process = await spawnArmed(runtime, notices, { command: "cat" }, { checkInterval: 30 });
	await spawnArmed(runtime, notices, { command: "exit 1" }, NOTIFY);
	await showing.has(1);
	for (let n = 0; n < QUEUED_AT_MOST + 1; n++) {
		await process.write(`${n}\n`);
		await process.wait({ until: { pattern: `^${n}$` }, timeout: 100_000 });
		clock.pass(30_000);
		await showing.has(n + 2);
	}
	const queued = fs.readdirSync(taskDir(runtime)).filter((name) => name.startsWith("notice."));
	expect(queued).toHaveLength(QUEUED_AT_MOST);
	expect(queued).toContain(`notice.${showing.got[0]?.id}`); // the end is not dropped
	expect(queued).not.toContain(`notice.${showing.got[1]?.id}`);
	expect(showing.got.at(-1)).toMatchObject({ dropped: 1, text: expect.stringMatching(/\(One older notice was dropped: more than 100 were waiting\./) });
});

test("files that cannot be understood are put aside, and the others are not affected", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await spawnArmed(runtime, notices, { command: "exit 1" }, NOTIFY);
	const broken = await spawnArmed(runtime, notices, { command: "true" }, NOTIFY);
	const dir = taskDir(runtime);
	fs.writeFileSync(path.join(dir, `armed.${broken.id}`), "{");
	fs.writeFileSync(path.join(dir, "notice.what-is-this"), "\0\0\0");
	fs.writeFileSync(path.join(dir, "flood"), "[]");
	fs.writeFileSync(path.join(dir, "something.else"), "");
	await process.wait({ timeout: 100_000 });
	expect(await notices.take("default")).toMatchObject([{ session_id: process.id }]);
	expect(
		fs
			.readdirSync(dir)
			.filter((name) => name.startsWith("broken."))
			.sort(),
	).toEqual([`broken.armed.${broken.id}`, "broken.flood", "broken.notice.what-is-this"]);
});

test("a full disk fails no call, and what could not be noted is told when there is room again", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	const process = await spawnArmed(runtime, notices, { command: "read x; echo hit; read x" }, { watchPatterns: ["hit"] });
	await until("it is looked after", () => fs.readdirSync(taskDir(runtime)).some((name) => name.startsWith("owner.")));
	const write = fs.writeFileSync;
	let refused = 0;
	const full = vi.spyOn(fs, "writeFileSync").mockImplementation((file, ...rest) => {
		if (!String(file).startsWith(runtime.home.notices)) return write(file, ...rest);
		refused++;
		throw Object.assign(new Error("no room"), { code: "ENOSPC" });
	});
	try {
		await expect(spawnArmed(runtime, notices, { command: "true" }, NOTIFY)).rejects.toMatchObject({ code: "NO_SPACE" });
		notices.hold(process)(false);
		const before = refused;
		await process.write("\n");
		await until("the match could not be noted", () => refused > before);
		expect(await notices.take("default")).toEqual([]);
	} finally {
		full.mockRestore();
	}
	expect(await listener.has(1)).toMatchObject([{ kind: "match", session_id: process.id }]);
});

test("a home that cannot be read just now is said, and nothing is lost by it", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	await (await spawnArmed(runtime, notices, { command: "exit 1" }, NOTIFY)).wait({ timeout: 100_000 });
	const read = vi.spyOn(fs, "readdirSync").mockImplementation(() => {
		throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
	});
	try {
		await expect(notices.take("default")).rejects.toMatchObject({ code: "NO_FILES" });
	} finally {
		read.mockRestore();
	}
	expect(await notices.take("default")).toHaveLength(1);
});

test("without inotify everything comes all the same", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	process.env.HOLDFAST_WATCH = "poll";
	const owner = run("listener.mjs", runtime.home.root, "default");
	delete process.env.HOLDFAST_WATCH;
	expect(await owner.line()).toBe("ready");
	const spawned = await spawnArmed(runtime, notices, { command: "read x; echo hit; read x" }, { watchPatterns: ["hit"] });
	await spawned.write("\n");
	expect(parse(await owner.line())).toMatchObject({ kind: "match", session_id: spawned.id });
	const ended = await spawnArmed(runtime, notices, { command: "exit 2" }, NOTIFY);
	expect(parse(await owner.line())).toMatchObject({ kind: "completed", session_id: ended.id });
});

test("everything is for its owner alone", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const showing = new Listener(notices, "default", { leave: true });
	await spawnArmed(runtime, notices, { command: "true" }, NOTIFY);
	const process = await spawnArmed(runtime, notices, { command: "cat" }, NOTIFY);
	await showing.has(1);
	const release = notices.hold(process);
	const dir = taskDir(runtime);
	expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
	const modes = fs.readdirSync(dir).map((name) => [name.split(".")[0], fs.statSync(path.join(dir, name)).mode & 0o777]);
	release(false);
	expect(modes.sort()).toEqual([
		["armed", 0o600],
		["held", 0o600],
		["notice", 0o600],
		["owner", 0o600],
	]);
});

test("a thousand processes that have ended and been told of cost nothing; nor does a task without any", async () => {
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const process = await spawnArmed(runtime, notices, { command: "true" }, NOTIFY);
	await process.wait({ timeout: 100_000 });
	await notices.take("default");
	await notices.take("another");
	await notices.close();
	expect(fs.readdirSync(runtime.home.notices)).toHaveLength(1);
	expect(fs.readdirSync(taskDir(runtime)).filter((name) => !name.startsWith("owner."))).toEqual([]);
});

test("a listener costs one directory watch, and one more for each process it waits for", async () => {
	const watches = () => process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length;
	const runtime = await testRuntime();
	const notices = testNotices(runtime);
	const listener = new Listener(notices);
	await until("it listens", () => watches() === 1);
	for (let n = 0; n < 3; n++) await spawnArmed(runtime, notices, { command: "true" }, NOTIFY);
	await listener.has(3);
	const waiting = [];
	for (let n = 0; n < 3; n++) waiting.push(await spawnArmed(runtime, notices, { command: "read x" }, NOTIFY));
	await until("it watches those that run", () => watches() === 4);
	for (const process of waiting) await process.write("\n");
	await listener.has(6);
	await until("it watches no more", () => watches() === 1);
});

test("notices undelivered for a week, and orphaned files, are swept away", async () => {
	const runtime = await testRuntime();
	const dir = taskDir(runtime, "old");
	const recent = taskDir(runtime, "recent");
	const day = 24 * 3_600_000;
	fs.mkdirSync(dir);
	fs.mkdirSync(recent);
	const old = (place: string, name: string, ms: number) => {
		fs.writeFileSync(path.join(place, name), "");
		fs.utimesSync(path.join(place, name), new Date(Date.now() - ms), new Date(Date.now() - ms));
	};
	for (const name of ["notice.x", "taken.0.1.1.y", "broken.notice.z", ".temp", "armed.proc_0123456789ab", "flood"]) old(dir, name, 8 * day);
	old(recent, "notice.x", 6 * day);
	fs.utimesSync(dir, new Date(Date.now() - 8 * day), new Date(Date.now() - 8 * day));
	fs.utimesSync(recent, new Date(Date.now() - 6 * day), new Date(Date.now() - 6 * day));
	const listener = new Listener(testNotices(runtime), "in use");
	const used = taskDir(runtime, "in use");
	await until("a listener is there", () => fs.existsSync(used) && fs.readdirSync(used).length > 0);
	sweep(runtime.home, Date.now());
	expect(fs.existsSync(dir)).toBe(false);
	expect(fs.readdirSync(recent)).toEqual(["notice.x"]);
	fs.utimesSync(used, new Date(Date.now() - 8 * day), new Date(Date.now() - 8 * day));
	sweep(runtime.home, Date.now());
	expect(fs.readdirSync(used)).toHaveLength(1);
	await listener.stop();
	sweep(runtime.home, Date.now() + 2 * day);
	expect(fs.existsSync(used)).toBe(false);
});
